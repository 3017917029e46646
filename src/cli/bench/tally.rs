//! What calls came to.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use tonic::Status;
use tonic_types::StatusExt as _;

use super::latencies::Latencies;
use crate::api::error::code_name;

/// A call that a load makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Method {
    CreateGame,
    PlayAction,
    GetGame,
    ResignGame,
}

impl Method {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::CreateGame => "CreateGame",
            Self::PlayAction => "PlayAction",
            Self::GetGame => "GetGame",
            Self::ResignGame => "ResignGame",
        }
    }
}

/// How many calls failed, by reason.
pub(super) type Failures = BTreeMap<String, u64>;

/// The calls of one method.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    /// How long those took that were answered.
    pub(super) latencies: Latencies,
    /// How many bytes their answers had in all.
    pub(super) answered: u64,
    /// The others.
    pub(super) failures: Failures,
}

/// The calls of all methods.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) methods: BTreeMap<Method, Calls>,
}

impl Tally {
    /// Counts a call: how many bytes its answer had, or how it failed.
    pub(super) fn count(&mut self, method: Method, took: Duration, answer: &Result<usize, Status>) {
        let calls = self.methods.entry(method).or_default();
        match answer {
            Ok(bytes) => {
                calls.latencies.record(took);
                calls.answered += *bytes as u64;
            }
            Err(status) => *calls.failures.entry(reason(status)).or_default() += 1,
        }
    }

    /// Takes over how calls failed, and nothing else.
    pub(super) fn add_failures(&mut self, other: &Self) {
        for (&method, calls) in &other.methods {
            for (reason, count) in &calls.failures {
                let failures = &mut self.methods.entry(method).or_default().failures;
                *failures.entry(reason.clone()).or_default() += count;
            }
        }
    }

    /// How many calls were answered.
    pub(super) fn answered(&self) -> u64 {
        self.methods.values().map(|calls| calls.latencies.count()).sum()
    }

    /// How many failed.
    pub(super) fn failed(&self) -> u64 {
        self.methods.values().flat_map(|calls| calls.failures.values()).sum()
    }
}

/// Why a call failed: the reason that the service told (docs/errors.md), or else the code.
pub(super) fn reason(status: &Status) -> String {
    match status.get_details_error_info() {
        Some(info) => info.reason,
        None => code_name(status.code()).to_owned(),
    }
}

/// Those failures of a kind that nobody expects, as `PlayAction CONTENTION: 3`.
pub(super) fn unexpected<'a>(
    failures: impl IntoIterator<Item = (&'a str, &'a Failures)>,
    expected: &[String],
) -> Vec<String> {
    let mut told = Vec::new();
    for (of, failures) in failures {
        for (reason, count) in failures {
            if !expected.contains(reason) {
                told.push(format!("{of} {reason}: {count}"));
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_without_a_reason_is_counted_by_its_code() {
        assert_eq!(reason(&Status::deadline_exceeded("late")), "DEADLINE_EXCEEDED");
        assert_eq!(reason(&Status::unavailable("away")), "UNAVAILABLE");
    }

    #[test]
    fn answers_and_failures_are_counted_apart() {
        let mut tally = Tally::default();
        tally.count(Method::PlayAction, Duration::from_millis(2), &Ok(100));
        tally.count(Method::PlayAction, Duration::from_secs(9), &Err(Status::internal("broken")));
        assert_eq!((tally.answered(), tally.failed()), (1, 1));
        let calls = &tally.methods[&Method::PlayAction];
        let percentiles = calls.latencies.percentiles().expect("one was recorded");
        assert!((percentiles.max - 2.0).abs() < 0.01, "a failure is no latency: {percentiles:?}");
        let failures = [("PlayAction", &calls.failures)];
        assert_eq!(unexpected(failures, &[]), ["PlayAction INTERNAL: 1"]);
        assert!(unexpected(failures, &["INTERNAL".to_owned()]).is_empty());
    }
}
