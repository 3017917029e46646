//! How old streams become.

use std::time::Duration;

use super::error::{ApiError, Reason};

/// How old streams become before their readers are asked to connect again, so that load spreads to
/// replicas that were added since. Each stream has an age of its own, at random, so that those that
/// began together, as after a restart, do not return together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamAge(Option<Duration>);

impl StreamAge {
    /// Streams that last as long as their readers want.
    pub const NONE: Self = Self(None);

    /// At most so old, and at least half as old; zero for streams without such an end.
    pub fn up_to(most: Duration) -> Self {
        Self(Some(most).filter(|most| !most.is_zero()))
    }

    /// The age that a new stream shall reach.
    pub(super) fn draw(self) -> Option<Duration> {
        self.0.map(|most| most.mul_f64(rand::random_range(0.5..=1.0)))
    }
}

impl Default for StreamAge {
    /// Up to an hour.
    fn default() -> Self {
        Self::up_to(Duration::from_secs(3_600))
    }
}

/// What the reader of a stream is told that is old enough.
pub(super) fn expired() -> ApiError {
    let message = "the stream has lasted long enough: open it anew after the last etag or cursor, \
                   so that load spreads over all replicas";
    // Streams end one by one, so nobody has to wait.
    ApiError::new(Reason::StreamExpired, message).to_be_retried_after(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_differ_and_lie_between_half_of_the_greatest_and_all_of_it() {
        let most = Duration::from_secs(100);
        let age = StreamAge::up_to(most);
        let drawn: Vec<Duration> =
            std::iter::repeat_with(|| age.draw()).flatten().take(200).collect();
        assert!(drawn.iter().all(|age| (most / 2..=most).contains(age)), "{drawn:?}");
        let least = drawn.iter().min().expect("some");
        let greatest = drawn.iter().max().expect("some");
        assert!(*greatest - *least > most / 4, "{drawn:?}");
    }

    #[test]
    fn without_a_greatest_age_there_is_none() {
        assert_eq!(StreamAge::up_to(Duration::ZERO).draw(), None);
    }
}
