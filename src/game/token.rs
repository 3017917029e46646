//! Seat tokens: what lets a player act for a seat.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::hash::hmac;
use super::id::GameId;
use super::secret::GameKey;
use crate::rules::Seat;

/// The seat's number, then the whole HMAC.
const LENGTH: usize = 33;

/// The credential of one seat of one game: HMAC-SHA256(the game's key, id, seat, generation) with
/// the seat in front. Its text is `bqs_` and 44 characters; it is never printed by accident.
#[derive(Clone)]
pub struct SeatToken {
    seat: Seat,
    code: Zeroizing<[u8; 32]>,
}

impl SeatToken {
    /// What every token's text begins with, which tells it from other credentials.
    pub const PREFIX: &str = "bqs_";

    /// The token of a seat. `generation` counts the tokens that it had before.
    pub fn derive(key: &GameKey, id: &GameId, seat: Seat, generation: u32) -> Self {
        // An id has no zero byte and what follows it has a fixed length, so no two are alike.
        let tail = [0, seat.number()];
        let parts = [id.as_str().as_bytes(), &tail, &generation.to_be_bytes()];
        Self { seat, code: Zeroizing::new(hmac(key.expose(), parts)) }
    }

    /// The seat that the token says it is for, which only a comparison can prove.
    pub fn seat(&self) -> Seat {
        self.seat
    }

    /// The token as text. Whoever calls this answers for where it goes.
    pub fn expose(&self) -> String {
        let mut bytes = Zeroizing::new([self.seat.number(); LENGTH]);
        bytes[1..].copy_from_slice(&*self.code);
        format!("{}{}", Self::PREFIX, URL_SAFE_NO_PAD.encode(bytes.as_slice()))
    }
}

impl PartialEq for SeatToken {
    /// Takes the same time wherever two codes differ.
    fn eq(&self, other: &Self) -> bool {
        let codes: bool = self.code.ct_eq(&*other.code).into();
        self.seat == other.seat && codes
    }
}

impl Eq for SeatToken {}

impl fmt::Debug for SeatToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeatToken(seat {}, secret)", self.seat)
    }
}

/// A text that is no seat token. The text itself may be nearly one and is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is no seat token: send back the text, `bqs_` and 44 characters, that the seat was given"
)]
pub struct SeatTokenError;

impl FromStr for SeatToken {
    type Err = SeatTokenError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let encoded = text.strip_prefix(Self::PREFIX).ok_or(SeatTokenError)?;
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(encoded).map_err(|_| SeatTokenError)?);
        let (&number, code) = bytes.split_first().ok_or(SeatTokenError)?;
        let seat = Seat::new(number).ok_or(SeatTokenError)?;
        let code = code.try_into().map_err(|_| SeatTokenError)?;
        Ok(Self { seat, code: Zeroizing::new(code) })
    }
}
