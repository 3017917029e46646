//! Calls that the service refused, told to whoever typed a command.

use crate::client::CallError;

/// An option of a command line, and the field of a request that it fills.
pub(super) struct Fills {
    /// The field's own name, without where it stands.
    pub(super) field: &'static str,
    /// The option, as it is typed.
    pub(super) option: &'static str,
}

/// What is said of a refusal. A field that an option fills is told by the name that was typed.
pub(super) fn told(error: &CallError, options: &[Fills]) -> String {
    let typed = |field: &str| {
        let own = field.rsplit('.').next().unwrap_or(field);
        let option = options.iter().find(|option| option.field == own);
        option.map_or_else(|| field.to_owned(), |option| option.option.to_owned())
    };
    let faults: Vec<String> = error
        .violations
        .iter()
        .map(|fault| format!("{}: {}", typed(&fault.field), fault.description))
        .collect();
    if faults.is_empty() { error.message.clone() } else { faults.join("\n") }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;
    use crate::client::Violation;

    #[test]
    fn fields_have_the_names_of_their_options() {
        let fault =
            |field: &str| Violation { field: field.to_owned(), description: "no".to_owned() };
        let error = CallError {
            code: Code::InvalidArgument,
            reason: "INVALID_FIELDS".to_owned(),
            message: "3 fields are malformed".to_owned(),
            metadata: Default::default(),
            violations: ["preset", "seats[1].player_id", "labels"].map(fault).to_vec(),
            retry_delay: None,
        };
        let options = [
            Fills { field: "preset", option: "--preset" },
            Fills { field: "player_id", option: "--name" },
        ];
        assert_eq!(told(&error, &options), "--preset: no\n--name: no\nlabels: no");
        assert_eq!(
            told(&CallError { violations: Vec::new(), ..error }, &options),
            "3 fields are malformed"
        );
    }
}
