//! Which seats of a game are present.

use crate::api::host::slot_of;
use crate::api::proto::v1;
use crate::api::proto::v1::watch_game_response::Presence;
use crate::rules::Seat;
use crate::store::PresentSlot;

/// Which seats of a game are present: one bit a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PresentSeats(u8);

impl PresentSeats {
    /// What the store says. A slot that is no seat is passed over.
    pub(super) fn of(slots: &[PresentSlot]) -> Self {
        Seat::first(Seat::MAX as u8)
            .filter(|&seat| slots.iter().any(|present| present.slot == slot_of(seat)))
            .fold(Self::default(), Self::with)
    }

    #[must_use]
    pub(super) fn with(self, seat: Seat) -> Self {
        Self(self.0 | 1 << seat.index())
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn has(self, seat: Seat) -> bool {
        self.0 & 1 << seat.index() != 0
    }

    /// What watchers of a game with so many seats are told.
    pub(super) fn message(self, seats: u8) -> Presence {
        let seat =
            |seat: Seat| v1::SeatPresence { seat: seat.number().into(), present: self.has(seat) };
        Presence { seats: Seat::first(seats).map(seat).collect() }
    }
}
