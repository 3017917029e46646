//! Logs: readable on a terminal, JSON otherwise; always on standard error.

use std::fmt;
use std::io::{IsTerminal as _, stderr};

use opentelemetry::Context;
use opentelemetry::trace::TraceContextExt as _;
use tracing::{Event, Subscriber};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{LevelFilter, ParseError};
use tracing_subscriber::fmt::format::{Format, Json, JsonFields, Writer, format};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// How many lines may wait to be written. Those over that are lost: whoever reads the log slowly, or
/// not at all, must not hold up calls.
const WAITING_LINES: usize = 16_384;

/// What is logged is written for as long as this is there; then what waits is, for a second at most.
#[derive(Debug)]
#[must_use = "nothing more is logged once it is dropped"]
pub struct Logging(#[expect(dead_code, reason = "it is there to be dropped")] WorkerGuard);

/// A filter that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// It is not of the form that it should be.
    #[error(transparent)]
    Malformed(#[from] ParseError),
    /// A word that is no level. It would stand for a target of this name, of which there is none.
    #[error("`{0}` is no level: expected off, error, warn, info, debug or trace")]
    NoLevel(String),
}

/// Reads a filter.
fn read(filter: &str) -> Result<EnvFilter, FilterError> {
    let mut words = filter.split(',').map(str::trim).filter(|word| !word.is_empty());
    let is_level = |word: &str| word.parse::<LevelFilter>().is_ok();
    // What stands in brackets are spans, and may have commas in it.
    if !filter.contains('[')
        && let Some(word) = words.find(|word| !word.contains('=') && !is_level(word))
    {
        return Err(FilterError::NoLevel(word.to_owned()));
    }
    Ok(EnvFilter::builder().parse(filter)?)
}

/// Starts logging. `filter` is a list of levels by target, as `tracing_subscriber` reads it:
/// `info` or `banqi=debug,warn`.
///
/// # Errors
/// If the filter cannot be read.
pub fn start(filter: &str) -> Result<Logging, FilterError> {
    let filter = read(filter)?;
    let lines = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(WAITING_LINES)
        .thread_name("log");
    let (writer, guard) = lines.finish(stderr());
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        // Where the log cannot be written there is nobody to be told, least of all by a panic.
        .log_internal_errors(false);
    let started = if stderr().is_terminal() {
        logs.compact().with_target(false).try_init()
    } else {
        let lines = WithTraceId(format().json().flatten_event(true));
        logs.fmt_fields(JsonFields::new()).event_format(lines).try_init()
    };
    if started.is_err() {
        tracing::warn!("logging had been started before; the filter is not applied");
    }
    Ok(Logging(guard))
}

/// Lines of JSON, which have a `trace_id` where what is logged happened in a call that is traced.
struct WithTraceId(Format<Json>);

impl<S, N> FormatEvent<S, N> for WithTraceId
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let trace = Context::map_current(|context| {
            let span = context.span();
            let context = span.span_context();
            context.is_sampled().then(|| context.trace_id())
        });
        let Some(trace) = trace else { return self.0.format_event(context, writer, event) };
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        match line.trim_end().strip_suffix('}') {
            Some(fields) => writeln!(writer, "{fields},\"trace_id\":\"{trace}\"}}"),
            None => writer.write_str(&line),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("info", true)]
    #[case("banqi=debug,warn", true)]
    #[case("info,tower_http=debug", true)]
    #[case("banqi[call]=debug", true)]
    #[case("", true)]
    #[case("bogus", false)]
    #[case("info,warning", false)]
    #[case("banqi=bogus", false)]
    fn a_filter_is_of_levels(#[case] filter: &str, #[case] good: bool) {
        assert_eq!(read(filter).is_ok(), good);
    }
}
