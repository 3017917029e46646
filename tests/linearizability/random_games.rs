//! Random games over three replicas.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::join_all;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;

use crate::checker::check;
use crate::coverage::Coverage;
use crate::order::UNCUT;
use crate::table::{Table, play};
use crate::world::World;

/// How many games are played, unless `BANQI_MODEL_GAMES` says otherwise.
const GAMES: u64 = 500;

/// How many games are played at the same time, each by up to so many clients.
const TABLES: usize = 4;
const CLIENTS: usize = 5;

/// How many moments before a fault are shown with it.
const SHOWN: u64 = 40;

/// What every run of all games must have had in it.
const WANTED: &[&str] = &[
    "event: created",
    "event: joined",
    "event: entropy added",
    "event: played",
    "event: resigned",
    "event: aborted",
    "event: timed out",
    "event: draw offered",
    "event: draw answered",
    "event: takeback requested",
    "event: takeback answered",
    "event: token reissued",
    "event: rematch made",
    "repeated: answered again",
    "unknown outcome: had its effect",
    "unknown outcome: had none",
    "GetGame: answered",
    "ListLegalActions: answered",
    "PlayAction: answered",
    "refused: GAME_NOT_FOUND",
    "refused: GAME_ID_TAKEN",
    "refused: SEAT_TOKEN_MISSING",
    "refused: SEAT_TOKEN_WRONG",
    "refused: REQUEST_ID_REUSED",
    "refused: ETAG_MISMATCH",
    "refused: HISTORY_LOST",
    "refused: NOT_YOUR_TURN",
    "refused: GAME_NOT_STARTED",
    "refused: GAME_OVER",
    "refused: SEAT_TAKEN",
    "refused: DEAL_FIXED",
    "refused: SEAT_OUT",
];

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}")))
}

/// More of them: `BANQI_MODEL_GAMES=20000 cargo test --test linearizability -- --nocapture`; the same
/// choices again: `BANQI_MODEL_SEED` as it was printed. How the calls interleave differs each time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_is_one_that_some_order_of_the_calls_allows() {
    let seed = number_from("BANQI_MODEL_SEED").unwrap_or_else(rand::random);
    let games = number_from("BANQI_MODEL_GAMES").unwrap_or(GAMES);
    println!("BANQI_MODEL_SEED={seed} BANQI_MODEL_GAMES={games}");
    let world = World::start().await;
    let (next, coverage) = (AtomicU64::new(0), Mutex::new(Coverage::default()));
    let tables = (0..TABLES).map(|_| async {
        let mut lanes = Vec::new();
        for _ in 0..CLIENTS {
            lanes.push(world.lanes().await);
        }
        let mut direct = world.direct().await;
        loop {
            let number = next.fetch_add(1, Ordering::SeqCst);
            if number >= games {
                return;
            }
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ number.rotate_left(32));
            let table = Table::draw(&mut random, format!("game-{seed:x}-{number}"));
            play(&table, &mut random, &mut lanes, 8..=40).await;
            let history = table.close(&mut direct).await;
            match check(&history) {
                Ok(seen) => coverage.lock().expect("no panic").merge(seen),
                Err(fault) => {
                    let (from, until) = fault.during;
                    let shown = history.excerpt(from.saturating_sub(SHOWN), until);
                    panic!("BANQI_MODEL_SEED={seed}, game {number}: {fault}\n\n{shown}");
                }
            }
        }
    });
    join_all(tables).await;
    let coverage = coverage.into_inner().expect("no panic");
    println!("{coverage}");
    if games >= GAMES {
        let uncut = coverage.of(UNCUT) as u64;
        assert!(uncut < games, "{uncut} calls had no outcome although nothing was cut");
        assert_eq!(coverage.missing(WANTED), Vec::<&str>::new(), "in {games} games");
    }
}
