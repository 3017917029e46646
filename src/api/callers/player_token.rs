//! Player tokens: what proves to any replica, without asking the store, that a call is a player's.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::service_key::ServiceKey;
use crate::api::error::{ApiError, Reason};
use crate::game::{Millis, PlayerId};

pub(super) const PREFIX: &str = "bqp_";
/// In front of what the code is over, so that no code made for something else is one.
const PURPOSE: &[u8] = b"banqi-player-v1\0";
const EXPIRY: usize = 8;
const CODE: usize = 32;

/// What a player token says: who, and until when. As text `bqp_` and, in base64 (URL-safe, without
/// padding), the expiry (big-endian milliseconds since 1970), HMAC-SHA256(service key,
/// `banqi-player-v1`, a zero byte, expiry, player id), and the player id.
///
/// The expiry is compared with the clock of the replica that is shown the token; replicas agree as
/// well as their machines' clocks do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerToken {
    /// Whose it is.
    pub player: PlayerId,
    /// From when on it is worth nothing.
    pub expires: Millis,
}

/// A text that is no player token, or not any more. The text itself is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerTokenError {
    /// It was never one.
    #[error("this is no player token: send the text, `bqp_` and more, that the platform issued")]
    Malformed,
    /// It was made with another key, or changed since.
    #[error("the player token was made with another service key, or changed since")]
    Wrong,
    /// It was one.
    #[error("the player token has expired: ask the platform for a new one")]
    Expired,
}

impl From<PlayerTokenError> for ApiError {
    fn from(fault: PlayerTokenError) -> Self {
        let reason = match fault {
            PlayerTokenError::Expired => Reason::PlayerTokenExpired,
            PlayerTokenError::Malformed | PlayerTokenError::Wrong => Reason::PlayerTokenWrong,
        };
        Self::new(reason, fault.to_string())
    }
}

impl PlayerToken {
    /// The token as text. Whoever calls this answers for where it goes.
    pub fn issue(&self, key: &ServiceKey) -> String {
        let expiry = self.expires.0.to_be_bytes();
        let player = self.player.as_str().as_bytes();
        let code = code(key, &expiry, player).finalize().into_bytes();
        let bytes = [&expiry[..], &code[..], player].concat();
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    /// What a text says that was issued with this key and has not expired.
    ///
    /// # Errors
    /// Where it is none. Only one that was issued is said to have expired.
    pub fn verify(key: &ServiceKey, text: &str, now: Millis) -> Result<Self, PlayerTokenError> {
        let malformed = PlayerTokenError::Malformed;
        let encoded = text.strip_prefix(PREFIX).ok_or(malformed)?;
        let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| malformed)?;
        let (expiry, rest) = bytes.split_first_chunk::<EXPIRY>().ok_or(malformed)?;
        let (code_shown, player) = rest.split_first_chunk::<CODE>().ok_or(malformed)?;
        // Compares in constant time.
        code(key, expiry, player).verify_slice(code_shown).map_err(|_| PlayerTokenError::Wrong)?;
        let player = str::from_utf8(player).ok().and_then(|player| player.parse().ok());
        let token =
            Self { player: player.ok_or(malformed)?, expires: Millis(u64::from_be_bytes(*expiry)) };
        if now < token.expires { Ok(token) } else { Err(PlayerTokenError::Expired) }
    }
}

fn code(key: &ServiceKey, expiry: &[u8; EXPIRY], player: &[u8]) -> Hmac<Sha256> {
    let mac = Hmac::<Sha256>::new_from_slice(key.expose());
    let mut mac = mac.expect("HMAC takes a key of any length");
    mac.update(PURPOSE);
    // The expiry has a fixed length and the player takes the rest, so no two pairs are alike.
    mac.update(expiry);
    mac.update(player);
    mac
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn key(byte: u8) -> ServiceKey {
        ServiceKey::of([byte; 32])
    }

    fn token() -> PlayerToken {
        PlayerToken { player: "änna".parse().expect("an id"), expires: Millis(1_000) }
    }

    #[test]
    fn what_was_issued_is_verified_until_it_expires() {
        let text = token().issue(&key(1));
        assert_eq!(PlayerToken::verify(&key(1), &text, Millis(999)), Ok(token()));
        for now in [1_000, 1_001, u64::MAX] {
            let verified = PlayerToken::verify(&key(1), &text, Millis(now));
            assert_eq!(verified, Err(PlayerTokenError::Expired));
        }
    }

    #[test]
    fn another_key_proves_nothing() {
        let text = token().issue(&key(1));
        // Not even that it has expired.
        for now in [0, 1_000] {
            let verified = PlayerToken::verify(&key(2), &text, Millis(now));
            assert_eq!(verified, Err(PlayerTokenError::Wrong));
        }
    }

    #[test]
    fn every_changed_bit_and_every_cut_is_noticed() {
        let text = token().issue(&key(1));
        let bytes = URL_SAFE_NO_PAD.decode(&text[PREFIX.len()..]).expect("base64");
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let text = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(changed));
            let verified = PlayerToken::verify(&key(1), &text, Millis(0));
            assert_eq!(verified, Err(PlayerTokenError::Wrong), "bit {bit}");
        }
        for length in 0..bytes.len() {
            let text = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(&bytes[..length]));
            PlayerToken::verify(&key(1), &text, Millis(0)).expect_err("cut");
        }
    }

    #[rstest]
    #[case("")]
    #[case("bqp_")]
    #[case("bqp_AAAA")]
    #[case("bqp_!")]
    #[case("bqs_AAAA")]
    #[case("nonsense")]
    fn other_texts_are_malformed(#[case] text: &str) {
        let verified = PlayerToken::verify(&key(1), text, Millis(0));
        assert_eq!(verified, Err(PlayerTokenError::Malformed));
    }
}
