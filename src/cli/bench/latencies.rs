//! How long things took.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// The longest time that is told apart from longer ones, in microseconds: ten minutes.
const LONGEST: u64 = 600_000_000;

/// Significant digits that are kept.
const DIGITS: u8 = 3;

/// A distribution of times, to the microsecond and to three significant digits.
#[derive(Clone, Debug)]
pub(super) struct Latencies(Histogram<u64>);

/// What a distribution comes to, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Percentiles {
    pub(super) mean: f64,
    pub(super) p50: f64,
    pub(super) p90: f64,
    pub(super) p99: f64,
    pub(super) p99_9: f64,
    pub(super) max: f64,
}

impl Default for Latencies {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST, DIGITS).expect("bounds that fit the digits"))
    }
}

impl Latencies {
    pub(super) fn record(&mut self, took: Duration) {
        self.0.saturating_record(u64::try_from(took.as_micros()).unwrap_or(LONGEST));
    }

    /// How many were recorded.
    pub(super) fn count(&self) -> u64 {
        self.0.len()
    }

    /// `None` if nothing was recorded.
    pub(super) fn percentiles(&self) -> Option<Percentiles> {
        let at = |quantile| self.0.value_at_quantile(quantile) as f64 / 1e3;
        (!self.0.is_empty()).then(|| Percentiles {
            mean: self.0.mean() / 1e3,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            max: self.0.max() as f64 / 1e3,
        })
    }
}
