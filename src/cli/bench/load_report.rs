//! What a load came to.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::events::EventTally;
use super::latencies::Percentiles;
use super::report::{PERCENTILE_HEADINGS, Usage, percentile_columns, usage_rows};
use super::tally::{Failures, Tally};

/// The report of `banqi bench load`; docs/performance.md describes its fields.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LoadReport {
    pub(super) seed: u64,
    pub(super) replicas: usize,
    pub(super) in_flight: u16,
    pub(super) connections: u16,
    pub(super) routing: &'static str,
    pub(super) mix: String,
    pub(super) rate: Option<f64>,
    pub(super) warm_up_seconds: f64,
    pub(super) seconds: f64,
    pub(super) interrupted: bool,
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) calls_per_second: f64,
    pub(super) not_begun: u64,
    pub(super) methods: BTreeMap<&'static str, MethodReport>,
    pub(super) watch: Option<EventReport>,
    pub(super) service: Usage,
    pub(super) store: Usage,
    pub(super) generator: Usage,
}

/// The calls of one method.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MethodReport {
    calls: u64,
    calls_per_second: f64,
    answer_bytes: Option<f64>,
    latency_ms: Option<Percentiles>,
    pub(super) failures: Failures,
}

/// The events that watchers saw.
#[derive(Clone, Debug, Serialize)]
pub(super) struct EventReport {
    watchers: usize,
    events: u64,
    pub(super) undelivered: u64,
    resumed: u64,
    after_answer_ms: Option<Percentiles>,
    after_call_ms: Option<Percentiles>,
    pub(super) failures: Failures,
}

/// What each method came to in so long.
pub(super) fn method_reports(
    tally: &Tally,
    counted_for: Duration,
) -> BTreeMap<&'static str, MethodReport> {
    let report = |calls: &super::tally::Calls| {
        let count = calls.latencies.count();
        MethodReport {
            calls: count,
            calls_per_second: count as f64 / counted_for.as_secs_f64(),
            answer_bytes: (count > 0).then(|| calls.answered as f64 / count as f64),
            latency_ms: calls.latencies.percentiles(),
            failures: calls.failures.clone(),
        }
    };
    tally.methods.iter().map(|(method, calls)| (method.name(), report(calls))).collect()
}

impl EventReport {
    pub(super) fn new(watchers: usize, tally: &EventTally, undelivered: u64) -> Self {
        Self {
            watchers,
            events: tally.after_call.count(),
            undelivered,
            resumed: tally.resumed,
            after_answer_ms: tally.after_answer.percentiles(),
            after_call_ms: tally.after_call.percentiles(),
            failures: tally.failures.clone(),
        }
    }
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loop_of = match self.rate {
            Some(rate) => format!("{rate} calls a second"),
            None => "closed loop".to_owned(),
        };
        writeln!(
            f,
            "seed {}; {} tables on {} connections to each of {} replicas, {}; {}; {}; {:.1} s \
             after {:.1} s{}",
            self.seed,
            self.in_flight,
            self.connections,
            self.replicas,
            self.routing,
            self.mix,
            loop_of,
            self.seconds,
            self.warm_up_seconds,
            if self.interrupted { ", interrupted" } else { "" },
        )?;
        writeln!(f, "\ncall                calls   calls/s {PERCENTILE_HEADINGS}")?;
        for (name, calls) in &self.methods {
            let percentiles = percentile_columns(calls.latency_ms);
            writeln!(
                f,
                "{name:<14} {:>10} {:>9.0} {percentiles}",
                calls.calls, calls.calls_per_second
            )?;
        }
        writeln!(f, "{:<14} {:>10} {:>9.0}", "all", self.calls, self.calls_per_second)?;
        if self.not_begun > 0 {
            writeln!(f, "{} more calls were to begin, and no table was free", self.not_begun)?;
        }
        if let Some(watch) = &self.watch {
            write!(f, "{watch}")?;
        }
        let rows = [("service", self.service), ("store", self.store), ("load", self.generator)];
        usage_rows(f, &rows)?;
        let calls = self.methods.iter().map(|(&name, calls)| (name, &calls.failures));
        let watches = self.watch.iter().map(|watch| ("WatchGame", &watch.failures));
        write!(f, "{}", FailureRows(calls.chain(watches).collect()))
    }
}

impl fmt::Display for EventReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{} watchers        events {PERCENTILE_HEADINGS}", self.watchers)?;
        for (name, times) in
            [("after answer", self.after_answer_ms), ("after call", self.after_call_ms)]
        {
            writeln!(f, "{name:<14} {:>10} {}", self.events, percentile_columns(times))?;
        }
        writeln!(f, "undelivered {}, streams resumed {}", self.undelivered, self.resumed)
    }
}

/// How calls failed, each reason on a line.
pub(super) struct FailureRows<'a>(pub(super) Vec<(&'a str, &'a Failures)>);

impl fmt::Display for FailureRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.iter().all(|(_, failures)| failures.is_empty()) {
            return writeln!(f, "\nno call failed");
        }
        writeln!(f, "\nfailures")?;
        for (name, failures) in &self.0 {
            for (reason, count) in *failures {
                writeln!(f, "{name:<14} {reason:<24} {count:>9}")?;
            }
        }
        Ok(())
    }
}
