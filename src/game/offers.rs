//! Offers: a draw, or to take turns back.

use super::seat_set::SeatSet;
use crate::rules::Seat;

/// An offer that stands: who made it, and who has accepted so far. Every other seat still in must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Who made it.
    pub by: Seat,
    /// Who has accepted.
    pub accepted: SeatSet,
}

/// A request that stands, to take turns back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takeback {
    /// Who asks, and who has accepted.
    pub offer: Offer,
    /// How many steps of the line stay.
    pub(super) keep: usize,
}

/// How many takebacks a game sees at most, so that no log grows without end.
pub(super) const MOST_TAKEBACKS: u16 = 100;

/// The offers of a game as it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offers {
    pub(super) draw: Option<Offer>,
    pub(super) takeback: Option<Takeback>,
    /// Who has offered a draw since it last acted.
    pub(super) draw_offered: SeatSet,
    /// Who has asked for a takeback since anybody last acted.
    pub(super) takeback_asked: SeatSet,
    /// How many takebacks were granted.
    pub(super) takebacks: u16,
}

impl Offers {
    /// A seat acted: its draw offer is over, and so is every request to take back.
    pub(super) fn acted(&mut self, seat: Seat) {
        self.draw = self.draw.filter(|offer| offer.by != seat);
        self.draw_offered.remove(seat);
        self.takeback = None;
        self.takeback_asked = SeatSet::EMPTY;
    }

    /// A seat went out, so that what was offered was offered in another game; or the game ended.
    pub(super) fn lapse(&mut self) {
        self.draw = None;
        self.takeback = None;
    }

    /// Turns were taken back.
    pub(super) fn taken_back(&mut self) {
        self.draw = None;
        self.takeback = None;
        self.takeback_asked = SeatSet::EMPTY;
        self.takebacks += 1;
    }
}

impl Offer {
    pub(super) fn by(seat: Seat) -> Self {
        Self { by: seat, accepted: SeatSet::EMPTY }
    }
}
