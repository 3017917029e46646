//! What a replica takes the shards' time to be between two answers of the server.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::game::{Millis, Span};
use crate::store::{MAX_ADVANCE, Shard, ShardCount};

/// How long what was heard of a shard's time holds. A shard's time keeps pace with the server's
/// for [`MAX_ADVANCE`] after it was last advanced, and every answer advances it; the rest is for
/// clocks that run unequally and for answers that are late.
const HOLDS: Duration = Duration::from_millis(MAX_ADVANCE.0 - 500);

/// What was last heard of each shard's time.
#[derive(Debug)]
pub(super) struct Estimates {
    heard: Box<[Mutex<Option<Heard>>]>,
}

/// What a shard's time was, and when.
#[derive(Clone, Copy, Debug)]
struct Heard {
    time: Millis,
    at: Instant,
}

impl Estimates {
    pub(super) fn new(shards: ShardCount) -> Self {
        Self { heard: shards.iter().map(|_| Mutex::new(None)).collect() }
    }

    /// The shard's time at an instant, if it is known.
    pub(super) fn at(&self, shard: Shard, instant: Instant) -> Option<Millis> {
        let heard = (*self.slot(shard))?;
        let passed = instant.saturating_duration_since(heard.at);
        (passed <= HOLDS).then(|| heard.time + span(passed))
    }

    /// Notes what the server said of the shard's time. It was so at some instant between the
    /// question and the answer; the middle is at most half the round trip off.
    pub(super) fn note(&self, shard: Shard, time: Millis, asked: Instant, answered: Instant) {
        let at = asked + answered.saturating_duration_since(asked) / 2;
        let mut slot = self.slot(shard);
        // Answers may overtake each other: the latest holds.
        if slot.is_none_or(|heard| heard.at <= at) {
            *slot = Some(Heard { time, at });
        }
    }

    fn slot(&self, shard: Shard) -> std::sync::MutexGuard<'_, Option<Heard>> {
        // A value that is replaced in one step is whole, whatever panics.
        self.heard[shard.index()].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn span(duration: Duration) -> Span {
    Span(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_goes_on_from_the_middle_of_the_round_trip_for_a_while() {
        let shards = ShardCount::default();
        let shard = shards.shard(3).expect("there");
        let estimates = Estimates::new(shards);
        let asked = Instant::now();
        let after = |millis| asked + Duration::from_millis(millis);
        assert_eq!(estimates.at(shard, asked), None);
        estimates.note(shard, Millis(5_000), asked, after(20));
        assert_eq!(estimates.at(shard, after(10)), Some(Millis(5_000)));
        assert_eq!(estimates.at(shard, after(1_010)), Some(Millis(6_000)));
        assert_eq!(estimates.at(shard, after(2_510)), Some(Millis(7_500)));
        assert_eq!(estimates.at(shard, after(2_511)), None);
        assert_eq!(estimates.at(shards.shard(4).expect("there"), asked), None);
    }

    #[test]
    fn an_answer_that_was_overtaken_changes_nothing() {
        let shards = ShardCount::default();
        let shard = shards.shard(3).expect("there");
        let estimates = Estimates::new(shards);
        let early = Instant::now();
        let late = early + Duration::from_millis(100);
        estimates.note(shard, Millis(2_000), late, late);
        estimates.note(shard, Millis(1_000), early, early);
        assert_eq!(estimates.at(shard, late), Some(Millis(2_000)));
    }
}
