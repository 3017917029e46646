//! `banqi bench fill`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::connect::{Caller, connect_all};
use super::drive::{SharedTally, counted, drive, prepare};
use super::failure::BenchError;
use super::latencies::Percentiles;
use super::load_report::FailureRows;
use super::mix::{Mix, Turn};
use super::pace::Pace;
use super::progress::Progress;
use super::report::{self, Meter, RunOptions, Usage, column, mebibytes};
use super::subject::{Subject, SubjectOptions};
use super::table::{Routing, Table, TableOptions};
use super::tally::{Method, Tally, unexpected};
use crate::cli::values::seconds;

/// The fewest games at which is measured.
const FIRST: u64 = 1_000;

/// How many games wait at each table when is measured.
const GAMES_READY: usize = 3;

/// At how many failures filling is given up.
const MOST_FAILURES: u64 = 100;

/// Create, begin and resign many games, and measure at each power of ten that are stored
#[derive(Args, Clone, Debug)]
pub(super) struct Fill {
    #[command(flatten)]
    subject: SubjectOptions,

    #[command(flatten)]
    tables: TableOptions,

    /// How many games to store
    #[arg(long, value_name = "N", default_value = "10000", value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,

    /// Seconds for which PlayAction is measured each time
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    duration: Duration,

    #[command(flatten)]
    run: RunOptions,
}

/// The report of `banqi bench fill`; docs/performance.md describes its fields.
#[derive(Clone, Debug, Serialize)]
struct FillReport {
    seed: u64,
    in_flight: u16,
    connections: u16,
    interrupted: bool,
    levels: Vec<Level>,
    failures: super::tally::Failures,
}

/// What was measured with so many games stored.
#[derive(Clone, Debug, Serialize)]
struct Level {
    games: u64,
    /// How many games a second were stored since the level before.
    filled_per_second: f64,
    /// PlayAction then.
    calls_per_second: f64,
    latency_ms: Option<Percentiles>,
    service: Usage,
    store: Usage,
}

impl Fill {
    pub(super) fn threads(&self) -> usize {
        self.run.threads.into()
    }

    pub(super) async fn run(self, stop: CancellationToken) -> Result<(), BenchError> {
        let subject = self.subject.start()?;
        let caller = Caller(self.subject.api_key.clone());
        let seed = self.run.seed();
        let connections = self.tables.connections.into();
        let replicas = connect_all(&subject.addresses, connections, &caller).await?;
        let mut tables = Table::open(&replicas, Routing::Affinity, self.tables.in_flight, seed);
        let mut report = FillReport {
            seed,
            in_flight: self.tables.in_flight,
            connections: self.tables.connections,
            interrupted: false,
            levels: Vec::new(),
            failures: Default::default(),
        };
        let (filled, failed) = (Arc::new(AtomicU64::new(0)), SharedTally::default());
        for games in levels(self.games) {
            let (before, begun) = (filled.load(Ordering::Relaxed), Instant::now());
            tables = fill(tables, &filled, games, &failed, &stop).await;
            let stored = filled.load(Ordering::Relaxed) - before;
            let filled_per_second = stored as f64 / begun.elapsed().as_secs_f64();
            if stop.is_cancelled() || counted(&failed).failed() >= MOST_FAILURES {
                break;
            }
            let level;
            (tables, level) =
                self.measure(tables, games, filled_per_second, &subject, &failed, &stop).await?;
            report.levels.extend(level);
        }
        report.interrupted = stop.is_cancelled();
        let tally = counted(&failed).clone();
        for calls in tally.methods.values() {
            for (reason, count) in &calls.failures {
                *report.failures.entry(reason.clone()).or_default() += count;
            }
        }
        report::print(&report, self.run.json)?;
        let unexpected = unexpected([("calls:", &report.failures)], &self.run.expect);
        match unexpected.is_empty() {
            true => Ok(()),
            false => Err(BenchError::CallsFailed(unexpected.join(", "))),
        }
    }

