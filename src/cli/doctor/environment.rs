//! What the process is started with besides its options.

use std::num::NonZeroU32;

use super::check::Check;
use super::report::Report;

/// What our variables begin with.
const PREFIX: &str = "BANQI_";

/// How many calls and streams one connection may have open.
const STREAMS_PER_CONNECTION: u32 = 1024;

/// How many files the process opens besides connections of callers: the store's, the log, its own.
const OTHER_FILES: u64 = 128;

/// How alike two names must be for one to be a misspelling of the other, from 0 to 1.
const ALIKE: f64 = 0.7;

/// Finds variables that no option knows. `known` are those that one does.
pub(super) fn variables(known: &[String], report: &mut Report) {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let mut unknown: Vec<String> =
        names.filter(|name| !known.contains(name) && is_for_options(name)).collect();
    unknown.sort_unstable();
    if unknown.is_empty() {
        return report.ok(Check::Variables, "every variable BANQI_… is an option's");
    }
    let told: Vec<String> = unknown.iter().map(|name| suggest(name, known)).collect();
    report.warning(Check::Variables, format!("no option knows {}", told.join(", ")));
}

/// Whether a variable looks like an option's: not those of the balancer in `deploy/`, nor those
/// that Kubernetes sets for a Service `banqi` or `banqi-…`.
fn is_for_options(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let of_balancer = rest == "BALANCER" || rest.starts_with(|it: char| it.is_ascii_digit());
    let of_service = ["SERVICE_HOST", "SERVICE_PORT", "PORT"].iter().any(|part| {
        let at = |rest: &str| rest == *part || rest.starts_with(&format!("{part}_"));
        at(rest) || rest.match_indices('_').any(|(place, _)| at(&rest[place + 1..]))
    });
    !of_balancer && !of_service
}

/// A variable with the one that it is likely to mean, or with what to do.
fn suggest(name: &str, known: &[String]) -> String {
    let nearest = known
        .iter()
        .map(|known| (strsim::jaro_winkler(&name[PREFIX.len()..], &known[PREFIX.len()..]), known))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((alike, known)) if alike >= ALIKE => format!("{name}: write {known}, or unset it"),
        _ => format!("{name}: unset it"),
    }
}

/// Compares how many files may be open with how many connections may come.
#[cfg(target_os = "linux")]
pub(super) fn open_files(streams: NonZeroU32, report: &mut Report) {
    use procfs::process::{LimitValue, Process};

    let limits = Process::myself().and_then(|process| process.limits());
    let most = match limits.map(|limits| limits.max_open_files.soft_limit) {
        Ok(LimitValue::Value(most)) => most,
        Ok(LimitValue::Unlimited) => return report.ok(Check::OpenFiles, "without a limit"),
        Err(error) => {
            return report.skipped(Check::OpenFiles, format!("the system does not tell: {error}"));
        }
    };
    let connections = streams.get().div_ceil(STREAMS_PER_CONNECTION);
    let least = u64::from(connections) + OTHER_FILES;
    if most < least {
        let text = format!(
            "{most} files may be open, and the {streams} streams of --max-streams take {least} at \
             least: raise `ulimit -n`"
        );
        return report.warning(Check::OpenFiles, text);
    }
    report.ok(
        Check::OpenFiles,
        format!(
            "{most} files may be open, and so about as many connections of callers, each of up to \
             {STREAMS_PER_CONNECTION} calls and streams"
        ),
    );
}

/// The system does not tell.
#[cfg(not(target_os = "linux"))]
pub(super) fn open_files(_: NonZeroU32, report: &mut Report) {
    report.skipped(Check::OpenFiles, "this system does not tell: look at `ulimit -n`");
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("BANQI_SOTRE", true)]
    #[case("BANQI_SERVICE_KEI", true)]
    #[case("BANQI_REPORT", true)]
    #[case("BANQI_1_PROBES", false)]
    #[case("BANQI_BALANCER", false)]
    #[case("BANQI_SERVICE_HOST", false)]
    #[case("BANQI_SERVICE_PORT_GRPC", false)]
    #[case("BANQI_PORT_50051_TCP_ADDR", false)]
    #[case("BANQI_REPLICAS_SERVICE_PORT", false)]
    #[case("HOME", false)]
    fn variables_of_others_are_left_alone(#[case] name: &str, #[case] ours: bool) {
        assert_eq!(is_for_options(name), ours);
    }

    #[test]
    fn the_nearest_variable_is_suggested() {
        let known = ["BANQI_STORE", "BANQI_LISTEN"].map(str::to_owned);
        assert!(suggest("BANQI_SOTRE", &known).contains("write BANQI_STORE"));
        assert!(suggest("BANQI_QUX", &known).ends_with("unset it"));
    }
}
