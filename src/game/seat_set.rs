//! Sets of seats.

use crate::rules::Seat;

/// Some of a game's seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeatSet(u8);

impl SeatSet {
    /// No seat.
    pub const EMPTY: Self = Self(0);

    /// Whether it has the seat.
    pub const fn contains(self, seat: Seat) -> bool {
        self.0 & Self::of(seat).0 != 0
    }

    /// Whether it has all seats of the other one.
    pub const fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether it has none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One seat.
    pub const fn of(seat: Seat) -> Self {
        Self(1 << seat.index())
    }

    /// Its seats, in order.
    pub fn iter(self) -> impl Iterator<Item = Seat> {
        Seat::first(Seat::MAX as u8).filter(move |seat| self.contains(*seat))
    }

    /// Puts a seat in.
    pub(super) const fn insert(&mut self, seat: Seat) {
        self.0 |= Self::of(seat).0;
    }

    /// Takes a seat out.
    pub(super) const fn remove(&mut self, seat: Seat) {
        self.0 &= !Self::of(seat).0;
    }
}

impl FromIterator<Seat> for SeatSet {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> Self {
        let mut set = Self::EMPTY;
        seats.into_iter().for_each(|seat| set.insert(seat));
        set
    }
}
