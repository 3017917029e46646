//! Recorded games: what the floor answers and stores instead of playing.

use crate::api::convert::action;
use crate::api::convert::game::{View, game as message};
use crate::api::proto::v1;
use crate::game::{
    Command, DealSource, Game, GameKey, History, Limits, Millis, NewGame, NewSeat, Request,
    Seating, ServerSeed, Spectators, TimeControl, decide,
};
use crate::rules::Preset;
use crate::store::codec;
use bytes::Bytes;
use prost::Message as _;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// How many games are recorded: enough that their lengths are like those of any others.
const GAMES: u64 = 24;

const NOW: Millis = Millis(1_767_225_600_000);

/// Recorded games, the same in every process.
pub(super) struct Tape(Vec<Vec<Step>>);

/// One revision of a recorded game.
pub(super) struct Step {
    /// What the call that made it is answered: a `CreateGameResponse`, or a `PlayActionResponse`.
    pub(super) answer: Bytes,
    /// What `GetGame` answers then.
    pub(super) read: Bytes,
    /// What is stored then, with its header.
    pub(super) record: Bytes,
}

impl Tape {
    /// Plays the games.
    pub(super) fn record() -> Self {
        Self((0..GAMES).map(|seed| play(StdRng::seed_from_u64(seed))).collect())
    }

    /// The recording that the games of a shard are played from.
    pub(super) fn steps(&self, shard: usize) -> &[Step] {
        &self.0[shard % self.0.len()]
    }
}

/// Plays one game at random to its end.
fn play(mut random: StdRng) -> Vec<Step> {
    let new = NewGame {
        id: "11111111-2222-4333-8444-555555555555".parse().expect("an id"),
        rules: Preset::Taiwanese.rules(),
        seats: vec![NewSeat::Assigned(None); 2],
        seating: Seating::AsGiven,
        deal: DealSource::Derived(ServerSeed::new(random.random())),
        key: GameKey::new(random.random()),
        origin: History(random.random()),
        entropy_required: false,
        spectators: Spectators::Open,
        time_control: TimeControl::default(),
        labels: Default::default(),
        request: None,
    };
    let mut now = NOW;
    let mut game = Game::create(new, now).expect("a game");
    let seat_tokens = game
        .seats()
        .map(|seat| v1::SeatToken {
            seat: seat.number().into(),
            token: game.token(seat).expect("it is taken").expose(),
        })
        .collect();
    let told = Some(message(&game, View::Basic, Some(now)));
    let created = v1::CreateGameResponse { game: told, seat_tokens };
    let mut steps = vec![step(&game, now, created.encode_to_vec())];
    loop {
        let actions = game.referee().legal_actions();
        if actions.is_empty() {
            return steps;
        }
        let action = actions[random.random_range(0..actions.len())];
        let seat = game.position().to_move();
        now = Millis(now.0 + random.random_range(1..30));
        let request_id = random.random::<u128>().to_string();
        let request = Request::new(&[seat.number()], Some(seat), &request_id, &[]);
        let change = decide(&game, &Command::Play { seat, action }, now, &Limits::default());
        game = game.after(&change.expect("it is legal"), Some(request)).expect("it fits the deal");
        let record = game.last_deed().played.as_ref().map(action::record);
        let told = Some(message(&game, View::Basic, Some(now)));
        let played = v1::PlayActionResponse { game: told, record, durability: None };
        steps.push(step(&game, now, played.encode_to_vec()));
    }
}

fn step(game: &Game, now: Millis, answer: Vec<u8>) -> Step {
    let read = v1::GetGameResponse { game: Some(message(game, View::Basic, Some(now))) };
    let record = codec::write(game.stored());
    Step {
        answer: answer.into(),
        read: read.encode_to_vec().into(),
        record: [&record.header()[..], &record.payload].concat().into(),
    }
}
