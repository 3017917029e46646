//! HMAC-SHA256 over parts, the one keyed hash of the house.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// An HMAC-SHA256 that has taken its key.
pub(super) fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length")
}

/// HMAC-SHA256 of the parts, one after the other.
pub(super) fn hmac<'a>(key: &[u8], parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut mac = keyed(key);
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}
