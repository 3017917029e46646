//! API keys, and the hashes that are kept of them.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::game::{read_hexadecimal, write_hexadecimal};

/// What every key's text begins with, so that a leaked one is recognised.
pub(super) const PREFIX: &str = "bqk_";

/// The credential of a back end: 32 random bytes, as text `bqk_` and 43 characters.
#[derive(Clone)]
pub struct ApiKey(Zeroizing<String>);

impl ApiKey {
    /// The key with these bytes, which should come from the operating system.
    pub fn new(random: [u8; 32]) -> Self {
        let random = Zeroizing::new(random);
        let encoded = Zeroizing::new(URL_SAFE_NO_PAD.encode(random.as_slice()));
        Self(Zeroizing::new(format!("{PREFIX}{}", *encoded)))
    }

    /// The key as text. Whoever calls this answers for where it goes.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(&self.0)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(secret)")
    }
}

/// The SHA-256 of a key's text. A key has 256 random bits, which nobody finds by trying, so a slow
/// hash as for passwords would only cost time.
#[derive(Clone, Copy)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The hash of a text that is offered as a key.
    pub(super) fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }
}

impl ConstantTimeEq for KeyHash {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl PartialEq for KeyHash {
    /// Takes the same time wherever two hashes differ.
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for KeyHash {}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hexadecimal(&self.0, f)
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

/// A text that is no hash. It may be a key by mistake and is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyHashError {
    /// It looks like a key.
    #[error(
        "is a key where its hash should be: whoever reads this file could use it, so make a new \
         one with `banqi key` and write the line that it prints"
    )]
    Key,
    /// It is something else.
    #[error("is no SHA-256: write 64 hexadecimal digits, as `banqi key` prints them")]
    Malformed,
}

impl FromStr for KeyHash {
    type Err = KeyHashError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with(PREFIX) {
            return Err(KeyHashError::Key);
        }
        let bytes = read_hexadecimal(&text.to_ascii_lowercase());
        let hash = bytes.and_then(|bytes| bytes.try_into().ok());
        hash.map(Self).ok_or(KeyHashError::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_text_that_fits_into_a_header_and_its_hash_is_that_of_the_text() {
        let key = ApiKey::new([7; 32]);
        assert_eq!(key.expose(), "bqk_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc");
        // printf bqk_Bwc… | sha256sum
        let expected = "c31dbbaf0f13bd37642346d11b8b95cb20ea44af35fc0720f62719014ad0abd3";
        assert_eq!(key.hash().to_string(), expected);
        assert_eq!(expected.parse(), Ok(key.hash()));
    }

    #[test]
    fn nothing_of_a_key_is_printed_by_accident() {
        let key = ApiKey::new([7; 32]);
        assert_eq!(format!("{key:?} {:?}", key.hash()), "ApiKey(secret) KeyHash(…)");
    }
}
