//! What a call on a hosted game costs, at turn 200 of a random game.

#[path = "support/turn_200.rs"]
mod turn_200;

use banqi::game::{Command, Game, Limits, Revision, decide};
use banqi::rules::Seat;
use banqi::store::{Record, codec};
use divan::{Bencher, black_box};

use self::turn_200::{NOW, game, request};

fn main() {
    divan::main();
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
