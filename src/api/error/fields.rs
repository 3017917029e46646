//! Malformed fields, gathered so that a refusal names them all.

use std::fmt::Display;

use tonic_types::FieldViolation;

use super::{ApiError, Reason};

/// How many bytes of field names and descriptions one refusal tells. Details travel in a header,
/// and clients built on gRPC core drop a call with more than 8 KiB of those.
const BUDGET: usize = 4096;

/// How much of a description is told at its start and at its end. What is long in one is the
/// caller's own text, which stands first; what would be right stands last.
const START: usize = 120;
const END: usize = 240;

/// The malformed fields of a request.
#[derive(Debug, Default)]
pub struct FieldFaults {
    told: Vec<FieldViolation>,
    size: usize,
    left_out: usize,
}

impl FieldFaults {
    /// Notes that a field is malformed. `field` is its path: `rules.ladder`, `actions[3]`.
    pub fn add(&mut self, field: impl Into<String>, description: impl Display) {
        let violation = FieldViolation::new(field, excerpt(&description.to_string()));
        let size = violation.field.len() + violation.description.len();
        // The first is always told, and the order kept: one that does not fit shuts out the rest.
        if self.left_out > 0 || (!self.told.is_empty() && self.size + size > BUDGET) {
            self.left_out += 1;
        } else {
            self.size += size;
            self.told.push(violation);
        }
    }

    /// What was read, or `None` with the fault noted.
    pub fn check<T>(&mut self, field: &str, read: Result<T, impl Display>) -> Option<T> {
        read.map_err(|fault| self.add(field, fault)).ok()
    }

    /// How many were noted.
    pub fn count(&self) -> usize {
        self.told.len() + self.left_out
    }

    /// The refusal that names them all, as far as a header can hold them; metadata `left_out`
    /// counts those beyond.
    pub fn into_error(self) -> ApiError {
        let message = match self.told.first() {
            Some(first) if self.count() == 1 => {
                format!("{}: {}", first.field, first.description)
            }
            Some(first) => format!(
                "{} fields are malformed; the first is {}: {}",
                self.count(),
                first.field,
                first.description
            ),
            None => "the request is malformed".to_owned(),
        };
        let error = ApiError::new(Reason::InvalidFields, message).with_detail(|details| {
            details.set_bad_request(self.told);
        });
        if self.left_out > 0 { error.with_metadata("left_out", self.left_out) } else { error }
    }
}

/// The text, shortened in its middle where it is long.
fn excerpt(text: &str) -> String {
    let length = text.chars().count();
    if length <= START + END {
        return text.to_owned();
    }
    let start: String = text.chars().take(START).collect();
    let end: String = text.chars().skip(length - END).collect();
    format!("{start} … {end}")
}

#[cfg(test)]
mod tests {
    use tonic::Status;
    use tonic_types::StatusExt as _;

    use super::*;

    #[test]
    fn every_fault_is_named_at_once() {
        let mut faults = FieldFaults::default();
        faults.add("preset", "wrong");
        faults.add("rules.seats", "odd");
        let details = Status::from(faults.into_error()).get_error_details();
        let named: Vec<_> = details
            .bad_request()
            .expect("a BadRequest")
            .field_violations
            .iter()
            .map(|violation| violation.field.as_str())
            .collect();
        assert_eq!(named, ["preset", "rules.seats"]);
    }

    #[test]
    fn a_refusal_fits_into_the_headers_that_clients_take() {
        let mut faults = FieldFaults::default();
        for index in 0..100_000 {
            faults.add(format!("actions[{index}]"), "x".repeat(1000));
        }
        let status = Status::from(faults.into_error());
        // Base64 adds a third.
        assert!(status.details().len() * 4 / 3 + status.message().len() < 8 * 1024);
        let details = status.get_error_details();
        let told = details.bad_request().expect("a BadRequest").field_violations.len();
        let left_out = &details.error_info().expect("an ErrorInfo").metadata["left_out"];
        assert_eq!(told + left_out.parse::<usize>().expect("a number"), 100_000);
    }

    #[test]
    fn a_long_description_keeps_its_start_and_its_end() {
        let text = format!("`{}` is no action: write `b3`", "é".repeat(5000));
        let short = excerpt(&text);
        assert!(short.starts_with("`é") && short.ends_with("write `b3`"), "{short}");
        assert!(short.chars().count() <= START + END + 3);
    }
}
