//! Logs: readable on a terminal, JSON otherwise; always on standard error.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// Starts logging. `filter` is a list of levels by target, as `tracing_subscriber` reads it:
/// `info` or `banqi=debug,warn`.
///
/// # Errors
/// If the filter cannot be read.
pub fn start(filter: &str) -> Result<(), ParseError> {
    let filter = EnvFilter::builder().parse(filter)?;
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    let started = if stderr().is_terminal() {
        logs.compact().with_target(false).try_init()
    } else {
        logs.json().flatten_event(true).try_init()
    };
    if started.is_err() {
        tracing::warn!("logging had been started before; the filter is not applied");
    }
    Ok(())
}
