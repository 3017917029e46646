//! Points in time and spans between them.

use std::ops::{Add, Sub};

/// A point in time: milliseconds since the Unix epoch, on the clock of the game's shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// The time from `earlier` to this point; zero where `earlier` is the later one.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

/// A span of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Span {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// A span of whole hours.
    pub const fn hours(hours: u64) -> Self {
        Self(hours * 3_600_000)
    }

    /// A span of whole days.
    pub const fn days(days: u64) -> Self {
        Self::hours(24 * days)
    }
}

impl Add<Span> for Millis {
    type Output = Self;

    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Add for Span {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Self;

    /// What is left of this span after the other; never less than nothing.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}
