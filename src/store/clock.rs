//! The shard's clock: time that no outage and no jump takes from a player.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::game::{Millis, Span};

/// The most by which one write or beat advances a shard's time.
pub const MAX_ADVANCE: Span = Span(3_000);

/// How far a replica's estimate of the present may be off.
pub const CLOCK_TOLERANCE: Span = Span(250);

/// Whether the estimated present is near enough to the shard's time.
pub(super) fn within_tolerance(present: Millis, now: Millis) -> bool {
    present.0.abs_diff(now.0) <= CLOCK_TOLERANCE.0
}

/// A shard's clock: the source's time last seen, and the shard's time then.
///
/// The shard's time advances by what the source's did, at least 0 and at most [`MAX_ADVANCE`] a
/// step; so a source that jumps, or that nobody could reach for a while, costs nobody his game.
/// A shard in which no game has a deadline has nothing to lose, and its source's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShardClock {
    pub(super) seen: Millis,
    pub(super) time: Millis,
}

impl ShardClock {
    /// A clock that starts with the source's time.
    pub(super) fn starting(source: Millis) -> Self {
        Self { seen: source, time: source }
    }

    /// The clock when the source shows this time; `running`: a game of the shard has a deadline.
    #[must_use]
    pub(super) fn advanced(self, source: Millis, running: bool) -> Self {
        if !running {
            return Self::starting(source);
        }
        let step = source.since(self.seen).min(MAX_ADVANCE);
        Self { seen: source, time: self.time + step }
    }
}

/// Where an embedded store takes the time from: the counterpart of a Redis primary's `TIME`.
pub trait TimeSource: fmt::Debug + Send + Sync {
    /// The time now. It may jump, as the clocks of machines do.
    fn now(&self) -> Millis;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemTimeSource;

impl TimeSource for SystemTimeSource {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that others are given")]
    fn now(&self) -> Millis {
        // A clock before 1970 is a clock that is not set: time begins when it is.
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_advances_with_its_source() {
        let clock = ShardClock::starting(Millis(1_000)).advanced(Millis(1_700), true);
        assert_eq!(clock.time, Millis(1_700));
    }

    #[test]
    fn an_outage_costs_at_most_three_seconds() {
        let clock = ShardClock::starting(Millis(1_000)).advanced(Millis(61_000), true);
        assert_eq!(clock.time, Millis(4_000));
        assert_eq!(clock.advanced(Millis(61_100), true).time, Millis(4_100));
    }

    #[test]
    fn a_source_that_jumps_back_stops_no_clock() {
        let clock = ShardClock::starting(Millis(10_000)).advanced(Millis(2_000), true);
        assert_eq!(clock.time, Millis(10_000));
        assert_eq!(clock.advanced(Millis(2_500), true).time, Millis(10_500));
    }

    #[test]
    fn where_nothing_has_a_deadline_the_time_is_the_sources() {
        let clock = ShardClock::starting(Millis(10_000));
        for source in [Millis(90_000), Millis(2_000)] {
            assert_eq!(clock.advanced(source, false), ShardClock::starting(source));
        }
    }

    #[test]
    fn an_estimate_may_be_a_quarter_of_a_second_off() {
        for (present, near) in [(749, false), (750, true), (1_250, true), (1_251, false)] {
            assert_eq!(within_tolerance(Millis(present), Millis(1_000)), near, "{present}");
        }
    }
}
