//! Many runs.

use std::fmt::Write as _;

use rstest::rstest;

use crate::coverage::Coverage;
use crate::planted::Planted;
use crate::run::run;

/// How many runs there are, unless `BANQI_SIMULATION_RUNS` says otherwise.
pub(crate) const RUNS: u64 = 600;

/// What so many runs must have had in them.
const WANTED: &[&str] = &[
    "event: created",
    "event: joined",
    "event: entropy added",
    "event: played",
    "event: resigned",
    "event: aborted",
    "event: timed out",
    "event: draw offered",
    "event: token reissued",
    "event: rematch made",
    "repeated: answered again",
    "unknown outcome: had its effect",
    "unknown outcome: had none",
    "refused: ETAG_MISMATCH",
    "refused: HISTORY_LOST",
    "refused: NOT_YOUR_TURN",
    "refused: GAME_OVER",
    "a hint lost",
    "a replica paused",
    "the clock jumped",
    "the store lost writes",
    "watcher: began",
    "watcher: went on",
    "watcher: event",
    "watcher: keep-alive",
    "watcher: told of a loss",
];

/// Says which seed a panic came from.
struct Announce(u64);

impl Drop for Announce {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("this was BANQI_SIMULATION_SEED={} BANQI_SIMULATION_RUNS=1", self.0);
        }
    }
}

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}")))
}

/// The first seed whose run has a fault, with that fault.
pub(crate) fn first_fault(
    seeds: impl IntoIterator<Item = u64>,
    planted: Option<Planted>,
) -> Option<(u64, String)> {
    seeds.into_iter().find_map(|seed| {
        let _announce = Announce(seed);
        run(seed, planted).err().map(|fault| (seed, fault))
    })
}

/// What the simulation once found wrong, each with what it was.
#[rstest]
#[case::keep_alive_of_an_older_reading(6)]
#[case::overdue_game_told_of_a_slow_store(380)]
fn what_was_wrong_once_is_right(#[case] seed: u64) {
    let _announce = Announce(seed);
    run(seed, None).unwrap_or_else(|fault| panic!("{fault}"));
}

/// More of them: `BANQI_SIMULATION_RUNS=100000 cargo test --test simulation -- --nocapture`; one
/// that failed: `BANQI_SIMULATION_SEED` as it was printed, and `BANQI_SIMULATION_RUNS=1`.
#[test]
fn whatever_the_store_does_every_answer_is_right() {
    let first = number_from("BANQI_SIMULATION_SEED").unwrap_or_else(|| rand::random::<u64>() >> 1);
    let runs = number_from("BANQI_SIMULATION_RUNS").unwrap_or(RUNS);
    println!("BANQI_SIMULATION_SEED={first} BANQI_SIMULATION_RUNS={runs}");
    let (mut coverage, mut calls) = (Coverage::default(), 0);
    for seed in first..first.saturating_add(runs) {
        let _announce = Announce(seed);
        let course = run(seed, None).unwrap_or_else(|fault| panic!("{fault}"));
        calls += course.games.iter().map(|game| game.history.operations.len()).sum::<usize>();
        coverage.merge(course.coverage);
    }
    println!("{coverage}{runs} runs with {calls} calls");
    if runs >= RUNS {
        let played = coverage.of("event: played") as u64;
        assert!(played >= runs, "only {played} actions were played in {runs} runs");
        assert_eq!(coverage.missing(WANTED), Vec::<&str>::new(), "in {runs} runs");
    }
}

/// Whatever is random comes from the seed: the same calls, answers and streams, to the byte.
#[test]
fn a_seed_takes_the_same_course_again() {
    let course = |seed| {
        let course = run(seed, None).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        let mut told = course.coverage.to_string();
        for game in &course.games {
            write!(told, "{game}").expect("text can be written");
        }
        told
    };
    for seed in 1..=20 {
        assert_eq!(course(seed), course(seed), "seed {seed}");
    }
}
