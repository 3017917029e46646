//! The figures of service and floor beside each other.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::cli::bench::report::{Usage, column};
use crate::cli::bench::tally::{Calls, Method};

/// The report of `banqi bench floor`; docs/performance.md describes its fields.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FloorReport {
    pub(super) seed: u64,
    pub(super) in_flight: u16,
    pub(super) connections: u16,
    pub(super) window_seconds: f64,
    pub(super) interrupted: bool,
    pub(super) lines: Vec<Lines>,
}

/// What one window came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// Microseconds of the servers' processor time a call.
    service_cpu: Option<f64>,
    /// The same of their store.
    store_cpu: Option<f64>,
    /// Calls a second.
    rate: f64,
    /// The median call, and the slowest but one in a hundred, in milliseconds.
    p50: f64,
    p99: f64,
    /// Bytes of an answer, on average.
    answer: f64,
}

/// What the same window came to for both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) service: Measured,
    pub(super) floor: Measured,
}

/// What the rounds of one arrangement came to for one method.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Lines {
    arrangement: &'static str,
    method: Method,
    rounds: usize,
    service: Side,
    floor: Side,
    /// Of the processor time a call, within a round.
    cpu_ratio: Option<Spread>,
    /// Of the calls a second, within a round.
    rate_ratio: Spread,
}

/// One of both.
#[derive(Clone, Copy, Debug, Serialize)]
struct Side {
    cpu_us_per_call: Option<Spread>,
    store_cpu_us_per_call: Option<Spread>,
    calls_per_second: Spread,
    p50_ms: Spread,
    p99_ms: Spread,
    answer_bytes: Spread,
}

/// A figure over the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Spread {
    median: f64,
    least: f64,
    most: f64,
}

impl Measured {
    pub(super) fn new(calls: &Calls, service: Usage, store: Usage, took: Duration) -> Self {
        let count = calls.latencies.count() as f64;
        let percentiles = calls.latencies.percentiles();
        Self {
            service_cpu: service.cpu_us_per_call(),
            store_cpu: store.cpu_us_per_call(),
            rate: count / took.as_secs_f64(),
            p50: percentiles.map_or(f64::NAN, |percentiles| percentiles.p50),
            p99: percentiles.map_or(f64::NAN, |percentiles| percentiles.p99),
            answer: calls.answered as f64 / count,
        }
    }
}

impl Lines {
    /// Of at least one pair.
    pub(super) fn new(arrangement: &'static str, method: Method, pairs: &[Pair]) -> Self {
        let side = |of: fn(&Pair) -> &Measured| Side {
            cpu_us_per_call: Spread::of_all(pairs.iter().map(|pair| of(pair).service_cpu)),
            store_cpu_us_per_call: Spread::of_all(pairs.iter().map(|pair| of(pair).store_cpu)),
            calls_per_second: Spread::of(pairs.iter().map(|pair| of(pair).rate)),
            p50_ms: Spread::of(pairs.iter().map(|pair| of(pair).p50)),
            p99_ms: Spread::of(pairs.iter().map(|pair| of(pair).p99)),
            answer_bytes: Spread::of(pairs.iter().map(|pair| of(pair).answer)),
        };
        Self {
            arrangement,
            method,
            rounds: pairs.len(),
            service: side(|pair| &pair.service),
            floor: side(|pair| &pair.floor),
            cpu_ratio: Spread::of_all(
                pairs.iter().map(|pair| Some(pair.service.service_cpu? / pair.floor.service_cpu?)),
            ),
            rate_ratio: Spread::of(pairs.iter().map(|pair| pair.service.rate / pair.floor.rate)),
        }
    }
}

impl Spread {
    /// Of at least one figure.
    fn of(figures: impl Iterator<Item = f64>) -> Self {
        let mut figures: Vec<f64> = figures.collect();
        figures.sort_unstable_by(f64::total_cmp);
        Self {
            median: figures[figures.len() / 2],
            least: figures[0],
            most: figures[figures.len() - 1],
        }
    }

    /// `None` where a figure is missing.
    fn of_all(figures: impl Iterator<Item = Option<f64>>) -> Option<Self> {
        let figures: Option<Vec<f64>> = figures.collect();
        figures.map(|figures| Self::of(figures.into_iter()))
    }
}

impl fmt::Display for FloorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {}; {} tables on {} connections to each replica; windows of {} s{}\nMedians over \
             the rounds; the smallest and the largest in brackets.\n",
            self.seed,
            self.in_flight,
            self.connections,
            self.window_seconds,
            if self.interrupted { "; interrupted" } else { "" }
        )?;
        writeln!(
            f,
            "| replicas | call | of | µs of CPU a call | store, µs | calls/s | p50 ms | p99 ms | answer |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|")?;
        self.lines.iter().try_for_each(|lines| write!(f, "{lines}"))
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (arrangement, method) = (self.arrangement, self.method.name());
        for (name, side) in [("service", self.service), ("floor", self.floor)] {
            writeln!(
                f,
                "| {arrangement} | `{method}` | {name} | {} | {} | {:.0} | {:.2} | {:.2} | {:.0} B |",
                spread(side.cpu_us_per_call, 1),
                column(side.store_cpu_us_per_call.map(|spread| spread.median), 1, 1),
                side.calls_per_second.median,
                side.p50_ms.median,
                side.p99_ms.median,
                side.answer_bytes.median,
            )?;
        }
        writeln!(
            f,
            "| {arrangement} | `{method}` | **ratio** | **{}** | | {:.2} | | | |",
            spread(self.cpu_ratio, 2),
            self.rate_ratio.median,
        )
    }
}

/// A figure with its spread, or a dash.
fn spread(spread: Option<Spread>, digits: usize) -> String {
    match spread {
        Some(Spread { median, least, most }) => {
            format!("{median:.digits$} ({least:.digits$}–{most:.digits$})")
        }
        None => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_within_rounds() {
        let measured = |service_cpu, rate| Measured {
            service_cpu: Some(service_cpu),
            store_cpu: None,
            rate,
            p50: 1.0,
            p99: 2.0,
            answer: 600.0,
        };
        let pair = |service, floor| Pair {
            service: measured(service, 1e6 / service),
            floor: measured(floor, 1e6 / floor),
        };
        // A machine that was slower in the second round slowed both.
        let pairs = [pair(60.0, 40.0), pair(120.0, 80.0), pair(80.0, 50.0)];
        let lines = Lines::new("one", Method::PlayAction, &pairs);
        let ratio = lines.cpu_ratio.expect("figures");
        assert_eq!((ratio.median, ratio.least, ratio.most), (1.5, 1.5, 1.6));
        assert_eq!(lines.service.cpu_us_per_call.map(|cpu| cpu.median), Some(80.0));
        assert_eq!(lines.service.store_cpu_us_per_call, None);
    }
}
