//! `banqi bench watch`.

use std::time::{Duration, Instant};

use clap::Args;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::audience::{Audience, LOOK_AT_ALL, Stands, wait_for};
use super::connect::{Caller, connect_all};
use super::drive::prepare;
use super::events::Events;
use super::failure::BenchError;
use super::latencies::Latencies;
use super::load_report::EventReport;
use super::mix::Turn;
use super::process::resident;
use super::progress::Progress;
use super::report::{self, RunOptions};
use super::subject::SubjectOptions;
use super::table::{Routing, Table};
use super::tally::{Method, Tally, unexpected};
use super::watch_report::{Memory, WatchReport};

/// How long all watchers may take to be let in, or to be told of an event, in seconds.
const PATIENCE: u64 = 60;

/// How often it is looked how far an event has come. It is known to the microsecond all the same.
const LOOK_AT_ONE: Duration = Duration::from_millis(1);

/// How long the service's memory is left to settle.
const SETTLE: Duration = Duration::from_secs(1);

/// Open many watches, and tell their memory and how soon an event has reached all of them
#[derive(Args, Clone, Debug)]
pub(super) struct Watch {
    #[command(flatten)]
    subject: SubjectOptions,

    /// How many watchers there are; connections are opened as they need, by what the service allows each
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    watchers: u32,

    /// Over how many games they are spread
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    games: u16,

    /// How many actions are played in each game, one after the other
    #[arg(long, value_name = "N", default_value = "20")]
    actions: u32,

    #[command(flatten)]
    run: RunOptions,
}

impl Watch {
    pub(super) fn threads(&self) -> usize {
        self.run.threads.into()
    }

    pub(super) async fn run(self, stop: CancellationToken) -> Result<(), BenchError> {
        let measuring = self.measure(&stop);
        let Some(report) = stop.run_until_cancelled(measuring).await else {
            return Err(BenchError::Stopped);
        };
        let report = report?;
        report::print(&report, self.run.json)?;
        let failures = [("WatchGame", &report.events.failures)];
        let unexpected = unexpected(failures, &self.run.expect);
        match report.events.undelivered {
            _ if !unexpected.is_empty() => Err(BenchError::CallsFailed(unexpected.join(", "))),
            0 => Ok(()),
            missing => Err(BenchError::Undelivered(missing, PATIENCE)),
        }
    }

    async fn measure(&self, stop: &CancellationToken) -> Result<WatchReport, BenchError> {
        let subject = self.subject.start()?;
        let caller = Caller(self.subject.api_key.clone());
        let seed = self.run.seed();
        let players = connect_all(&subject.addresses, 1, &caller).await?;
        let mut tables = Table::open(&players, Routing::Affinity, self.games, seed);
        let events = Events::new(Instant::now());

        let before = resident(&subject.service);
        let watchers = self.watchers as usize;
        let stands = Stands::connect(&subject.addresses, tables.len(), watchers, &caller).await?;
        let connections = stands.connections();
        let begun = Instant::now();
        let audience = stands.fill(&mut tables, &events);
        // Each game is watched as soon as it is there.
        let mut tables = prepare(tables, 1).await?;
        self.let_in(&audience).await?;
        let opening_seconds = begun.elapsed().as_secs_f64();
        sleep(SETTLE).await;
        let after = resident(&subject.service);

        let mut reached_all = Latencies::default();
        let progress = Progress::show(|| "playing".to_owned());
        for _ in 0..self.actions {
            for table in &mut tables {
                self.play(table, &audience, &mut reached_all).await?;
                if stop.is_cancelled() {
                    return Err(BenchError::Stopped);
                }
            }
        }
        drop(progress);
        let undelivered = audience.missing(Duration::from_secs(PATIENCE)).await;
        let tally = events.tally().clone();
        Ok(WatchReport {
            seed,
            replicas: subject.addresses.len(),
            watchers,
            games: self.games,
            connections,
            opening_seconds,
            memory: before.zip(after).map(|(before, after)| Memory::new(before, after, watchers)),
            actions: reached_all.count(),
            reached_all_ms: reached_all.percentiles(),
            events: EventReport::new(watchers, &tally, undelivered),
        })
    }

    /// Waits until all watchers have seen their game.
    async fn let_in(&self, audience: &Audience) -> Result<(), BenchError> {
        let places = audience.places.clone();
        let all = places.len();
        let _progress = Progress::show(move || {
            let seated = places.iter().filter(|place| place.is_taken()).count();
            format!("{seated} of {all} watches open")
        });
        let patience = Duration::from_secs(PATIENCE);
        let mut seated = 0;
        // So long without any more of them, not for all.
        while seated < all {
            let more = wait_for(patience, LOOK_AT_ALL, || audience.seated() > seated).await;
            seated = audience.seated();
            if !more {
                return Err(BenchError::NotLetIn { seated, all });
            }
        }
        Ok(())
    }

    /// Plays an action and waits until all who watch the game have its event.
    async fn play(
        &self,
        table: &mut Table,
        audience: &Audience,
        reached_all: &mut Latencies,
    ) -> Result<(), BenchError> {
        let watching = table
            .watched()
            .map_or(0, |game| audience.places.iter().filter(|place| place.is_at(&game)).count());
        let sent = Instant::now();
        let called = table.call(Turn::Play).await;
        if let Err(status) = called.answer {
            let mut tally = Tally::default();
            tally.count(called.method, sent.elapsed(), &Err(status));
            let failures =
                tally.methods.iter().map(|(method, calls)| (method.name(), &calls.failures));
            return Err(BenchError::CallsFailed(unexpected(failures, &[]).join(", ")));
        }
        if called.method != Method::PlayAction {
            // The game before is over, and the next one found its watchers.
            return self.let_in(audience).await;
        }
        let watched = table.watched().expect("it has watchers");
        let revision = watched.last();
        let reached = || {
            let newest = watched.newest();
            newest.revision == revision && newest.watchers >= watching
        };
        if wait_for(Duration::from_secs(PATIENCE), LOOK_AT_ONE, reached).await {
            reached_all.record(watched.newest().at.saturating_duration_since(sent));
        }
        Ok(())
    }
}
