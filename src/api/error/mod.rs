//! How calls are refused: always a reason of one catalogue, and the detail that fits.

mod complete;
mod fields;
mod reason;
mod refusal;
mod store;

use std::collections::HashMap;

use tonic::Status;
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::game::GameId;

pub use complete::complete;
pub use fields::FieldFaults;
pub use reason::{Reason, code_name};

/// The domain of every `google.rpc.ErrorInfo` that the service sends.
pub const DOMAIN: &str = "banqi";

/// A refused call: its reason, a sentence for people, and details for programs.
#[derive(Clone, Debug)]
pub struct ApiError {
    reason: Reason,
    message: String,
    metadata: HashMap<String, String>,
    // Large, and a refusal travels through many results.
    details: Box<ErrorDetails>,
}

impl ApiError {
    /// An error with no more than its reason and a sentence.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            metadata: HashMap::new(),
            details: Box::new(ErrorDetails::new()),
        }
    }

    /// Adds an entry to the metadata of `ErrorInfo`.
    #[must_use]
    pub fn with_metadata(mut self, key: &str, value: impl ToString) -> Self {
        self.metadata.insert(key.to_owned(), value.to_string());
        self
    }

    /// Adds something else that the caller can do to the sentence.
    #[must_use]
    pub fn with_advice(mut self, advice: &str) -> Self {
        self.message += ", ";
        self.message += advice;
        self
    }

    /// Names the game that the error is about, for calls that ask for several.
    #[must_use]
    pub fn about(self, game: &GameId) -> Self {
        self.with_metadata("game_id", game)
    }

    /// Adds what `add` sets, beside `ErrorInfo`: a `BadRequest`, a `RetryInfo`, ….
    #[must_use]
    pub fn with_detail(mut self, add: impl FnOnce(&mut ErrorDetails)) -> Self {
        add(&mut self.details);
        self
    }

    /// A fault of the service, of which the caller learns no more.
    pub fn fault() -> Self {
        Self::new(Reason::Internal, "a fault of the service; its log has more")
    }

    /// Why the call was refused.
    pub fn reason(&self) -> Reason {
        self.reason
    }
}

impl From<ApiError> for Status {
    fn from(error: ApiError) -> Self {
        let ApiError { reason, message, metadata, mut details } = error;
        details.set_error_info(reason.name(), DOMAIN, metadata);
        Self::with_error_details(reason.code(), message, *details)
    }
}
