//! What errors mean.

use redis::{ErrorKind, RedisError};

use super::remedy::told;
use crate::store::{Misconfiguration, StoreError};

/// Why a server did not do what it was told.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It was never told: there is no connection.
    NotSent(StoreError),
    /// It refused, or answered with an error.
    Refused(RedisError),
    /// It was told, and what came of it is not known.
    Unknown(StoreError),
}

impl Trouble {
    /// The same, for another command that went with this one.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::NotSent(error) => Self::NotSent(error.clone()),
            Self::Refused(error) => Self::Refused(error.clone()),
            Self::Unknown(error) => Self::Unknown(error.clone()),
        }
    }
}

impl From<Trouble> for StoreError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::NotSent(error) | Trouble::Unknown(error) => error,
            Trouble::Refused(error) => failure(&error),
        }
    }
}

/// Whether the server refuses us, which waiting does not change.
pub(super) fn is_refusal(error: &RedisError) -> bool {
    error.kind() == ErrorKind::AuthenticationFailed
        || matches!(error.code(), Some("NOAUTH" | "WRONGPASS" | "NOPERM"))
}

/// What an error of a command that was sent means.
pub(super) fn failure(error: &RedisError) -> StoreError {
    if error.code() == Some("NOPERM") {
        return Misconfiguration::RightsMissing { reason: told(error) }.into();
    }
    if is_refusal(error) {
        return Misconfiguration::AccessDenied { reason: told(error) }.into();
    }
    match error.code() {
        // The server says so before it begins with a script.
        Some(
            "ASK" | "BUSY" | "CLUSTERDOWN" | "LOADING" | "MASTERDOWN" | "MISCONF" | "MOVED"
            | "NOREPLICAS" | "NOSCRIPT" | "OOM" | "READONLY" | "TRYAGAIN",
        ) => StoreError::not_applied(told(error)),
        Some(_) => StoreError::Unintelligible(told(error)),
        None if matches!(error.kind(), ErrorKind::Parse | ErrorKind::UnexpectedReturnType) => {
            StoreError::Unintelligible(told(error))
        }
        None => StoreError::unknown(told(error)),
    }
}
