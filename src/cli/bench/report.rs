//! What all reports share.

use std::fmt::{self, Display};
use std::io::{self, Write as _};
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::latencies::Percentiles;
use super::process::{Process, processor_time, resident};

/// How a measurement is run and told.
#[derive(Args, Clone, Debug)]
pub(super) struct RunOptions {
    /// What the players draw from; without it a new one, which is told
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// On how many threads the load is made
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) threads: u16,

    /// Reason of failures that are right, such as STORE_UNAVAILABLE; repeated for each
    #[arg(long, value_name = "REASON")]
    pub(super) expect: Vec<String>,

    /// Tell the figures as one JSON document, which docs/performance.md describes
    #[arg(long)]
    pub(super) json: bool,
}

impl RunOptions {
    pub(super) fn seed(&self) -> u64 {
        // JSON's numbers are exact to 53 bits in most hands.
        self.seed.unwrap_or_else(|| u64::from(rand::random::<u32>()))
    }
}

/// Prints a report on standard output.
pub(super) fn print<R: Serialize + Display>(report: &R, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, report)?;
        writeln!(out)?;
    } else {
        write!(out, "{report}")?;
    }
    out.flush()
}

/// What processes use.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Usage {
    processes: usize,
    /// Microseconds of processor time a call, in user and system mode.
    cpu_us_per_call: Option<f64>,
    /// How much of them is in memory, in bytes.
    resident_bytes: Option<u64>,
}

/// Processes whose use is measured.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    processes: Vec<Process>,
    before: Option<Duration>,
}

impl Meter {
    /// Begins.
    pub(super) fn start(processes: &[Process]) -> Self {
        Self { processes: processes.to_vec(), before: processor_time(processes) }
    }

    /// What was used since, for so many calls.
    pub(super) fn read(&self, calls: u64) -> Usage {
        let spent = self.before.and_then(|before| {
            // A thread that has ended takes its time along.
            Some(processor_time(&self.processes)?.saturating_sub(before))
        });
        Usage {
            processes: self.processes.len(),
            cpu_us_per_call: spent
                .filter(|_| calls > 0)
                .map(|spent| spent.as_secs_f64() * 1e6 / calls as f64),
            resident_bytes: resident(&self.processes),
        }
    }
}

impl Usage {
    pub(super) fn cpu_us_per_call(&self) -> Option<f64> {
        self.cpu_us_per_call
    }

    pub(super) fn resident_bytes(&self) -> Option<u64> {
        self.resident_bytes
    }
}

/// A figure in its column, or a dash.
pub(super) fn column(figure: Option<f64>, width: usize, digits: usize) -> String {
    match figure {
        Some(figure) => format!("{figure:>width$.digits$}"),
        None => format!("{:>width$}", "-"),
    }
}

/// Bytes as MiB.
pub(super) fn mebibytes(bytes: Option<u64>) -> Option<f64> {
    bytes.map(|bytes| bytes as f64 / f64::from(1 << 20))
}

/// The headings of [`percentile_columns`].
pub(super) const PERCENTILE_HEADINGS: &str = "   p50 ms    p90 ms    p99 ms  p99.9 ms    max ms";

/// Percentiles in their columns.
pub(super) fn percentile_columns(percentiles: Option<Percentiles>) -> String {
    let of = |figure: fn(Percentiles) -> f64| column(percentiles.map(figure), 9, 2);
    [of(|p| p.p50), of(|p| p.p90), of(|p| p.p99), of(|p| p.p99_9), of(|p| p.max)].join(" ")
}

/// Rows about processes.
pub(super) fn usage_rows(f: &mut fmt::Formatter<'_>, rows: &[(&str, Usage)]) -> fmt::Result {
    writeln!(f, "\nprocesses           count  µs of CPU a call  resident MiB")?;
    for (name, usage) in rows {
        writeln!(
            f,
            "{name:<18} {:>6} {} {}",
            usage.processes,
            column(usage.cpu_us_per_call, 17, 1),
            column(mebibytes(usage.resident_bytes), 13, 1),
        )?;
    }
    Ok(())
}
