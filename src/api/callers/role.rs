//! What a caller may do.

use std::fmt;
use std::str::FromStr;

/// What the holder of an API key may do; each role may do all that those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads games as a spectator, and asks about the rules.
    Reader,
    /// Also creates and joins games.
    Player,
    /// Does everything: acts by seat number, sees hidden games, calls `PlatformService`.
    Platform,
}

impl Role {
    /// Every role, the one that may least first.
    pub const ALL: [Self; 3] = [Self::Reader, Self::Player, Self::Platform];

    /// Its name in key files and in errors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Player => "player",
            Self::Platform => "platform",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is no role.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no role: write reader, player or platform")]
pub struct RoleError(String);

impl FromStr for Role {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|role| role.name() == text);
        found.ok_or_else(|| RoleError(text.chars().take(40).collect()))
    }
}
