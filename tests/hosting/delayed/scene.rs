//! Games that spectators see late, and what is done in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use banqi::api::callers::Role;
use banqi::api::proto::v1;
use banqi::api::proto::v1::import_game_request::Start;
use banqi::api::proto::v1::time_control::{Clock, PerTurn};
use banqi::game::Millis;
use banqi::rules::BoardSize;
use banqi::server::Config;
use banqi::store::{Options, TimeSource, open};
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;
use tempfile::TempDir;
use tonic::{Request, Status};

use crate::guarded::{by_key, keys, of, with};
use crate::support::redis_server::RedisServer;
use crate::table::{assigned, seat, shuffled, to_move};
use crate::world::{Backing, Replica, options, trusting};

/// A request of the platform's, which may do anything for anybody and sees every game as it is.
pub(super) fn platform<T>(message: T) -> Request<T> {
    with(message, &by_key(of(Role::Platform)))
}

/// A time that goes on only when it is told to.
#[derive(Debug)]
pub(super) struct HandTime(AtomicU64);

impl TimeSource for HandTime {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}

/// Two replicas that ask for keys, over one store.
pub(super) struct Scene {
    pub(super) replicas: Vec<Replica>,
    /// Where the test has the time in its hand; on Redis it has not.
    time: Option<Arc<HandTime>>,
    _redis: Option<RedisServer>,
    _keys: TempDir,
}

impl Scene {
    pub(super) async fn start(backing: Backing) -> Self {
        let (keys, callers) = keys();
        let mut config = Config { callers, ..trusting() };
        config.watching.keep_alive = Duration::from_millis(40);
        let (mut replicas, mut time, mut redis) = (Vec::new(), None, None);
        match backing {
            Backing::Memory => {
                let hand = Arc::new(HandTime(AtomicU64::new(1_767_225_600_123)));
                let options = Options { time: Arc::clone(&hand) as _, ..options() };
                let store = open("memory:", options).await.expect("a store");
                for _ in 0..2 {
                    replicas.push(Replica::on(Arc::clone(&store), config.clone()).await);
                }
                time = Some(hand);
            }
            Backing::Redis => {
                let server = RedisServer::start();
                for _ in 0..2 {
                    let store = open(&server.url(), options()).await.expect("a store");
                    replicas.push(Replica::on(store, config.clone()).await);
                }
                redis = Some(server);
            }
        }
        Self { replicas, time, _redis: redis, _keys: keys }
    }

    /// A scene of replicas that were started otherwise.
    pub(super) fn of(replicas: Vec<Replica>, keys: TempDir) -> Self {
        Self { replicas, time: None, _redis: None, _keys: keys }
    }

    pub(super) fn any(&self, random: &mut Xoshiro256PlusPlus) -> &Replica {
        self.replicas.choose(random).expect("replicas")
    }

    /// Lets so many milliseconds pass, if the time is in the test's hand.
    pub(super) fn pass(&self, millis: u64) {
        if let Some(time) = &self.time {
            time.0.fetch_add(millis, Ordering::SeqCst);
        }
    }

    fn sleep_until(&self, millis: u64) {
        if let Some(time) = &self.time {
            time.0.fetch_max(millis, Ordering::SeqCst);
        }
    }

    /// A new game that is seen so many turns late; answers its id. Where the time is in the test's
    /// hand, a turn may take two seconds. Of three games one has a deal of the service's own, and
    /// players who come one by one.
    pub(super) async fn create(
        &self,
        preset: &str,
        delay_turns: u32,
        number: u64,
        random: &mut Xoshiro256PlusPlus,
    ) -> String {
        let seconds = if self.time.is_some() { 2 } else { 3600 };
        let limit = Some(prost_types::Duration { seconds, nanos: 0 });
        let clock = Some(Clock::PerTurn(PerTurn { limit }));
        let time_control = Some(v1::TimeControl { clock, first_turn_limit: None });
        let mode = v1::SpectatorMode::Delayed.into();
        let spectators = Some(v1::Spectators { mode, delay_turns });
        let replica = &self.replicas[0];
        let game = if number % 3 == 1 {
            let mut seats = assigned(preset);
            *seats.last_mut().expect("a seat") = seat(v1::SeatClaim::Open, "");
            let request = v1::CreateGameRequest {
                preset: preset.to_owned(),
                seats,
                entropy_required: true,
                time_control,
                spectators,
                ..Default::default()
            };
            let answer = replica.games().create_game(platform(request)).await.expect("created");
            answer.into_inner().game
        } else {
            let board = match preset {
                "DOUBLE_FOUR" | "DOUBLE" => BoardSize::Double,
                _ => BoardSize::Single,
            };
            let request = v1::ImportGameRequest {
                preset: preset.to_owned(),
                seats: assigned(preset),
                start: Some(Start::Deal(shuffled(board, random))),
                time_control,
                spectators,
                ..Default::default()
            };
            let answer = replica.platform().import_game(platform(request)).await;
            answer.expect("imported").into_inner().game
        };
        game.expect("a game").game_id
    }
}

