//! Seats: the players' places in the turn order.

use std::fmt;

/// One player's place in the turn order (`RULES.md` §1): 1 to 4. Seat 1 moves first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seat(u8);

impl Seat {
    /// The most seats that a game can have.
    pub const MAX: usize = 4;

    /// The seat that moves first.
    pub const FIRST: Self = Self(0);

    /// The seat with this number, counted from 1; `None` outside 1 to 4.
    #[inline]
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number as usize <= Self::MAX { Some(Self(number - 1)) } else { None }
    }

    /// The number players know it by, 1 to 4.
    #[inline]
    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    /// Its place in a list of seats, 0 to 3.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & 3) as usize
    }

    /// The seat at this place in a list of seats; `None` from 4 on.
    #[inline]
    pub const fn from_index(index: usize) -> Option<Self> {
        if index < Self::MAX { Some(Self(index as u8)) } else { None }
    }

    /// The seats 1 to `count`.
    #[inline]
    pub fn first(count: u8) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        (0..count.min(Self::MAX as u8)).map(Self)
    }

    /// The seat after this one among `count` seats.
    #[inline]
    #[must_use]
    pub const fn next(self, count: u8) -> Self {
        if self.0 + 1 >= count { Self(0) } else { Self(self.0 + 1) }
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seat({})", self.number())
    }
}
