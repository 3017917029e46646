//! How much each caller may ask for. Callers without a key are one caller together.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::api::error::{ApiError, Reason};

/// How much a caller may ask for; nothing is unlimited by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallerLimits {
    /// How many games he may create or import a second over this replica, and as many at once.
    pub creations: Option<NonZeroU32>,
    /// How many streams he may have open over this replica.
    pub streams: Option<NonZeroU32>,
}

/// What callers have asked for so far.
#[derive(Debug)]
pub(super) struct Quotas {
    creations: Option<Creations>,
    most_streams: Option<NonZeroU32>,
    streams: Mutex<HashMap<String, u32>>,
}

#[derive(Debug)]
struct Creations {
    most: NonZeroU32,
    limiter: DefaultKeyedRateLimiter<String>,
}

impl Quotas {
    pub(super) fn new(limits: CallerLimits) -> Arc<Self> {
        let creations = limits
            .creations
            .map(|most| Creations { most, limiter: RateLimiter::keyed(Quota::per_second(most)) });
        Arc::new(Self { creations, most_streams: limits.streams, streams: Mutex::default() })
    }

    /// Counts a creation by the caller of this name.
    pub(super) fn count_creation(&self, caller: &str) -> Result<(), ApiError> {
        let Some(Creations { most, limiter }) = &self.creations else { return Ok(()) };
        limiter.check_key(&caller.to_owned()).map_err(|not_until| {
            let wait = not_until.wait_time_from(DefaultClock::default().now());
            let told = format!("{} creates more than {most} games a second", who(caller));
            ApiError::new(Reason::RateLimited, told).to_be_retried_after(wait)
        })
    }

    /// Counts a stream of the caller of this name, until its place is dropped.
    pub(super) fn count_stream(self: &Arc<Self>, caller: &str) -> Result<StreamPlace, ApiError> {
        let Some(most) = self.most_streams else { return Ok(StreamPlace(None)) };
        let mut streams = self.streams();
        let open = streams.entry(caller.to_owned()).or_default();
        if *open >= most.get() {
            let told = format!("{} has {most} streams open, the most that it may", who(caller));
            return Err(ApiError::new(Reason::TooManyStreams, told));
        }
        *open += 1;
        Ok(StreamPlace(Some((Arc::clone(self), caller.to_owned()))))
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<String, u32>> {
        // A count is whole between any two of its changes, whatever panics.
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a caller is called in an error.
fn who(caller: &str) -> String {
    if caller.is_empty() { "whoever has no key".to_owned() } else { format!("key `{caller}`") }
}

/// A stream's place among those of its caller.
#[derive(Debug)]
pub(in crate::api) struct StreamPlace(Option<(Arc<Quotas>, String)>);

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let Some((quotas, caller)) = &self.0 else { return };
        let mut streams = quotas.streams();
        if let Some(open) = streams.get_mut(caller) {
            *open -= 1;
            if *open == 0 {
                streams.remove(caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(creations: u32, streams: u32) -> CallerLimits {
        CallerLimits { creations: NonZeroU32::new(creations), streams: NonZeroU32::new(streams) }
    }

    fn reason<T>(result: Result<T, ApiError>) -> Option<Reason> {
        result.err().map(|error| error.reason())
    }

    #[test]
    fn each_caller_has_places_for_streams_of_his_own() {
        let quotas = Quotas::new(limits(0, 2));
        let places = ["a", "a", "b"].map(|caller| quotas.count_stream(caller).expect("a place"));
        assert_eq!(reason(quotas.count_stream("a")), Some(Reason::TooManyStreams));
        drop(places);
        assert!(quotas.streams().is_empty());
        quotas.count_stream("a").expect("a place");
    }

    #[test]
    fn each_caller_creates_at_a_rate_of_his_own() {
        let quotas = Quotas::new(limits(1, 0));
        quotas.count_creation("a").expect("the first");
        assert_eq!(reason(quotas.count_creation("a")), Some(Reason::RateLimited));
        quotas.count_creation("").expect("another caller's first");
    }

    #[test]
    fn without_limits_nothing_is_counted() {
        let quotas = Quotas::new(CallerLimits::default());
        for _ in 0..1000 {
            quotas.count_creation("a").expect("no limit");
            quotas.count_stream("a").map(std::mem::forget).expect("no limit");
        }
        assert!(quotas.streams().is_empty());
    }
}
