//! Who calls.

use std::sync::Arc;

use super::key_file::KeyFile;
use super::keys::KeyEntry;
use super::player_token::{PlayerToken, PlayerTokenError};
use super::quotas::{Quotas, StreamPlace};
use super::role::Role;
use crate::api::error::{ApiError, Reason};
use crate::game::{PlayerId, SeatToken, SeatTokenError};
use crate::store::TimeSource;

/// How a caller stands to the service.
#[derive(Clone, Debug)]
pub(super) enum Standing {
    /// The service has no keys, and everyone stands alike.
    Open {
        /// Whether everyone may do what the platform may.
        dev_platform: bool,
    },
    /// The service has keys, and none was shown.
    Anonymous,
    /// A key of the service was shown.
    Known {
        /// The key's line.
        key: Arc<KeyEntry>,
        /// The file that it was found in.
        file: Arc<KeyFile>,
    },
}

/// Who calls, as far as the call's metadata proves it; a seat token is proven only by the game that
/// it is for.
#[derive(Clone, Debug)]
pub struct Caller {
    pub(super) standing: Standing,
    pub(super) seat_token: Option<Result<SeatToken, SeatTokenError>>,
    pub(super) player: Option<Proven>,
    pub(super) quotas: Arc<Quotas>,
}

/// A player whom a token has proven, for as long as it holds.
#[derive(Clone, Debug)]
pub(super) struct Proven {
    pub(super) token: PlayerToken,
    /// What says whether it still holds.
    pub(super) time: Arc<dyn TimeSource>,
}

impl Caller {
    /// What tells the caller from others: its key's name; empty without a key.
    pub fn name(&self) -> &str {
        match &self.standing {
            Standing::Known { key, .. } => key.name.as_str(),
            Standing::Open { .. } | Standing::Anonymous => "",
        }
    }

    /// The player that a player token proves the caller to act for.
    pub fn player(&self) -> Option<&PlayerId> {
        self.player.as_ref().map(|proven| &proven.token.player)
    }

    /// The seat token in the metadata, or what should have been one.
    pub(in crate::api) fn seat_token(&self) -> Option<&Result<SeatToken, SeatTokenError>> {
        self.seat_token.as_ref()
    }

    /// Whether the caller may do everything.
    pub fn is_platform(&self) -> bool {
        match &self.standing {
            Standing::Open { dev_platform } => *dev_platform,
            Standing::Anonymous => false,
            Standing::Known { key, .. } => key.role >= Role::Platform,
        }
    }

    /// Checks that the caller has a role, or one that may do more. A service without keys takes
    /// everyone for a player, and with --dev-platform for the platform.
    ///
    /// # Errors
    /// What is missing.
    pub fn require(&self, needed: Role) -> Result<(), ApiError> {
        match &self.standing {
            Standing::Open { dev_platform } if *dev_platform || needed < Role::Platform => Ok(()),
            Standing::Open { .. } => Err(ApiError::new(
                Reason::PlatformOnly,
                "only trusted callers may do that: send a seat's token where one is taken, or \
                 start the service with --auth and send a key of role platform, or with \
                 --dev-platform",
            )),
            Standing::Anonymous => Err(ApiError::new(
                Reason::ApiKeyMissing,
                match needed {
                    Role::Reader => {
                        "send an API key as metadata `x-api-key`, or the seat's token for a call \
                         about its own game"
                    }
                    Role::Player => {
                        "send an API key of role player or platform as metadata `x-api-key`"
                    }
                    Role::Platform => "send an API key of role platform as metadata `x-api-key`",
                },
            )
            .with_metadata("needed", needed)),
            Standing::Known { key, .. } if key.role >= needed => Ok(()),
            Standing::Known { key, .. } => Err(ApiError::new(
                Reason::RoleTooLow,
                format!(
                    "key `{}` has the role {}, but the call needs {needed}",
                    key.name, key.role
                ),
            )
            .with_metadata("role", key.role)
            .with_metadata("needed", needed)),
        }
    }

    /// Counts a game that the caller creates.
    ///
    /// # Errors
    /// Where he has created too many just now.
    pub(in crate::api) fn count_creation(&self) -> Result<(), ApiError> {
        self.quotas.count_creation(self.name())
    }

    /// Counts a stream that the caller opens, until its place is dropped.
    ///
    /// # Errors
    /// Where he has too many open.
    pub(in crate::api) fn count_stream(&self) -> Result<StreamPlace, ApiError> {
        self.quotas.count_stream(self.name())
    }

    /// Checks, in a call that lasts, that the caller's key still is one with the same role, and that
    /// its player token has not expired.
    ///
    /// # Errors
    /// Where it is not.
    pub(super) fn check_still_known(&self) -> Result<(), ApiError> {
        let proven = self.player.as_ref();
        if proven.is_some_and(|proven| proven.token.expires <= proven.time.now()) {
            return Err(PlayerTokenError::Expired.into());
        }
        match &self.standing {
            Standing::Known { key, file } if !file.has(key) => Err(ApiError::new(
                Reason::ApiKeyWrong,
                format!("key `{}` was changed or removed since the call began", key.name),
            )),
            _ => Ok(()),
        }
    }
}
