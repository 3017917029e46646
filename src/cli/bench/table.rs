//! Tables, at which two virtual players play one random game after the other, each sending the next
//! call once the last one is answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use prost::Message as _;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::sync::watch;
use tokio::time::timeout;
use tonic::metadata::AsciiMetadataValue;
use tonic::{Code, Request, Response, Status};
use uuid::Uuid;

use super::connect::Connection;
use super::events::{Events, Watched};
use super::mix::Turn;
use super::tally::Method;
use crate::api::GAME_ID;
use crate::api::proto::v1;
use crate::api::proto::v1::game_service_client::GameServiceClient;

/// How long an answer may take; a call without one has failed with DEADLINE_EXCEEDED.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many tables there are, and over which connections they call.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct TableOptions {
    /// How many tables play at once, each with one call in flight
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) in_flight: u16,

    /// How many connections to each replica they share
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) connections: u16,
}

/// How a table's calls are spread over the replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Routing {
    /// Each call goes to the next replica
    RoundRobin,
    /// All calls of a game go to the same replica, and name the game to balancers
    Affinity,
}

impl Routing {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Affinity => "affinity",
        }
    }
}

/// One table.
#[derive(Debug)]
pub(super) struct Table {
    /// A connection to each replica, the next one to be used first.
    replicas: Vec<GameServiceClient<Connection>>,
    routing: Routing,
    /// What the players draw from.
    pub(super) random: StdRng,
    playing: Option<Playing>,
    /// Games that wait to be played.
    ready: Vec<Playing>,
    audience: Option<Audience>,
}

/// Those who watch what is played at a table.
#[derive(Debug)]
struct Audience {
    game: watch::Sender<Option<Arc<Watched>>>,
    events: Arc<Events>,
}

/// A game, as the players at its table know it.
#[derive(Debug)]
struct Playing {
    game_id: String,
    metadata: AsciiMetadataValue,
    /// The seats' tokens, in seat order.
    tokens: Vec<String>,
    to_move: usize,
    actions: Vec<v1::LegalAction>,
    /// Whether a call failed, so that it may have had an effect or not.
    unsure: bool,
    watched: Option<Arc<Watched>>,
}

/// A call that was made.
#[derive(Debug)]
pub(super) struct Called {
    pub(super) method: Method,
    /// How many bytes the answer had.
    pub(super) answer: Result<usize, Status>,
}

impl Table {
    /// So many tables over connections to each replica.
    pub(super) fn open(
        replicas: &[Vec<Connection>],
        routing: Routing,
        count: u16,
        seed: u64,
    ) -> Vec<Self> {
        let table = |number: usize| {
            let mut clients: Vec<_> = replicas
                .iter()
                .map(|connections| connections[number % connections.len()].clone())
                .map(GameServiceClient::new)
                .collect();
            let first = number % clients.len();
            clients.rotate_left(first);
            Self {
                replicas: clients,
                routing,
                random: StdRng::seed_from_u64(seed.wrapping_add(number as u64)),
                playing: None,
                ready: Vec::new(),
                audience: None,
            }
        };
        (0..count.into()).map(table).collect()
    }

    /// Lets others know which game is played here, and when.
    pub(super) fn admit(&mut self, events: Arc<Events>) -> watch::Receiver<Option<Arc<Watched>>> {
        let (game, games) = watch::channel(None);
        self.audience = Some(Audience { game, events });
        games
    }

    /// The game that is played here, where others know of it.
    pub(super) fn watched(&self) -> Option<Arc<Watched>> {
        self.audience.as_ref()?.game.borrow().clone()
    }

    /// Creates games until so many wait to be played, so that none need be created while time is
    /// taken.
    pub(super) async fn prepare(&mut self, games: usize) -> Result<(), Status> {
        while self.ready.len() < games {
            let (game, _) = self.create().await?;
            self.ready.push(game);
        }
        self.seat_next();
        Ok(())
    }

    /// Makes one call: the one asked for, unless a game must be created or, after a failure, looked
    /// at first.
    pub(super) async fn call(&mut self, turn: Turn) -> Called {
        self.seat_next();
        let Some(mut playing) = self.playing.take() else {
            let answer = self.create().await.map(|(game, bytes)| {
                self.ready.push(game);
                self.seat_next();
                bytes
            });
            return Called { method: Method::CreateGame, answer };
        };
        let (method, answer) = if turn == Turn::Read || playing.unsure {
            (Method::GetGame, self.read(&mut playing).await)
        } else {
            (Method::PlayAction, self.play(&mut playing).await)
        };
        let gone = matches!(&answer, Err(status) if status.code() == Code::NotFound);
        playing.unsure = answer.is_err();
        if !gone && (playing.unsure || !playing.actions.is_empty()) {
            self.playing = Some(playing);
        }
        Called { method, answer }
    }

