//! What is counted of the hosted games on this replica.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::game::{Milestone, Millis};

/// Upper bounds for how late something is, in seconds.
const LAGS: [f64; 11] = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0];

/// Counts since the process began. Clones count together.
#[derive(Clone, Debug)]
pub struct HostMetrics {
    readings: Family<ReadingLabels, Counter>,
    lives: Family<LifeLabels, Counter>,
    pub(super) conflicts: Counter,
    losses_told: Counter,
    deadlines: Counter,
    deadline_lag: Histogram,
    pub(super) outbox_entries: Counter,
    watchers: Gauge,
    event_lag: Histogram,
    live_replicas: Gauge,
}

/// What a replica had to do to have a game whose record it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Nothing: it had it at that version.
    Hit,
    /// It replayed what was new of it.
    CaughtUp,
    /// It replayed all of it.
    Replayed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReadingLabels {
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LifeLabels {
    milestone: &'static str,
}

impl From<Reading> for ReadingLabels {
    fn from(reading: Reading) -> Self {
        let result = match reading {
            Reading::Hit => "hit",
            Reading::CaughtUp => "caught_up",
            Reading::Replayed => "replayed",
        };
        Self { result }
    }
}

impl From<Milestone> for LifeLabels {
    fn from(milestone: Milestone) -> Self {
        let milestone = match milestone {
            Milestone::Created => "created",
            Milestone::Started => "started",
            Milestone::Ended => "ended",
        };
        Self { milestone }
    }
}

impl Default for HostMetrics {
    fn default() -> Self {
        Self {
            readings: Family::default(),
            lives: Family::default(),
            conflicts: Counter::default(),
            losses_told: Counter::default(),
            deadlines: Counter::default(),
            deadline_lag: Histogram::new(LAGS),
            outbox_entries: Counter::default(),
            watchers: Gauge::default(),
            event_lag: Histogram::new(LAGS),
            live_replicas: Gauge::default(),
        }
    }
}

impl HostMetrics {
    /// Adds them to what is told of the process.
    pub fn register(&self, registry: &mut Registry) {
        let Self {
            readings,
            lives,
            conflicts,
            losses_told,
            deadlines,
            deadline_lag,
            outbox_entries,
            watchers,
            event_lag,
            live_replicas,
        } = self.clone();
        // All of them from the start: a counter that springs into being at 1 has not increased.
        for reading in [Reading::Hit, Reading::CaughtUp, Reading::Replayed] {
            readings.get_or_create(&reading.into()).inc_by(0);
        }
        for milestone in [Milestone::Created, Milestone::Started, Milestone::Ended] {
            lives.get_or_create(&milestone.into()).inc_by(0);
        }
        registry.register(
            "game_readings",
            "Records read, by what had to be replayed of them",
            readings,
        );
        registry.register("games", "Games that this replica created, began and ended", lives);
        registry.register(
            "write_conflicts",
            "Writes of a game that were decided anew, since another one was faster",
            conflicts,
        );
        registry.register(
            "losses_told",
            "Watchers and polls that were told of a history which is not the game's any more",
            losses_told,
        );
        registry.register("deadlines_enforced", "Deadlines that this replica enforced", deadlines);
        registry.register_with_unit(
            "deadline_lag",
            "How long after a deadline it was enforced",
            Unit::Seconds,
            deadline_lag,
        );
        registry.register(
            "outbox_entries_applied",
            "Changes of players' lists that this replica applied",
            outbox_entries,
        );
        registry.register("watchers", "Watchers of games on this replica", watchers);
        registry.register_with_unit(
            "event_lag",
            "How long after a call's arrival its event was there for the watchers of this replica",
            Unit::Seconds,
            event_lag,
        );
        registry.register(
            "live_replicas",
            "Replicas that share the sweeping, as this one sees it",
            live_replicas,
        );
    }

    pub(super) fn read(&self, reading: Reading) {
        self.readings.get_or_create(&reading.into()).inc();
    }

    pub(super) fn reached(&self, milestone: Milestone) {
        self.lives.get_or_create(&milestone.into()).inc();
    }

    /// Somebody was told that what he knew of a game was lost.
    pub(crate) fn told_of_a_loss(&self) {
        self.losses_told.inc();
    }

    /// A deadline was enforced so late.
    pub(super) fn enforced(&self, deadline: Option<Millis>, now: Millis) {
        self.deadlines.inc();
        if let Some(deadline) = deadline {
            self.deadline_lag.observe(seconds(deadline, now));
        }
    }

    /// What happened at one time was there for watchers at another.
    pub(crate) fn event_was_there(&self, at: Millis, now: Millis) {
        self.event_lag.observe(seconds(at, now));
    }

    /// So many replicas are alive.
    pub(crate) fn saw_replicas(&self, count: usize) {
        self.live_replicas.set(count.try_into().unwrap_or(i64::MAX));
    }

    /// Counts a watcher until it is dropped.
    pub(crate) fn watching(&self) -> Watching {
        self.watchers.inc();
        Watching(self.watchers.clone())
    }
}

fn seconds(from: Millis, to: Millis) -> f64 {
    std::time::Duration::from_millis(to.since(from).0).as_secs_f64()
}

/// A watcher that is counted.
#[derive(Debug)]
pub(crate) struct Watching(Gauge);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.dec();
    }
}
