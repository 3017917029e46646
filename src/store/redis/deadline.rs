//! Until when a call waits.

use std::time::Duration;

use tokio::time::Instant;

use crate::store::StoreError;

/// The moment at which a call gives up, and how long that was from its beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    at: Instant,
    span: Duration,
}

impl Deadline {
    pub(super) fn after(span: Duration) -> Self {
        Self { at: Instant::now() + span, span }
    }

    pub(super) fn at(self) -> Instant {
        self.at
    }

    /// The moment after a while from now on, and no later than this.
    pub(super) fn within(self, span: Duration) -> Instant {
        self.at.min(Instant::now() + span)
    }

    pub(super) fn has_passed(self) -> bool {
        Instant::now() >= self.at
    }

    pub(super) fn no_connection(self) -> StoreError {
        StoreError::no_connection(self.span)
    }

    pub(super) fn no_confirmation(self) -> StoreError {
        StoreError::not_applied(format_args!(
            "nobody has confirmed within {:?} which server is the one to ask",
            self.span
        ))
    }

    pub(super) fn no_answer(self) -> StoreError {
        StoreError::no_answer(self.span)
    }
}
