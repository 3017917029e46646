//! What a seal costs.

#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::hint::black_box;
use std::time::Instant;

use banqi::game::{Command, Game};
use banqi::rules::Preset;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};

use crate::replicas::{plain, sealed};
use crate::seals::games;

/// How often it is done for each sample, and how many samples there are.
const TIMES: u32 = 200;
const SAMPLES: usize = 101;

/// A random game at turn 200.
fn long_game() -> Game {
    let played = |seed| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut game = games::create(games::new_game(Preset::Taiwanese));
        while game.position().turn_number() <= 200 {
            let actions = game.referee().legal_actions();
            let action = *actions.get(random.random_range(0..actions.len().max(1)))?;
            let seat = game.position().to_move();
            game = games::run(&game, Command::Play { seat, action }).ok()?;
        }
        Some(game)
    };
    (1..).find_map(played).expect("some game lasts 200 turns")
}

/// The median of what it takes, in microseconds.
fn median<T>(mut call: impl FnMut() -> T) -> f64 {
    let mut samples: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..TIMES {
                black_box(call());
            }
            start.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES)
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[SAMPLES / 2]
}

/// Prints what writing and reading a record of 200 turns takes, sealed and not.
#[test]
#[ignore = "cargo test --release --test sealing -- --ignored --nocapture"]
fn a_seal_takes_microseconds() {
    let game = long_game();
    for (name, codec) in [("format 1", plain("A")), ("format 2", sealed("A"))] {
        let write = || codec.write(game.stored()).expect("randomness");
        let record = write();
        let written = median(write);
        let read = median(|| codec.read(game.id(), &record).expect("readable"));
        let length = record.stored_length();
        println!("{name}, {length} bytes: written in {written:.2} µs, read in {read:.2} µs");
        assert!(written < 1000.0 && read < 1000.0, "not even a millisecond");
    }
}