    /// Plays a game for as short as can be: created, begun and resigned. Tells each call.
    pub(super) async fn play_shortly(&mut self, mut told: impl FnMut(Called, Duration)) {
        let begun = Instant::now();
        let (mut playing, bytes) = match self.create().await {
            Ok(created) => created,
            Err(status) => {
                let called = Called { method: Method::CreateGame, answer: Err(status) };
                return told(called, begun.elapsed());
            }
        };
        told(Called { method: Method::CreateGame, answer: Ok(bytes) }, begun.elapsed());
        let begun = Instant::now();
        let answer = self.play(&mut playing).await;
        let failed = answer.is_err();
        told(Called { method: Method::PlayAction, answer }, begun.elapsed());
        if failed {
            return;
        }
        let begun = Instant::now();
        let answer = self.resign(&playing).await;
        told(Called { method: Method::ResignGame, answer }, begun.elapsed());
    }

    /// Takes up the next game that waits, where none is played.
    fn seat_next(&mut self) {
        if self.playing.is_some() {
            return;
        }
        self.playing = self.ready.pop();
        if let (Some(playing), Some(audience)) = (&self.playing, &self.audience) {
            audience.game.send_replace(playing.watched.clone());
        }
    }

    fn client(&mut self) -> &mut GameServiceClient<Connection> {
        if self.routing == Routing::RoundRobin {
            self.replicas.rotate_left(1);
        }
        &mut self.replicas[0]
    }

    fn request<M>(&self, game_id: &AsciiMetadataValue, message: M) -> Request<M> {
        let mut request = Request::new(message);
        if self.routing == Routing::Affinity {
            request.metadata_mut().insert(GAME_ID, game_id.clone());
        }
        request
    }

    async fn create(&mut self) -> Result<(Playing, usize), Status> {
        let game_id = Uuid::new_v4().to_string();
        let metadata: AsciiMetadataValue = game_id.parse().expect("letters, digits and hyphens");
        let seat = v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..Default::default() };
        let message = v1::CreateGameRequest {
            game_id: game_id.clone(),
            seats: vec![seat.clone(), seat],
            ..Default::default()
        };
        let request = self.request(&metadata, message);
        let created = in_time(self.client().create_game(request)).await?;
        let bytes = created.encoded_len();
        let game = created.game.ok_or_else(no_game)?;
        let watched = self.audience.as_ref().map(|_| Watched::new(&game_id, game.revision));
        let mut playing = Playing {
            game_id,
            metadata,
            tokens: created.seat_tokens.into_iter().map(|token| token.token).collect(),
            to_move: 0,
            actions: Vec::new(),
            unsure: false,
            watched,
        };
        playing.take(game);
        Ok((playing, bytes))
    }

    async fn play(&mut self, playing: &mut Playing) -> Result<usize, Status> {
        let chosen = self.random.random_range(0..playing.actions.len());
        let request = self.request(
            &playing.metadata,
            v1::PlayActionRequest {
                game_id: playing.game_id.clone(),
                seat_token: playing.tokens[playing.to_move].clone(),
                action: playing.actions.swap_remove(chosen).text,
                request_id: Uuid::new_v4().to_string(),
                ..Default::default()
            },
        );
        let sent = Instant::now();
        let played = in_time(self.client().play_action(request)).await?;
        let answered = Instant::now();
        let bytes = played.encoded_len();
        let game = played.game.ok_or_else(no_game)?;
        if let (Some(watched), Some(audience)) = (&playing.watched, &self.audience) {
            watched.played(game.revision, sent, answered, &audience.events);
        }
        playing.take(game);
        Ok(bytes)
    }

    async fn read(&mut self, playing: &mut Playing) -> Result<usize, Status> {
        let message = v1::GetGameRequest { game_id: playing.game_id.clone(), ..Default::default() };
        let request = self.request(&playing.metadata, message);
        let read = in_time(self.client().get_game(request)).await?;
        let bytes = read.encoded_len();
        if playing.unsure {
            playing.take(read.game.ok_or_else(no_game)?);
        }
        Ok(bytes)
    }

    async fn resign(&mut self, playing: &Playing) -> Result<usize, Status> {
        let request = self.request(
            &playing.metadata,
            v1::ResignGameRequest {
                game_id: playing.game_id.clone(),
                seat_token: playing.tokens[playing.to_move].clone(),
                request_id: Uuid::new_v4().to_string(),
                ..Default::default()
            },
        );
        Ok(in_time(self.client().resign_game(request)).await?.encoded_len())
    }
}

impl Playing {
    /// Learns how the game stands.
    fn take(&mut self, game: v1::Game) {
        let to_move = game.position.map_or(0, |position| position.to_move);
        self.to_move = (to_move as usize).saturating_sub(1);
        self.actions = game.legal_actions;
    }
}

/// The answer to a call, if it comes in time.
async fn in_time<M>(call: impl Future<Output = Result<Response<M>, Status>>) -> Result<M, Status> {
    match timeout(PATIENCE, call).await {
        Ok(answer) => answer.map(Response::into_inner),
        Err(_) => Err(Status::deadline_exceeded("no answer within ten seconds")),
    }
}

fn no_game() -> Status {
    Status::internal("the answer has no game")
}