    /// Measures PlayAction; no level where it was cut short.
    async fn measure(
        &self,
        tables: Vec<Table>,
        games: u64,
        filled_per_second: f64,
        subject: &Subject,
        failed: &SharedTally,
        stop: &CancellationToken,
    ) -> Result<(Vec<Table>, Option<Level>), BenchError> {
        let tables = prepare(tables, GAMES_READY).await?;
        let (tally, from) = (SharedTally::default(), Instant::now());
        let meters = [&subject.service, &subject.redis].map(|processes| Meter::start(processes));
        let pace = Arc::new(Pace::Closed { until: from + self.duration });
        let tables = drive(tables, Mix::only(Turn::Play), pace, from, &tally, stop).await;
        let took = from.elapsed().as_secs_f64();
        let tally = counted(&tally).clone();
        let [service, store] = meters.map(|meter| meter.read(tally.answered()));
        counted(failed).add_failures(&tally);
        let level = Level {
            games,
            filled_per_second,
            calls_per_second: tally.answered() as f64 / took,
            latency_ms: tally
                .methods
                .get(&Method::PlayAction)
                .and_then(|calls| calls.latencies.percentiles()),
            service,
            store,
        };
        Ok((tables, (!stop.is_cancelled()).then_some(level)))
    }
}

/// At how many games is measured: the powers of ten, and all of them.
fn levels(games: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(FIRST), |games| games.checked_mul(10));
    powers.take_while(|level| *level < games).chain([games]).collect()
}

/// Stores games until there are so many, or too much has failed.
async fn fill(
    tables: Vec<Table>,
    filled: &Arc<AtomicU64>,
    games: u64,
    failed: &SharedTally,
    stop: &CancellationToken,
) -> Vec<Table> {
    let _progress = {
        let (filled, begun) = (Arc::clone(filled), Instant::now());
        let before = filled.load(Ordering::Relaxed);
        Progress::show(move || {
            let now = filled.load(Ordering::Relaxed);
            let rate = (now - before) as f64 / begun.elapsed().as_secs_f64();
            format!("{now} of {games} games, {rate:.0} a second")
        })
    };
    let mut filling = JoinSet::new();
    let share = tables.len() as u64;
    let rest = games - filled.load(Ordering::Relaxed);
    for (number, mut table) in (0..).zip(tables) {
        let (filled, failed, stop) = (Arc::clone(filled), Arc::clone(failed), stop.clone());
        filling.spawn(async move {
            for _ in 0..(rest + share - 1 - number) / share {
                let mut tally = Tally::default();
                table
                    .play_shortly(|called, took| tally.count(called.method, took, &called.answer))
                    .await;
                counted(&failed).add_failures(&tally);
                filled.fetch_add(1, Ordering::Relaxed);
                if stop.is_cancelled() || counted(&failed).failed() >= MOST_FAILURES {
                    break;
                }
            }
            table
        });
    }
    filling.join_all().await
}

impl fmt::Display for FillReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {}; PlayAction at {} tables on {} connections, beside so many games stored{}\n",
            self.seed,
            self.in_flight,
            self.connections,
            if self.interrupted { "; interrupted" } else { "" }
        )?;
        writeln!(
            f,
            "     games  filled/s   calls/s   p50 ms   p99 ms  service µs  store µs  service MiB  store MiB"
        )?;
        for level in &self.levels {
            writeln!(
                f,
                "{:>10} {:>9.0} {:>9.0} {} {} {} {} {} {}",
                level.games,
                level.filled_per_second,
                level.calls_per_second,
                column(level.latency_ms.map(|ms| ms.p50), 8, 2),
                column(level.latency_ms.map(|ms| ms.p99), 8, 2),
                column(level.service.cpu_us_per_call(), 11, 1),
                column(level.store.cpu_us_per_call(), 9, 1),
                column(mebibytes(level.service.resident_bytes()), 12, 1),
                column(mebibytes(level.store.resident_bytes()), 10, 1),
            )?;
        }
        write!(f, "{}", FailureRows(vec![("calls", &self.failures)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_power_of_ten_is_a_level() {
        assert_eq!(levels(10), [10]);
        assert_eq!(levels(1_000), [1_000]);
        assert_eq!(levels(20_000), [1_000, 10_000, 20_000]);
        assert_eq!(levels(1_000_000), [1_000, 10_000, 100_000, 1_000_000]);
    }
}
