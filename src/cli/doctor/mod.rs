//! `banqi doctor`: checks a set-up before players depend on it, or when something is wrong.

mod check;
mod environment;
mod files;
mod ports;
mod report;
mod store;
mod through;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use tonic::metadata::AsciiMetadataValue;

use self::check::Check;
use self::report::{Report, Verdict};
use self::through::{Through, Url};
use super::serve::Serve;
use crate::server::check_variables;

/// Check a set-up: takes the options of `serve`, and tells what is wrong and what to do
///
/// It changes nothing. To see what the store allows it writes a few keys of its own to Redis
/// (`banqi:{doctor-…}:…`), which it removes at once and which expire after a minute.
///
/// The exit code is 0 without faults, 1 with some (with --strict also with warnings), and 2 for a
/// command line that cannot be read.
#[derive(Args, Clone, Debug)]
pub(super) struct Doctor {
    #[command(flatten)]
    serve: Serve,

    /// Address at which clients reach the replicas, like https://banqi.example, to check as well
    #[arg(long, env = "BANQI_DOCTOR_THROUGH", value_name = "URL")]
    through: Option<Url>,

    /// File of an API key to call with, where the replicas ask for one
    #[arg(long, env = "BANQI_DOCTOR_KEY", value_name = "FILE", requires = "through")]
    key: Option<PathBuf>,

    /// File of authorities to trust instead of the system's, as PEM, for an https address
    #[arg(long, env = "BANQI_DOCTOR_CA", value_name = "FILE", requires = "through")]
    ca: Option<PathBuf>,

    /// Tell it as JSON
    #[arg(long)]
    json: bool,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub(super) enum DoctorError {
    #[error("--key {path}: {source}; name a file with an API key in it, as `banqi key` prints it")]
    Key { path: PathBuf, source: io::Error },
    #[error("input or output failed: {0}")]
    Io(#[from] io::Error),
}

impl Doctor {
    /// Checks, tells, and says by the exit code whether all is well. `known` are the variables that
    /// options have.
    pub(super) fn run(self, known: &[String]) -> Result<ExitCode, DoctorError> {
        let key = self.key.as_ref().map(read_key).transpose()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let mut report = Report::default();
        runtime.block_on(self.check(key, known, &mut report));
        let mut out = io::stdout().lock();
        report.write(&mut out, self.json)?;
        out.flush()?;
        let strict = self.serve.strict;
        let bad =
            report.count(Verdict::Fault) + if strict { report.count(Verdict::Warning) } else { 0 };
        Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    async fn check(&self, key: Option<AsciiMetadataValue>, known: &[String], report: &mut Report) {
        self.options(report);
        environment::variables(known, report);
        environment::open_files(self.serve.max_streams, report);
        files::check(&self.serve, report);
        ports::check(&self.serve, report).await;
        store::check(&self.serve, report).await;
        if let Some(url) = &self.through {
            let through = Through { url, ca: self.ca.as_deref(), key: key.as_ref() };
            through.check(report).await;
        }
        let why = if self.through.is_some() {
            "what comes before it failed"
        } else {
            "--through is not given"
        };
        report.skip_rest(Check::ThroughReached, Check::ThroughRelease, why);
    }

    fn options(&self, report: &mut Report) {
        let config = self.serve.clone().config();
        match config.check() {
            Ok(()) => report.ok(Check::Options, "the options go together"),
            Err(error) => report.fault(Check::Options, error.to_string()),
        }
        if config.traces.is_none() {
            return report.skipped(Check::Traces, "--otlp-endpoint is not given");
        }
        match check_variables(|name| std::env::var(name).ok()) {
            Ok(()) => report.ok(Check::Traces, "all that are set can be read"),
            Err(error) => report.fault(Check::Traces, error.to_string()),
        }
    }
}

fn read_key(path: &PathBuf) -> Result<AsciiMetadataValue, DoctorError> {
    let failed = |source| DoctorError::Key { path: path.clone(), source };
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let key = text.trim();
    let wrong = || failed(io::Error::new(io::ErrorKind::InvalidData, "it is no key"));
    key.parse().ok().filter(|_| !key.is_empty()).ok_or_else(wrong)
}
