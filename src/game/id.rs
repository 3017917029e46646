//! Ids of games.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The name of a game: 1 to 64 characters of `A–Z a–z 0–9 _ -`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId(Arc<str>);

impl GameId {
    /// The longest id, in characters.
    pub const MAX_LENGTH: usize = 64;

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// A text that is no game id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no game id: an id is 1 to 64 characters of A–Z, a–z, 0–9, `_` and `-`")]
pub struct GameIdError(pub String);

impl FromStr for GameId {
    type Err = GameIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if (1..=Self::MAX_LENGTH).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.into()))
        } else {
            Err(GameIdError(text.chars().take(80).collect()))
        }
    }
}
