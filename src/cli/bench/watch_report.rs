//! What many watches came to.

use std::fmt;

use serde::Serialize;

use super::latencies::Percentiles;
use super::load_report::{EventReport, FailureRows};
use super::report::{PERCENTILE_HEADINGS, column, mebibytes, percentile_columns};

/// The report of `banqi bench watch`; docs/performance.md describes its fields.
#[derive(Clone, Debug, Serialize)]
pub(super) struct WatchReport {
    pub(super) seed: u64,
    pub(super) replicas: usize,
    pub(super) watchers: usize,
    pub(super) games: u16,
    pub(super) connections: usize,
    pub(super) opening_seconds: f64,
    pub(super) memory: Option<Memory>,
    pub(super) actions: u64,
    pub(super) reached_all_ms: Option<Percentiles>,
    pub(super) events: EventReport,
}

/// What the service's processes took for the watches.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Memory {
    resident_bytes_before: u64,
    resident_bytes_after: u64,
    bytes_per_watch: f64,
}

impl Memory {
    pub(super) fn new(before: u64, after: u64, watchers: usize) -> Self {
        Self {
            resident_bytes_before: before,
            resident_bytes_after: after,
            bytes_per_watch: (after as f64 - before as f64) / watchers as f64,
        }
    }
}

impl fmt::Display for WatchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {}; {} watchers of {} games on {} connections to {} replicas, open in {:.1} s",
            self.seed,
            self.watchers,
            self.games,
            self.connections,
            self.replicas,
            self.opening_seconds
        )?;
        if let Some(memory) = &self.memory {
            let [before, after] = [memory.resident_bytes_before, memory.resident_bytes_after]
                .map(|bytes| column(mebibytes(Some(bytes)), 1, 1));
            writeln!(
                f,
                "resident memory of the service: {before} MiB, then {after} MiB: {:.0} bytes a watch",
                memory.bytes_per_watch
            )?;
        }
        writeln!(f, "\nfrom the call        actions {PERCENTILE_HEADINGS}")?;
        let percentiles = percentile_columns(self.reached_all_ms);
        writeln!(f, "{:<14} {:>12} {percentiles}", "to all", self.actions)?;
        write!(f, "{}", self.events)?;
        write!(f, "{}", FailureRows(vec![("WatchGame", &self.events.failures)]))
    }
}