/// What is done in a game.
#[derive(Clone, Debug)]
pub(super) enum Deed {
    Join(u32),
    AddEntropy(u32),
    Play(u32, String),
    OfferDraw(u32),
    AnswerDraw(u32, bool),
    RequestTakeback(u32),
    AnswerTakeback(u32, bool),
    Reissue(u32),
    Resign(u32),
    /// Nothing, until the seat to move has no time left: until so many milliseconds of the epoch.
    Sleep(u64),
}

impl Deed {
    /// Anything that may succeed, mostly an action.
    pub(super) fn draw(game: &v1::Game, random: &mut Xoshiro256PlusPlus) -> Self {
        let seats = game.seats.len() as u32;
        let seat = random.random_range(1..=seats);
        if game.state() == v1::GameState::Waiting {
            let deeds = [Self::Join(seats), Self::AddEntropy(seat), Self::Reissue(seat)];
            return deeds.choose(random).expect("a deed").clone();
        }
        if game.takeback_request.is_some() && random.random_ratio(3, 4) {
            return Self::AnswerTakeback(seat, random.random_ratio(9, 10));
        }
        if game.draw_offer.is_some() && random.random_ratio(1, 2) {
            return Self::AnswerDraw(seat, random.random_ratio(1, 20));
        }
        match random.random_range(0..100) {
            0..7 => Self::OfferDraw(seat),
            7..27 => Self::RequestTakeback(seat),
            27..32 => Self::Reissue(seat),
            // Of four the game goes on without one.
            32 if seats > 2 => Self::Resign(seat),
            33 if seats > 2 => Self::sleep(game),
            _ => {
                // Rather moving than turning up, for what turned nothing up can be taken back, and
                // rather going on with a chain.
                let lively = |action: &&v1::LegalAction| {
                    !matches!(action.kind(), v1::ActionKind::Flip | v1::ActionKind::EndChain)
                };
                let moves: Vec<_> = game.legal_actions.iter().filter(lively).collect();
                let action = match moves.choose(random) {
                    Some(action) if random.random_ratio(3, 5) => action,
                    _ => game.legal_actions.choose(random).expect("a legal action"),
                };
                Self::Play(to_move(game), action.text.clone())
            }
        }
    }

    /// As long as the seat to move has time.
    pub(super) fn sleep(game: &v1::Game) -> Self {
        let millis = |time: prost_types::Timestamp| {
            time.seconds as u64 * 1000 + time.nanos as u64 / 1_000_000
        };
        Self::Sleep(game.deadline.map_or(0, millis))
    }

    /// Does it, for the seat, as the platform may.
    pub(super) async fn send(
        self,
        scene: &Scene,
        replica: &Replica,
        id: &str,
    ) -> Result<(), Status> {
        let (mut games, game_id) = (replica.games(), id.to_owned());
        match self {
            Self::Join(seat) => {
                let request = v1::JoinGameRequest { game_id, seat, ..Default::default() };
                games.join_game(platform(request)).await.map(drop)
            }
            Self::AddEntropy(seat) => {
                let entropy = vec![seat as u8; 16];
                let request =
                    v1::AddEntropyRequest { game_id, seat, entropy, ..Default::default() };
                games.add_entropy(platform(request)).await.map(drop)
            }
            Self::Play(seat, action) => {
                let request = v1::PlayActionRequest { game_id, seat, action, ..Default::default() };
                games.play_action(platform(request)).await.map(drop)
            }
            Self::OfferDraw(seat) => {
                let request = v1::OfferDrawRequest { game_id, seat, ..Default::default() };
                games.offer_draw(platform(request)).await.map(drop)
            }
            Self::AnswerDraw(seat, accept) => {
                let request = v1::AnswerDrawRequest { game_id, seat, accept, ..Default::default() };
                games.answer_draw(platform(request)).await.map(drop)
            }
            Self::RequestTakeback(seat) => {
                let request = v1::RequestTakebackRequest { game_id, seat, ..Default::default() };
                games.request_takeback(platform(request)).await.map(drop)
            }
            Self::AnswerTakeback(seat, accept) => {
                let request =
                    v1::AnswerTakebackRequest { game_id, seat, accept, ..Default::default() };
                games.answer_takeback(platform(request)).await.map(drop)
            }
            Self::Reissue(seat) => {
                let request = v1::ReissueSeatTokenRequest { game_id, seat, ..Default::default() };
                games.reissue_seat_token(platform(request)).await.map(drop)
            }
            Self::Resign(seat) => {
                let request = v1::ResignGameRequest { game_id, seat, ..Default::default() };
                games.resign_game(platform(request)).await.map(drop)
            }
            Self::Sleep(until) => {
                scene.sleep_until(until);
                Ok(())
            }
        }
    }
}
