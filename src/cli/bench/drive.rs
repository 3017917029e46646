//! Calls at all tables at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::failure::BenchError;
use super::mix::Mix;
use super::pace::Pace;
use super::table::Table;
use super::tally::{Tally, reason};

/// How long a table waits after a call that failed.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

/// A tally that many tables count in.
pub(super) type SharedTally = Arc<Mutex<Tally>>;

/// Calls at all tables at this pace; those that were to begin from a time on are counted. The tables
/// come back; not so one whose call was open when the token was cancelled.
pub(super) async fn drive(
    tables: Vec<Table>,
    mix: Mix,
    pace: Arc<Pace>,
    from: Instant,
    tally: &SharedTally,
    stop: &CancellationToken,
) -> Vec<Table> {
    let mut driven = JoinSet::new();
    for mut table in tables {
        let (pace, tally, stop) = (Arc::clone(&pace), Arc::clone(tally), stop.clone());
        driven.spawn(async move {
            let calling = call(&mut table, mix, &pace, from, &tally);
            let stopped = stop.run_until_cancelled(calling).await.is_none();
            (!stopped).then_some(table)
        });
    }
    driven.join_all().await.into_iter().flatten().collect()
}

/// Creates games at all tables, so that none need be created while time is taken.
pub(super) async fn prepare(tables: Vec<Table>, games: usize) -> Result<Vec<Table>, BenchError> {
    let mut prepared = JoinSet::new();
    for mut table in tables {
        prepared.spawn(async move { table.prepare(games).await.map(|()| table) });
    }
    let prepared: Result<Vec<Table>, Status> = prepared.join_all().await.into_iter().collect();
    prepared.map_err(|status| BenchError::Refused {
        call: "CreateGame",
        reason: reason(&status),
        message: status.message().to_owned(),
    })
}

/// What stands in a shared tally.
pub(super) fn counted(tally: &SharedTally) -> std::sync::MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn call(table: &mut Table, mix: Mix, pace: &Pace, from: Instant, tally: &SharedTally) {
    while let Some(begun) = pace.next().await {
        let turn = mix.draw(&mut table.random);
        let called = table.call(turn).await;
        let took = begun.elapsed();
        if begun >= from {
            counted(tally).count(called.method, took, &called.answer);
        }
        if called.answer.is_err() {
            sleep(AFTER_FAILURE).await;
        }
    }
}
