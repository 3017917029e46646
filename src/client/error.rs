//! What calls fail with.

use std::collections::HashMap;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt as _;

/// A call that failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// The code of gRPC.
    pub code: Code,
    /// Why, as `docs/errors.md` lists it, to be compared: `NOT_YOUR_TURN`. Empty where it comes from no
    /// service of banqi.
    pub reason: String,
    /// Why, for people.
    pub message: String,
    /// What goes with the reason, like `game_id`, or `etag` and `revision`.
    pub metadata: HashMap<String, String>,
    /// Every field that is wrong, with `INVALID_FIELDS`.
    pub violations: Vec<Violation>,
    /// In what time to come back, where the service says so.
    pub retry_delay: Option<Duration>,
}

/// A field of a request that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its path.
    pub field: String,
    /// What is wrong with it, and what would be right.
    pub description: String,
}

impl From<Status> for CallError {
    fn from(status: Status) -> Self {
        let details = status.get_error_details();
        let info = details.error_info().filter(|info| info.domain == "banqi");
        let violations = details.bad_request().into_iter().flat_map(|bad| &bad.field_violations);
        Self {
            code: status.code(),
            reason: info.map(|info| info.reason.clone()).unwrap_or_default(),
            message: status.message().to_owned(),
            metadata: info.map(|info| info.metadata.clone()).unwrap_or_default(),
            violations: violations
                .map(|violation| Violation {
                    field: violation.field.clone(),
                    description: violation.description.clone(),
                })
                .collect(),
            retry_delay: details.retry_info().and_then(|info| info.retry_delay),
        }
    }
}

impl CallError {
    /// Whether the same request may do better after a while: it has one effect, however often it is
    /// sent.
    pub fn is_transient(&self) -> bool {
        match self.code {
            Code::Unavailable | Code::DeadlineExceeded => true,
            Code::ResourceExhausted => self.retry_delay.is_some(),
            Code::Aborted => self.reason == "CONTENTION",
            // What a balancer makes of half an answer, where the service has said nothing itself.
            Code::Internal | Code::Unknown | Code::Cancelled => self.reason.is_empty(),
            _ => false,
        }
    }
}
