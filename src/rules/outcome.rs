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
    /// Whoever runs the game gave the places.
    Adjudicated,
}

impl EndReason {
    /// Every reason, in the order above.
    pub const ALL: [Self; 13] = [
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
        Self::Adjudicated,
    ];

    /// Its name in `RULES.md`; [`Self::Adjudicated`] is not of the rules.
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
            Self::Adjudicated => "ADJUDICATED",
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
    /// Whether these can be the places of all seats: each is one more than there are better ones, so
    /// that seats which share a place leave out those after it (1, 1, 3).
    pub fn is_ranking(places: &[u8]) -> bool {
        let better = |place: u8| places.iter().filter(|&&other| other < place).count();
        places.iter().all(|&place| usize::from(place) == better(place) + 1)
    }

    /// The seat that won, or `None` for a draw and for an aborted game.
    pub fn winner(&self) -> Option<Seat> {
        let mut first = self.places.iter().enumerate().filter(|(_, place)| **place == 1);
        match (first.next(), first.next()) {
            (Some((index, _)), None) => Seat::from_index(index),
            _ => None,
        }
    }
}

/// Places that a game cannot end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacesError {
    /// They are not as many as there are seats.
    #[error("{given} places are given, but the game has {seats} seats: give one to each")]
    Count {
        /// How many are given.
        given: usize,
        /// How many seats there are.
        seats: u8,
    },
    /// No seats finish like that.
    #[error("no seats finish like that: each place is one more than there are better ones")]
    NoRanking,
    /// A seat that is out has another place already.
    #[error("seat {seat} is out of the game and has place {has}, which stays its own")]
    Out {
        /// Which.
        seat: Seat,
        /// Its place.
        has: u8,
    },
}

/// A seat that left a game of four while it went on, or with its last action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Which seat.
    pub seat: Seat,
    /// Why.
    pub reason: EndReason,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_a_ranking_where_shared_ones_leave_out_the_next() {
        for places in [&[1, 2][..], &[2, 1], &[1, 1], &[1, 2, 2, 4], &[3, 1, 3, 1], &[1, 1, 1, 1]] {
            assert!(Outcome::is_ranking(places), "{places:?}");
        }
        for places in [&[0, 1][..], &[2, 2], &[1, 3], &[1, 2, 2, 3], &[1, 1, 2, 3], &[2, 3, 4, 5]] {
            assert!(!Outcome::is_ranking(places), "{places:?}");
        }
    }
}
