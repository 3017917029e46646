//! The deal: committed to, added to by the players, derived, revealed at the end.
//!
//! Everything here is normative for anyone who checks a deal, and must never change; another
//! derivation would be another [`DealSource`].

use std::fmt;

use sha2::{Digest, Sha256};

use super::entropy::Entropy;
use super::given::Given;
use super::hash::hmac;
use super::hexadecimal::write_hexadecimal;
use super::id::GameId;
use super::secret::ServerSeed;
use super::shuffle::shuffle;
use crate::rules::{BoardSize, Deal, full_set};

const COMMITMENT_LABEL: &[u8] = b"banqi-deal-v1\0";
const SEATING_LABEL: &[u8] = b"banqi-seating-v1\0";

/// SHA-256 of a label and a server seed: shown from the first answer about a game on, so that the
/// seed cannot be changed once the players have added their entropy. Displayed in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Commitment(pub [u8; 32]);

impl Commitment {
    /// SHA-256("banqi-deal-v1" ‖ 0x00 ‖ seed).
    pub fn to(seed: &ServerSeed) -> Self {
        let hash = Sha256::new().chain_update(COMMITMENT_LABEL).chain_update(seed.expose());
        Self(hash.finalize().into())
    }
}

impl fmt::Display for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hexadecimal(&self.0, f)
    }
}

impl fmt::Debug for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Where a game's deal comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DealSource {
    /// Derived from a seed and the players' entropies when the first action is played.
    Derived(ServerSeed),
    /// Given at creation, for imports and tests: no commitment, no entropy.
    Given(Box<Given>),
}

impl From<Given> for DealSource {
    fn from(given: Given) -> Self {
        Self::Given(Box::new(given))
    }
}

impl From<Deal> for DealSource {
    /// A full deal, every piece face down.
    fn from(deal: Deal) -> Self {
        Given::from(deal).into()
    }
}

/// The deal of a game: `full_set` shuffled by
/// K = HMAC-SHA256(seed, id ‖ 0x00 ‖ for each seat in order: one length byte, its entropy).
pub fn derive_deal<'a>(
    board: BoardSize,
    id: &GameId,
    seed: &ServerSeed,
    entropies: impl IntoIterator<Item = Option<&'a Entropy>>,
) -> Deal {
    let mut message = [id.as_str().as_bytes(), &[0]].concat();
    for entropy in entropies {
        message.push(entropy.map_or(0, Entropy::length_byte));
        message.extend_from_slice(entropy.map_or(&[], Entropy::as_bytes));
    }
    let key = hmac(seed.expose(), [message.as_slice()]);
    let mut pieces = full_set(board);
    shuffle(&key, &mut pieces);
    Deal::from_pieces(board, &pieces).expect("a shuffled full set is a full deal")
}

/// Shuffles what is to be seated by HMAC-SHA256(seed, "banqi-seating-v1" ‖ 0x00 ‖ id).
pub(super) fn draw_seating<T>(id: &GameId, seed: &ServerSeed, seats: &mut [T]) {
    let key = hmac(seed.expose(), [SEATING_LABEL, id.as_str().as_bytes()]);
    shuffle(&key, seats);
}
