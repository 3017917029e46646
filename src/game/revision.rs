//! Revisions, the history chain, and the etag made of both.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// How many log entries a game has: 1 from its creation on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Eight bytes that tell one course of a game from every other: random at creation, then hashed on
/// with each entry of the log. It contains nothing hidden, since no entry does.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct History(pub [u8; 8]);

impl History {
    /// The history after one entry more: SHA-256(previous ‖ entry) cut to eight bytes.
    #[must_use]
    pub fn then(self, entry: &[u8]) -> Self {
        let digest = Sha256::new().chain_update(self.0).chain_update(entry).finalize();
        let mut cut = [0; 8];
        cut.copy_from_slice(&digest[..8]);
        Self(cut)
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

/// Which state of which course of a game: what compare-and-set compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// How many log entries.
    pub revision: Revision,
    /// Of which course.
    pub history: History,
}

/// A [`Version`] as the opaque string that clients hand back: revision in decimal, a dot, the
/// history in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Etag(pub Version);

impl fmt::Display for Etag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:?}", self.0.revision, self.0.history)
    }
}

/// A text that is no etag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no etag: send one back just as an answer or event gave it")]
pub struct EtagError(pub String);

impl FromStr for Etag {
    type Err = EtagError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (revision, history) = text.split_once('.')?;
            if !revision.bytes().all(|byte| byte.is_ascii_digit()) || history.len() != 16 {
                return None;
            }
            let revision = Revision(revision.parse().ok()?);
            let bytes = u64::from_str_radix(history, 16).ok()?.to_be_bytes();
            let etag = Self(Version { revision, history: History(bytes) });
            // Only one spelling of each: no sign, no leading zero, lower case.
            (etag.to_string() == text).then_some(etag)
        };
        read().ok_or_else(|| EtagError(text.chars().take(80).collect()))
    }
}
