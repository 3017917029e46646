//! Ids of players.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// How the platform knows a player: 1 to 128 bytes of text without control characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlayerId(Arc<str>);

impl PlayerId {
    /// The longest id, in bytes of UTF-8.
    pub const MAX_LENGTH: usize = 128;

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// A text that is no player id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no player id: an id is 1 to 128 bytes of text without control characters")]
pub struct PlayerIdError(pub String);

impl FromStr for PlayerId {
    type Err = PlayerIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if (1..=Self::MAX_LENGTH).contains(&text.len()) && !text.chars().any(char::is_control) {
            Ok(Self(text.into()))
        } else {
            Err(PlayerIdError(text.chars().take(80).collect()))
        }
    }
}
