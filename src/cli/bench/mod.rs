//! `banqi bench`: what a service bears and what it costs (docs/performance.md, "Hosting").

#![expect(clippy::disallowed_methods, reason = "time is what is measured")]

mod audience;
mod connect;
mod drive;
mod events;
mod failure;
mod fill;
mod floor;
mod latencies;
mod load;
mod load_report;
mod mix;
mod pace;
mod process;
mod progress;
mod redis_server;
mod report;
mod subject;
mod table;
mod tally;
mod watch;
mod watch_report;
mod watcher;

use clap::{Args, Subcommand};
use tokio_util::sync::CancellationToken;

pub(super) use self::failure::BenchError;
use crate::server::signals;

/// Measure what a service bears and what it costs (docs/performance.md)
#[derive(Debug, Args)]
pub(super) struct Bench {
    #[command(subcommand)]
    measurement: Measurement,
}

#[derive(Debug, Subcommand)]
enum Measurement {
    Load(Box<load::Load>),
    Watch(Box<watch::Watch>),
    Fill(Box<fill::Fill>),
    Floor(floor::Floor),
    #[command(hide = true)]
    ServeFloor(floor::ServeFloor),
}

impl Bench {
    pub(super) fn run(self) -> Result<(), BenchError> {
        match self.measurement {
            Measurement::Load(load) => run(load.threads(), |stop| load.run(stop)),
            Measurement::Watch(watch) => run(watch.threads(), |stop| watch.run(stop)),
            Measurement::Fill(fill) => run(fill.threads(), |stop| fill.run(stop)),
            Measurement::Floor(floor) => run(1, |stop| floor.run(stop)),
            Measurement::ServeFloor(floor) => floor.run(),
        }
    }
}

/// Runs a measurement on so many threads. The first Ctrl-C or SIGTERM cancels its token, at which it
/// tells what it has and ends what it started.
fn run<M, F>(threads: usize, measurement: M) -> Result<(), BenchError>
where
    M: FnOnce(CancellationToken) -> F,
    F: Future<Output = Result<(), BenchError>>,
{
    let mut builder = match threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.worker_threads(threads).enable_all().build().map_err(BenchError::System)?.block_on(
        async {
            let stop = CancellationToken::new();
            let stopped = signals::stop().map_err(BenchError::System)?;
            let cancelling = stop.clone();
            tokio::spawn(async move {
                stopped.await;
                cancelling.cancel();
            });
            measurement(stop).await
        },
    )
}
