//! The variables by which OpenTelemetry is configured. Its libraries pass over what they cannot
//! read, so that an operator would not learn of it.

/// A variable that cannot be read. Its value is not repeated, since it may hold credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} cannot be read: expected {expected}")]
pub struct VariableError {
    name: &'static str,
    expected: &'static str,
}

/// Those that are numbers, from 1.
const NUMBERS: [&str; 5] = [
    "OTEL_BSP_SCHEDULE_DELAY",
    "OTEL_BSP_EXPORT_TIMEOUT",
    "OTEL_BSP_MAX_QUEUE_SIZE",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
    "OTEL_BSP_MAX_CONCURRENT_EXPORTS",
];

/// Those that are lists of names with values.
const LISTS: [&str; 3] =
    ["OTEL_RESOURCE_ATTRIBUTES", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];

/// Refuses what would be passed over. `value` says what a variable is set to.
///
/// # Errors
/// The first variable that cannot be read, and what it should be.
pub fn check_variables(
    value: impl Fn(&'static str) -> Option<String>,
) -> Result<(), VariableError> {
    // An empty variable counts as one that is not set.
    let set = |name| value(name).filter(|value| !value.is_empty());
    for name in NUMBERS {
        if set(name).is_some_and(|value| !matches!(value.parse::<u64>(), Ok(1..))) {
            return Err(VariableError { name, expected: "a whole number from 1, like 5000" });
        }
    }
    let is_pair =
        |pair: &str| pair.split_once('=').is_some_and(|(name, _)| !name.trim().is_empty());
    for name in LISTS {
        if set(name).is_some_and(|list| !list.split(',').all(is_pair)) {
            return Err(VariableError { name, expected: "NAME=VALUE, and more after a comma" });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("OTEL_BSP_SCHEDULE_DELAY", "100", true)]
    #[case("OTEL_BSP_SCHEDULE_DELAY", "", true)]
    #[case("OTEL_BSP_SCHEDULE_DELAY", "soon", false)]
    #[case("OTEL_BSP_MAX_QUEUE_SIZE", "-1", false)]
    #[case("OTEL_BSP_MAX_QUEUE_SIZE", "0", false)]
    #[case("OTEL_RESOURCE_ATTRIBUTES", "a=b,c=d", true)]
    #[case("OTEL_RESOURCE_ATTRIBUTES", "a=b,c", false)]
    #[case("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret=x", true)]
    #[case("OTEL_EXPORTER_OTLP_HEADERS", "secret", false)]
    fn what_would_be_passed_over_is_refused(
        #[case] name: &'static str,
        #[case] value: &str,
        #[case] good: bool,
    ) {
        let checked = check_variables(|asked| (asked == name).then(|| value.to_owned()));
        assert_eq!(checked.is_ok(), good);
        if let Err(error) = checked {
            let told = error.to_string();
            assert!(told.contains(name) && !told.contains("secret"), "{told}");
        }
    }
}
