//! What the store and the stored record can refuse, told as reasons. The log has what callers are
//! not told.

use std::time::Duration;

use super::{ApiError, Reason};
use crate::game::{Contradiction, Game, GameId, Revision};
use crate::store::StoreError;
use crate::store::codec::CodecError;

/// How long a caller should wait before it asks a store again that was away.
const RETRY_DELAY: Duration = Duration::from_millis(250);

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::of_store(None, &error)
    }
}

impl ApiError {
    /// A call of the store about one game failed.
    pub(crate) fn store_failed(game: &GameId, error: &StoreError) -> Self {
        Self::of_store(Some(game), error).about(game)
    }

    fn of_store(game: Option<&GameId>, error: &StoreError) -> Self {
        let game = game.map(tracing::field::display);
        match error {
            StoreError::Unavailable { .. } => {
                tracing::warn!(game, %error, "the store is unavailable");
            }
            _ => tracing::error!(game, %error, "the store failed"),
        }
        match error {
            StoreError::Corrupt(_) => {
                Self::new(Reason::RecordBroken, "the stored record is no record of a game")
            }
            _ => Self::store_away(),
        }
    }

    /// The store did not answer.
    pub(crate) fn store_away() -> Self {
        Self::new(
            Reason::StoreUnavailable,
            "the store is away or did not answer in time: repeat the call with the same request_id",
        )
        .to_be_retried_after(RETRY_DELAY)
    }

    /// The stored record cannot be read.
    pub(crate) fn unreadable(game: &GameId, error: &CodecError) -> Self {
        tracing::error!(%game, %error, "a stored record cannot be read");
        let error = if error.is_newer() {
            Self::new(
                Reason::RecordNewer,
                "a newer release wrote this game, and this replica does not read its format yet",
            )
        } else if matches!(error, CodecError::UnknownSealKey { .. }) {
            Self::new(
                Reason::RecordSealed,
                "the stored record of this game is sealed with a key that this replica does not \
                 have: call another replica, or give this one the key (--seal-keys)",
            )
        } else {
            Self::new(Reason::RecordBroken, "the stored record of this game is broken")
        };
        error.about(game)
    }

    /// The stored record cannot be replayed up to a revision that it has.
    pub(crate) fn unreplayable(game: &Game, revision: Revision) -> Self {
        tracing::error!(game = %game.id(), %revision, "a revision cannot be replayed");
        Self::new(Reason::RecordBroken, "the stored record of this game is broken").about(game.id())
    }

    /// The stored record contradicts itself.
    pub(crate) fn contradiction(game: &GameId, error: &Contradiction) -> Self {
        tracing::error!(%game, %error, "a stored record contradicts itself");
        let error = if matches!(error, Contradiction::NewerEngine { .. }) {
            Self::new(
                Reason::RecordNewer,
                "a newer release played this game, and this replica does not know its engine yet",
            )
        } else {
            Self::new(Reason::RecordBroken, "the stored record of this game contradicts itself")
        };
        error.about(game)
    }
}
