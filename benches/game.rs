//! What a call on a hosted game costs, at turn 200 of a random game.

use banqi::game::{
    Change, Command, DealSource, Game, GameKey, History, Limits, Millis, NewGame, NewSeat, Request,
    Revision, Seating, ServerSeed, Spectators, TimeControl, decide,
};
use banqi::rules::{Preset, Seat};
use banqi::store::{Record, codec};
use divan::{Bencher, black_box};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn main() {
    divan::main();
}

const NOW: Millis = Millis(1_767_225_600_000);

/// The game before its last action, and that action.
fn game() -> (Game, Change) {
    (1..).find_map(play).expect("some game lasts 200 turns")
}

fn play(seed: u64) -> Option<(Game, Change)> {
    let mut random = StdRng::seed_from_u64(seed);
    let new = NewGame {
        id: "11111111-2222-4333-8444-555555555555".parse().ok()?,
        rules: Preset::Taiwanese.rules(),
        seats: vec![NewSeat::Assigned("66666666-7777-4888-9999-aaaaaaaaaaaa".parse().ok()); 2],
        seating: Seating::AsGiven,
        deal: DealSource::Derived(ServerSeed::new(random.random())),
        key: GameKey::new(random.random()),
        origin: History(random.random()),
        entropy_required: false,
        spectators: Spectators::Open,
        time_control: TimeControl::default(),
        labels: Default::default(),
        request: Some(request("create")),
    };
    let mut game = Game::create(new, NOW).ok()?;
    let mut now = NOW;
    loop {
        let actions = game.referee().legal_actions();
        let action = *actions.get(random.random_range(0..actions.len().max(1)))?;
        let command = Command::Play { seat: game.position().to_move(), action };
        now = Millis(now.0 + random.random_range(500..30_000));
        let change = decide(&game, &command, now, &Limits::default()).ok()?;
        if game.position().turn_number() == 200 {
            return Some((game, change));
        }
        game = game.after(&change, Some(request(&now.0.to_string()))).ok()?;
    }
}

fn request(id: &str) -> Request {
    Request::new(b"caller", None, id, b"body")
}

fn stored(game: &Game) -> Record {
    codec::write(game.stored())
}

#[divan::bench]
fn clone(bencher: Bencher) {
    let (game, _) = game();
    bencher.bench_local(|| black_box(&game).clone());
}

#[divan::bench]
fn recognise_a_request(bencher: Bencher) {
    let (game, _) = game();
    bencher.bench_local(|| black_box(&game).recall(&request(black_box("id"))));
}

#[divan::bench]
fn authenticate(bencher: Bencher) {
    let (game, _) = game();
    let text = game.token(Seat::FIRST).expect("a token").expose();
    bencher.bench_local(|| game.authenticate(&black_box(&text).parse().expect("a token")));
}

#[divan::bench]
fn decide_an_action(bencher: Bencher) {
    let (game, change) = game();
    let seat = game.position().to_move();
    let banqi::game::Event::Played(action) = *change.event() else { unreachable!() };
    let command = Command::Play { seat, action };
    bencher.bench_local(|| decide(black_box(&game), &command, NOW, &Limits::default()));
}

#[divan::bench]
fn make_a_change(bencher: Bencher) {
    let (game, change) = game();
    let request = request("id");
    bencher.bench_local(|| black_box(&game).after(&change, Some(request)));
}

#[divan::bench]
fn write_a_record(bencher: Bencher) {
    let (game, _) = game();
    bencher.bench_local(|| stored(black_box(&game)));
}

#[divan::bench]
fn read_a_record(bencher: Bencher) {
    let (game, _) = game();
    let record = stored(&game);
    bencher.bench_local(|| codec::read(game.id(), black_box(&record)));
}

#[divan::bench]
fn read_and_replay_a_record(bencher: Bencher) {
    let (game, _) = game();
    let record = stored(&game);
    bencher.bench_local(|| {
        Game::replay(codec::read(game.id(), black_box(&record)).expect("readable"))
    });
}

#[divan::bench]
fn read_and_catch_up_by_one_action(bencher: Bencher) {
    let (game, change) = game();
    let record = stored(&game.after(&change, None).expect("can be done"));
    bencher.bench_local(|| {
        let stored = codec::read_on(game.stored(), black_box(&record)).expect("readable");
        game.catch_up(stored)
    });
}

#[divan::bench]
fn go_back_a_hundred_revisions(bencher: Bencher) {
    let (game, _) = game();
    bencher.bench_local(|| black_box(&game).as_at(Revision(100)));
}
