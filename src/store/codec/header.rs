//! The fixed header in front of every stored record, which the stores read themselves.

use crate::game::{History, Revision, Version};

/// Format, revision and history, as 17 bytes: one byte, a big-endian `u64`, eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// How what follows is encoded.
    pub format: u8,
    /// Which state of which course the record holds.
    pub version: Version,
}

impl Header {
    /// How many bytes it has.
    pub const LENGTH: usize = 17;

    /// Its bytes.
    pub fn to_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [self.format; Self::LENGTH];
        bytes[1..9].copy_from_slice(&self.version.revision.0.to_be_bytes());
        bytes[9..].copy_from_slice(&self.version.history.0);
        bytes
    }

    /// Splits a stored value into its header and what follows; `None` where it is too short.
    pub fn split(value: &[u8]) -> Option<(Self, &[u8])> {
        let (&format, rest) = value.split_first()?;
        let (&revision, rest) = rest.split_first_chunk()?;
        let (&history, payload) = rest.split_first_chunk()?;
        let revision = Revision(u64::from_be_bytes(revision));
        Some((Self { format, version: Version { revision, history: History(history) } }, payload))
    }
}
