//! How a game ended (`RULES.md` §2.6, §4, §7 and §8).

use arrayvec::ArrayVec;

use super::seat::Seat;

/// The rule that ended a game, or put a seat out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// A seat's last piece was gone.
    AllCaptured,
    /// No seat had a piece left.
    NoPiecesLeft,
    /// The seat to act had no legal turn.
    NoLegalTurn,
    /// A position stood for the `repetition_count`-th time.
    ThreefoldRepetition,
    /// Too many quiet turns in a row.
    QuietLimit,
    /// A seat attacked the same piece throughout a repetition.
    PerpetualAttack,
    /// All other seats of four were out.
    LastStanding,
    /// A seat resigned.
    Resignation,
    /// A seat's clock ran out.
    Timeout,
    /// All seats still in agreed to a draw.
    Agreement,
    /// Ended before both seats had acted: no winner, no loser.
    Aborted,
    /// A seat without a clock did not act within the game's inactivity limit.
    Abandoned,
}

impl EndReason {
    /// Every reason, in the order above.
    pub const ALL: [Self; 12] = [
        Self::AllCaptured,
        Self::NoPiecesLeft,
        Self::NoLegalTurn,
        Self::ThreefoldRepetition,
        Self::QuietLimit,
        Self::PerpetualAttack,
        Self::LastStanding,
        Self::Resignation,
        Self::Timeout,
        Self::Agreement,
        Self::Aborted,
        Self::Abandoned,
    ];

    /// Its name in `RULES.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllCaptured => "ALL_CAPTURED",
            Self::NoPiecesLeft => "NO_PIECES_LEFT",
            Self::NoLegalTurn => "NO_LEGAL_TURN",
            Self::ThreefoldRepetition => "THREEFOLD_REPETITION",
            Self::QuietLimit => "QUIET_LIMIT",
            Self::PerpetualAttack => "PERPETUAL_ATTACK",
            Self::LastStanding => "LAST_STANDING",
            Self::Resignation => "RESIGNATION",
            Self::Timeout => "TIMEOUT",
            Self::Agreement => "AGREEMENT",
            Self::Aborted => "ABORTED",
            Self::Abandoned => "ABANDONED",
        }
    }
}

impl std::fmt::Display for EndReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How a game ended: why, and every seat's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The rule that ended it.
    pub reason: EndReason,
    /// The place of each seat, in seat order, 1 the best; seats that share a place have the same
    /// number. Empty for an aborted game, which has no winner and no loser.
    pub places: ArrayVec<u8, { Seat::MAX }>,
}

impl Outcome {
    /// The seat that won, or `None` for a draw and for an aborted game.
    pub fn winner(&self) -> Option<Seat> {
        let mut first = self.places.iter().enumerate().filter(|(_, place)| **place == 1);
        match (first.next(), first.next()) {
            (Some((index, _)), None) => Seat::from_index(index),
            _ => None,
        }
    }
}

/// A seat that left a game of four while it went on, or with its last action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Which seat.
    pub seat: Seat,
    /// Why.
    pub reason: EndReason,
}
