//! One key that records are sealed with: XChaCha20-Poly1305 (RFC 8439, with the longer nonces of
//! draft-irtf-cfrg-xchacha), which may be drawn at random for ever.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::AeadInOut as _;
use chacha20poly1305::{KeyInit as _, Tag, XChaCha20Poly1305, XNonce};
use rand::TryRng as _;
use rand::rngs::{SysError, SysRng};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::game::{GameId, Version, write_hexadecimal};
use crate::store::record::header_bytes;

/// How long a key is, in bytes.
const KEY_LENGTH: usize = 32;

/// How long the number is that no two records share, in bytes.
const NONCE_LENGTH: usize = 24;

/// How long the proof is that nothing was changed, in bytes.
const TAG_LENGTH: usize = 16;

/// Which key a record is sealed with: the first bytes of a hash of the key, which say nothing else
/// about it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SealKeyId([u8; Self::LENGTH]);

impl SealKeyId {
    const LENGTH: usize = 4;

    fn of(key: &[u8; KEY_LENGTH]) -> Self {
        let hash =
            Sha256::new().chain_update("banqi-sealing-key-v1\0").chain_update(key).finalize();
        let mut cut = [0; Self::LENGTH];
        cut.copy_from_slice(&hash[..Self::LENGTH]);
        Self(cut)
    }
}

impl fmt::Display for SealKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hexadecimal(&self.0, f)
    }
}

impl fmt::Debug for SealKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealKeyId({self})")
    }
}

/// What stands in a sealed payload, in this order.
pub(super) struct Sealed<'a> {
    /// Which key seals it.
    pub(super) key: SealKeyId,
    nonce: [u8; NONCE_LENGTH],
    message: &'a [u8],
    tag: [u8; TAG_LENGTH],
}

impl<'a> Sealed<'a> {
    /// How much longer a sealed payload is than what is sealed, in bytes.
    pub(super) const OVERHEAD: usize = SealKeyId::LENGTH + NONCE_LENGTH + TAG_LENGTH;

    /// The parts of a payload; `None` where it is too short to have them.
    pub(super) fn parse(payload: &'a [u8]) -> Option<Self> {
        let (&key, rest) = payload.split_first_chunk()?;
        let (&nonce, rest) = rest.split_first_chunk()?;
        let (message, &tag) = rest.split_last_chunk()?;
        Some(Self { key: SealKeyId(key), nonce, message, tag })
    }
}

/// A key that records are sealed with: 32 random bytes. It is wiped when it is dropped.
#[derive(Clone)]
pub(super) struct SealKey {
    id: SealKeyId,
    cipher: XChaCha20Poly1305,
}

impl SealKey {
    fn new(key: &[u8; KEY_LENGTH]) -> Self {
        Self { id: SealKeyId::of(key), cipher: XChaCha20Poly1305::new(key.into()) }
    }

    /// Which one it is.
    pub(super) fn id(&self) -> SealKeyId {
        self.id
    }

    /// Seals a message.
    ///
    /// # Errors
    /// Where the operating system has no randomness to give.
    pub(super) fn seal(
        &self,
        associated: &AssociatedData,
        message: &[u8],
    ) -> Result<Vec<u8>, SysError> {
        // From the operating system each time: a machine that was copied while it ran must not draw
        // the same as its copy.
        let mut nonce = [0; NONCE_LENGTH];
        SysRng.try_fill_bytes(&mut nonce)?;
        let mut payload = Vec::with_capacity(Sealed::OVERHEAD + message.len());
        payload.extend_from_slice(&self.id.0);
        payload.extend_from_slice(&nonce);
        let start = payload.len();
        payload.extend_from_slice(message);
        let message = (&mut payload[start..]).into();
        let tag = self.cipher.encrypt_inout_detached(&XNonce::from(nonce), &associated.0, message);
        payload.extend_from_slice(&tag.expect("a record is shorter than 256 GiB"));
        Ok(payload)
    }

    /// What was sealed; `None` where it was changed, or sealed for something else.
    pub(super) fn open(
        &self,
        associated: &AssociatedData,
        sealed: &Sealed<'_>,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let mut message = Zeroizing::new(sealed.message.to_vec());
        let (nonce, tag) = (XNonce::from(sealed.nonce), Tag::from(sealed.tag));
        let content = message.as_mut_slice().into();
        self.cipher.decrypt_inout_detached(&nonce, &associated.0, content, &tag).ok()?;
        Some(message)
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealKey({}, secret)", self.id)
    }
}

/// A text that is no key. It may be a key with a mistake in it and is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no key: write 32 random bytes in base64, as `openssl rand -base64 32` prints them")]
pub struct SealKeyError;

impl FromStr for SealKey {
    type Err = SealKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The decoder counts in whole groups of three bytes.
        let mut decoded = Zeroizing::new([0; KEY_LENGTH + 1]);
        match STANDARD.decode_slice(text, decoded.as_mut_slice()) {
            Ok(KEY_LENGTH) => {
                let key = decoded.first_chunk().ok_or(SealKeyError)?;
                Ok(Self::new(key))
            }
            _ => Err(SealKeyError),
        }
    }
}

/// What a record is sealed for: its header, and the game whose it is. It opens for nothing else.
pub(super) struct AssociatedData(Vec<u8>);

impl AssociatedData {
    /// What the record of a game is sealed for.
    pub(super) fn of(id: &GameId, format: u8, version: Version) -> Self {
        let header = header_bytes(format, version);
        Self([&header[..], id.as_str().as_bytes()].concat())
    }
}
