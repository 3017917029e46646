//! `banqi bench load`.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::audience::Stands;
use super::connect::{Caller, connect_all};
use super::drive::{SharedTally, counted, drive};
use super::events::Events;
use super::failure::BenchError;
use super::load_report::{EventReport, LoadReport, method_reports};
use super::mix::Mix;
use super::pace::Pace;
use super::process::Process;
use super::progress::Progress;
use super::report::{self, Meter, RunOptions};
use super::subject::SubjectOptions;
use super::table::{Routing, Table, TableOptions};
use super::tally::unexpected;
use crate::cli::values::seconds;

/// How long the last events may take, in seconds.
const EVENT_PATIENCE: u64 = 5;

/// Play, read and watch random games, and tell rates, latencies, failures and processor time
#[derive(Args, Clone, Debug)]
pub(super) struct Load {
    #[command(flatten)]
    subject: SubjectOptions,

    #[command(flatten)]
    tables: TableOptions,

    /// Over which replicas a game's calls go
    #[arg(long, value_enum, default_value = "affinity")]
    routing: Routing,

    /// Shares of PlayAction and GetGame among the calls
    #[arg(long, default_value = "play=80,read=20")]
    mix: Mix,

    /// How many watchers follow the games, over other replicas than those that play where there are any
    #[arg(long, value_name = "N", default_value = "0")]
    watchers: usize,

    /// Calls a second to begin whether earlier ones were answered or not; without it each table calls
    /// again once it is answered
    #[arg(long, value_name = "CALLS", value_parser = rate)]
    rate: Option<f64>,

    /// Seconds of calls before those that count
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    warm_up: Duration,

    /// Seconds of calls that count
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    duration: Duration,

    #[command(flatten)]
    run: RunOptions,
}

impl Load {
    pub(super) fn threads(&self) -> usize {
        self.run.threads.into()
    }

    pub(super) async fn run(self, stop: CancellationToken) -> Result<(), BenchError> {
        let subject = self.subject.start()?;
        let caller = Caller(self.subject.api_key.clone());
        let seed = self.run.seed();
        let connections = self.tables.connections.into();
        let replicas = connect_all(&subject.addresses, connections, &caller).await?;
        let mut tables = Table::open(&replicas, self.routing, self.tables.in_flight, seed);
        let stands =
            Stands::connect(&subject.addresses, tables.len(), self.watchers, &caller).await?;

        let begin = Instant::now();
        let from = begin + self.warm_up;
        let until = from + self.duration;
        let events = Events::new(from);
        let audience = stands.fill(&mut tables, &events);
        let pace = Arc::new(match self.rate {
            Some(rate) => Pace::fixed(rate, begin, until, &stop),
            None => Pace::Closed { until },
        });
        let tally = SharedTally::default();
        let progress = self.progress(begin, &tally);
        let meters = async {
            sleep(from - Instant::now().min(from)).await;
            [&subject.service[..], &subject.redis, &[Process::this()]].map(Meter::start)
        };
        let (tables, meters) =
            tokio::join!(drive(tables, self.mix, Arc::clone(&pace), from, &tally, &stop), async {
                stop.run_until_cancelled(meters).await
            });
        let counted_for = Instant::now().saturating_duration_since(from);
        let tally = tally.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let usage = meters.map(|meters| meters.map(|meter| meter.read(tally.answered())));
        drop(progress);

        let watch = match self.watchers {
            0 => None,
            _ => {
                let patience = if stop.is_cancelled() { 0 } else { EVENT_PATIENCE };
                let undelivered = audience.missing(Duration::from_secs(patience)).await;
                let watched = events.tally().clone();
                Some(EventReport::new(self.watchers, &watched, undelivered))
            }
        };
        // Their games are watched up to here.
        drop(tables);
        let Some([service, store, generator]) = usage else { return Err(BenchError::Stopped) };
        let report = LoadReport {
            seed,
            replicas: subject.addresses.len(),
            in_flight: self.tables.in_flight,
            connections: self.tables.connections,
            routing: self.routing.name(),
            mix: self.mix.to_string(),
            rate: self.rate,
            warm_up_seconds: self.warm_up.as_secs_f64(),
            seconds: counted_for.as_secs_f64(),
            interrupted: stop.is_cancelled(),
            calls: tally.answered(),
            failed: tally.failed(),
            calls_per_second: tally.answered() as f64 / counted_for.as_secs_f64(),
            not_begun: pace.not_begun(),
            methods: method_reports(&tally, counted_for),
            watch,
            service,
            store,
            generator,
        };
        report::print(&report, self.run.json)?;
        self.judge(&report)
    }

    /// Whether all went as it should.
    fn judge(&self, report: &LoadReport) -> Result<(), BenchError> {
        let calls = report.methods.iter().map(|(&method, calls)| (method, &calls.failures));
        let watches = report.watch.iter().map(|watch| ("WatchGame", &watch.failures));
        let unexpected = unexpected(calls.chain(watches), &self.run.expect);
        if !unexpected.is_empty() {
            return Err(BenchError::CallsFailed(unexpected.join(", ")));
        }
        if report.calls + report.failed == 0 {
            return Err(BenchError::NothingAnswered);
        }
        match report.watch.as_ref().map_or(0, |watch| watch.undelivered) {
            missing if missing > 0 && !report.interrupted => {
                Err(BenchError::Undelivered(missing, EVENT_PATIENCE))
            }
            _ => Ok(()),
        }
    }

    fn progress(&self, begin: Instant, tally: &SharedTally) -> Progress {
        let (tally, warm_up, whole) =
            (Arc::clone(tally), self.warm_up, self.warm_up + self.duration);
        Progress::show(move || {
            let passed = begin.elapsed();
            let (answered, failed) = {
                let tally = counted(&tally);
                (tally.answered(), tally.failed())
            };
            let counted = passed.saturating_sub(warm_up).as_secs_f64();
            let rate = if counted > 0.0 { answered as f64 / counted } else { 0.0 };
            let (passed, whole) = (passed.as_secs_f64(), whole.as_secs_f64());
            format!("{passed:.0} of {whole:.0} s, {rate:.0} calls a second, {failed} failed")
        })
    }
}

/// Reads a rate.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate >= 0.1);
    rate.filter(|rate| *rate <= 1e6)
        .ok_or_else(|| "expected calls a second, from 0.1 to 1000000".to_owned())
}
