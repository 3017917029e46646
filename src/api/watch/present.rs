//! Which seats of a game are present.

use crate::api::host::slot_of;
use crate::api::proto::v1;
use crate::api::proto::v1::watch_game_response::Presence;
use crate::game::SeatSet;
use crate::rules::Seat;
use crate::store::PresentSlot;

/// The seats that are present, as the store says. A slot that is no seat is passed over.
pub(super) fn present_seats(slots: &[PresentSlot]) -> SeatSet {
    Seat::first(Seat::MAX as u8)
        .filter(|&seat| slots.iter().any(|present| present.slot == slot_of(seat)))
        .collect()
}

/// What watchers of a game with so many seats are told.
pub(super) fn message(present: SeatSet, seats: u8) -> Presence {
    let seat = |seat: Seat| v1::SeatPresence {
        seat: seat.number().into(),
        present: present.contains(seat),
    };
    Presence { seats: Seat::first(seats).map(seat).collect() }
}
