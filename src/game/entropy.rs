//! Entropy: what a player adds to the deal, so that the service alone cannot choose it.

use std::sync::Arc;

/// A player's own random bytes, 1 to 64 of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entropy(Arc<[u8]>);

impl Entropy {
    /// The most bytes that a seat may add.
    pub const MAX_LENGTH: usize = 64;

    /// The entropy with these bytes.
    ///
    /// # Errors
    /// Where there are none, or more than [`Entropy::MAX_LENGTH`].
    pub fn new(bytes: &[u8]) -> Result<Self, EntropyError> {
        if (1..=Self::MAX_LENGTH).contains(&bytes.len()) {
            Ok(Self(bytes.into()))
        } else {
            Err(EntropyError { length: bytes.len() })
        }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// How many bytes, in the one byte that always holds it.
    pub(super) fn length_byte(&self) -> u8 {
        self.0.len() as u8
    }
}

/// Bytes that are no entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entropy of {length} bytes: give 1 to 64")]
pub struct EntropyError {
    /// How many were given.
    pub length: usize,
}
