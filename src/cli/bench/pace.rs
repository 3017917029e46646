//! When calls begin.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// How long the pacing thread sleeps at most before it looks whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// When calls begin, until a given time.
#[derive(Debug)]
pub(super) enum Pace {
    /// Whoever is free begins (closed loop).
    Closed { until: Instant },
    /// At a fixed rate, whether the calls before were answered or not (open loop).
    Fixed(Arc<Schedule>),
}

/// Calls at equal distances. Each time belongs to one call. Where nobody is free then, the call begins
/// late and its latency still counts from that time: what a stall delays is not hidden by it.
#[derive(Debug)]
pub(super) struct Schedule {
    begin: Instant,
    /// Calls a second.
    rate: f64,
    /// How many times have been taken.
    taken: AtomicU64,
    /// The times that have come and that nobody has taken yet.
    due: Semaphore,
}

impl Pace {
    /// A fixed rate, in calls a second, for so long.
    pub(super) fn fixed(
        rate: f64,
        begin: Instant,
        until: Instant,
        stop: &CancellationToken,
    ) -> Self {
        let due = Semaphore::new(0);
        let schedule = Arc::new(Schedule { begin, rate, taken: AtomicU64::new(0), due });
        // Timers of the runtime go by milliseconds, in which a call may be answered twice over.
        let (pacing, stop) = (Arc::clone(&schedule), stop.clone());
        thread::spawn(move || pacing.keep(until, &stop));
        Self::Fixed(schedule)
    }

    /// Waits until a call is to begin, and tells when it was to. `None` once the time is over.
    pub(super) async fn next(&self) -> Option<Instant> {
        match self {
            Self::Closed { until } => Some(Instant::now()).filter(|now| now < until),
            Self::Fixed(schedule) => {
                schedule.due.acquire().await.ok()?.forget();
                Some(schedule.time(schedule.taken.fetch_add(1, Ordering::Relaxed)))
            }
        }
    }

    /// How many calls were to begin and did not, since nobody was free.
    pub(super) fn not_begun(&self) -> u64 {
        match self {
            Self::Closed { .. } => 0,
            Self::Fixed(schedule) => schedule.due.available_permits() as u64,
        }
    }
}

impl Schedule {
    /// When a call is to begin.
    fn time(&self, number: u64) -> Instant {
        self.begin + Duration::from_secs_f64(number as f64 / self.rate)
    }

    /// Lets the times come, one after the other.
    fn keep(&self, until: Instant, stop: &CancellationToken) {
        let mut number = 0;
        loop {
            let next = self.time(number);
            let now = Instant::now();
            if stop.is_cancelled() || now >= until {
                return self.due.close();
            }
            if next >= until || next > now {
                thread::sleep((next.min(until) - now).min(LOOK));
            } else {
                self.due.add_permits(1);
                number += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_late_call_counts_from_when_it_was_to_begin() {
        let begin = Instant::now();
        let until = begin + Duration::from_millis(200);
        let pace = Pace::fixed(100.0, begin, until, &CancellationToken::new());
        assert_eq!(pace.next().await, Some(begin));
        thread::sleep(Duration::from_millis(55));
        let second = pace.next().await.expect("there is time");
        assert_eq!(second, begin + Duration::from_millis(10));
        let mut taken = 2;
        while pace.next().await.is_some() {
            taken += 1;
        }
        assert_eq!(taken + pace.not_begun(), 20);
    }

    #[tokio::test]
    async fn the_first_free_hand_begins_at_once_in_a_closed_loop() {
        let until = Instant::now() + Duration::from_millis(20);
        let pace = Pace::Closed { until };
        assert!(pace.next().await.is_some());
        thread::sleep(Duration::from_millis(25));
        assert_eq!(pace.next().await, None);
    }
}
