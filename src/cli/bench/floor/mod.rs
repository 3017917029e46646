//! `banqi bench floor`: what a call costs the service, beside what it would cost a bare one.
//!
//! Both run as processes of their own against Redis servers of their own; windows in which one or
//! the other is called alternate, so that whatever else the machine does falls on both. What
//! decides is the ratio of processor time a call within a round.

mod report;
mod serve;
mod tape;

use std::num::NonZeroUsize;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use tokio_util::sync::CancellationToken;

use self::report::{FloorReport, Lines, Measured, Pair};
pub(super) use self::serve::ServeFloor;
use super::connect::{Caller, connect_all};
use super::drive::{SharedTally, counted, drive, prepare};
use super::failure::BenchError;
use super::mix::{Mix, Turn};
use super::pace::Pace;
use super::progress::Progress;
use super::redis_server::RedisServer;
use super::report::{Meter, print};
use super::subject::{self, Subject};
use super::table::{Routing, Table, TableOptions};
use super::tally::{Method, unexpected};
use crate::cli::values::seconds;

/// How many games wait at each table when is measured.
const GAMES_READY: usize = 3;

/// Measure what a call costs the service as a ratio to the least it could cost, in the same run
#[derive(Args, Clone, Debug)]
pub(super) struct Floor {
    /// An arrangement to measure; repeated for several. Without it all of them
    #[arg(long, value_enum)]
    arrangement: Vec<Arrangement>,

    #[command(flatten)]
    tables: TableOptions,

    /// How many rounds each arrangement is measured in, after one to warm up
    #[arg(long, value_name = "N", default_value = "7", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,

    /// Seconds that each of a round's four windows lasts
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    duration: Duration,

    /// How many threads of each replica, and of each floor, serve calls: one a core unless given
    #[arg(long, value_name = "THREADS")]
    threads: Option<NonZeroUsize>,

    /// What the players draw from
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,

    /// Tell the figures as one JSON document, which docs/performance.md describes
    #[arg(long)]
    json: bool,
}

/// How many replicas there are, and how calls are spread over them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Arrangement {
    /// One replica
    One,
    /// Three replicas, each call to the next one
    RoundRobin,
    /// Three replicas, each game's calls to one of them
    Affinity,
}

impl Arrangement {
    const fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::RoundRobin => "three, round-robin",
            Self::Affinity => "three, affinity",
        }
    }

    const fn replicas(self) -> u16 {
        match self {
            Self::One => 1,
            Self::RoundRobin | Self::Affinity => 3,
        }
    }

    const fn routing(self) -> Routing {
        match self {
            Self::RoundRobin => Routing::RoundRobin,
            Self::One | Self::Affinity => Routing::Affinity,
        }
    }
}

impl Floor {
    pub(super) async fn run(self, stop: CancellationToken) -> Result<(), BenchError> {
        let arrangements = match &self.arrangement[..] {
            [] => Arrangement::value_variants(),
            chosen => chosen,
        };
        let mut report = FloorReport {
            seed: self.seed,
            in_flight: self.tables.in_flight,
            connections: self.tables.connections,
            window_seconds: self.duration.as_secs_f64(),
            interrupted: false,
            lines: Vec::new(),
        };
        for &arrangement in arrangements {
            if !stop.is_cancelled() {
                report.lines.extend(self.measure(arrangement, &stop).await?);
            }
        }
        report.interrupted = stop.is_cancelled();
        if report.lines.is_empty() {
            return Err(BenchError::Stopped);
        }
        Ok(print(&report, self.json)?)
    }

    /// Measures an arrangement in rounds; those that were finished count.
    async fn measure(
        &self,
        arrangement: Arrangement,
        stop: &CancellationToken,
    ) -> Result<Vec<Lines>, BenchError> {
        let mut service = Side::start(self, arrangement, subject::banqi_serve).await?;
        let mut floor = Side::start(self, arrangement, subject::floor_serve).await?;
        let (mut played, mut read) = (Vec::new(), Vec::new());
        for round in 0..=self.rounds {
            let (name, rounds) = (arrangement.name(), self.rounds);
            let _progress = Progress::show(move || format!("{name}: round {round} of {rounds}"));
            for (turn, pairs) in [(Turn::Play, &mut played), (Turn::Read, &mut read)] {
                let service = service.window(turn, self.duration, stop).await?;
                let floor = floor.window(turn, self.duration, stop).await?;
                if let (true, Some(service), Some(floor)) = (round > 0, service, floor) {
                    pairs.push(Pair { service, floor });
                }
            }
        }
        let name = arrangement.name();
        let lines = [(Method::PlayAction, played), (Method::GetGame, read)];
        let measured = lines.into_iter().filter(|(_, pairs)| !pairs.is_empty());
        Ok(measured.map(|(method, pairs)| Lines::new(name, method, &pairs)).collect())
    }
}

/// Replicas of one kind beside their Redis, and the tables that play there.
struct Side {
    subject: Subject,
    tables: Vec<Table>,
}

impl Side {
    async fn start(
        options: &Floor,
        arrangement: Arrangement,
        server: fn(&str) -> Result<Command, BenchError>,
    ) -> Result<Self, BenchError> {
        let redis = RedisServer::start()?;
        let url = redis.url();
        let threaded = || {
            let mut command = server(&url)?;
            if let Some(threads) = options.threads {
                command.env("BANQI_THREADS", threads.to_string());
            }
            Ok(command)
        };
        let subject = Subject::of(arrangement.replicas(), Some(redis), threaded)?;
        let TableOptions { in_flight, connections } = options.tables;
        let replicas = connect_all(&subject.addresses, connections.into(), &Caller(None)).await?;
        let tables = Table::open(&replicas, arrangement.routing(), in_flight, options.seed);
        Ok(Self { subject, tables })
    }

    /// Calls for one window at all tables; nothing is measured once all is to stop.
    async fn window(
        &mut self,
        turn: Turn,
        length: Duration,
        stop: &CancellationToken,
    ) -> Result<Option<Measured>, BenchError> {
        if stop.is_cancelled() {
            return Ok(None);
        }
        let tables = prepare(std::mem::take(&mut self.tables), GAMES_READY).await?;
        let (tally, from) = (SharedTally::default(), Instant::now());
        let service = Meter::start(&self.subject.service);
        let store = Meter::start(&self.subject.redis);
        let pace = Arc::new(Pace::Closed { until: from + length });
        self.tables = drive(tables, Mix::only(turn), pace, from, &tally, stop).await;
        let took = from.elapsed();
        if stop.is_cancelled() {
            return Ok(None);
        }
        let tally = counted(&tally).clone();
        let failures = tally.methods.iter().map(|(method, calls)| (method.name(), &calls.failures));
        let failures = unexpected(failures, &[]);
        if !failures.is_empty() {
            return Err(BenchError::CallsFailed(failures.join(", ")));
        }
        let calls = tally.answered();
        let method = if turn == Turn::Play { Method::PlayAction } else { Method::GetGame };
        let counted = tally.methods.get(&method).ok_or(BenchError::NothingAnswered)?;
        Ok(Some(Measured::new(counted, service.read(calls), store.read(calls), took)))
    }
}
