//! Whole games as text: the game record and the tournament record of `RULES.md` §9.
//!
//! ```text
//! [RuleSet "TAIWANESE"]
//! [Seat1 "ana"]
//! [Seat2 "bo"]
//! [Result "2,1"]
//! [Reason "RESIGNATION"]
//! [Created "2024-05-01T12:30:00Z"]
//! [Deal "r P C p h …"]
//!
//! 1. e3(c) 2. h2(H) 3. b3(a) 4. 1!RESIGNATION
//! ```
//!
//! - **Headers** are `[Name "value"]`, one a line, each name once; `"` and `\` in a value follow a
//!   `\`. Known are, in the order in which they are written:
//!   - `RuleSet`, always there: a preset and what differs from it (`RuleSet`'s `Display`);
//!   - `Position`, where the game did not start with every piece face down: the position's text;
//!   - `Seat1` …: who sat there;
//!   - `Result` and `Reason`, together, once the game has ended: the places in seat order (`1,2`:
//!     seat 1 won; `1,1`: a draw; `2,1,3,3`), or `-` for an aborted game, and the end's name;
//!   - `Created`: when, in UTC, as RFC 3339 writes it;
//!   - `Deal`, only after the end: what lay face down at the start, in index order, split by
//!     blanks, `.` on the other squares.
//!
//!   Others are kept and written after these.
//! - After a blank line come the **records of actions**. Before the first of each turn stands the
//!   turn's number with a full stop; a turn has several in a chain. Lines are wrapped.
//! - A seat that **left**, on its turn or off it, stands where it happened: `3!TIMEOUT`, within
//!   the turn that was to be played or was in progress.
//!
//! What lay under the pieces that were turned up stands in the records, so a record is read and
//! replayed without its deal. Reading checks the form; [`GameRecord::replay`] checks the game.

mod cdc;
mod error;
mod frame;
mod heading;
mod read;
mod replay;
mod scribe;
mod time;
mod write;

use std::fmt;

use super::deal::{Deal, DealError};
use super::outcome::{EndReason, Outcome};
use super::position::Position;
use super::record::Record;
use super::referee::Referee;
use super::rule_set::RuleSet;
use super::seat::Seat;
use heading::Heading;

pub use cdc::CdcGameError;
pub use error::{GameRecordError, HeaderError, ReplayError};
pub use scribe::{Scribe, SeatNotIn};
pub use time::UtcTime;

/// A game as it is written down. Its form is right; whether the rules allow it is
/// [`GameRecord::replay`]'s to say.
///
/// It comes from a text (`FromStr`, [`GameRecord::from_cdc`]) or from a [`Scribe`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    heading: Heading,
    entries: Vec<Entry>,
}

/// One thing that happened, with the turn that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of the turn.
    pub turn: u32,
    /// What happened.
    pub event: Event,
}

/// What happened in a game. Its text is that of a game record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The seat to move acted.
    Acted(Record),
    /// A seat left, on its turn or off it: `3!TIMEOUT`.
    Left {
        /// Which.
        seat: Seat,
        /// Why.
        reason: LeaveReason,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Acted(record) => fmt::Display::fmt(record, f),
            Self::Left { seat, reason } => write!(f, "{seat}!{}", EndReason::from(*reason)),
        }
    }
}

/// Why a seat left a game other than by the rules of the board (`RULES.md` §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeaveReason {
    /// It resigned.
    Resignation,
    /// Its clock ran out.
    Timeout,
    /// It has no clock, and did not act within the game's inactivity limit.
    Abandoned,
}

impl LeaveReason {
    /// Every reason.
    pub const ALL: [Self; 3] = [Self::Resignation, Self::Timeout, Self::Abandoned];
}

impl From<LeaveReason> for EndReason {
    fn from(reason: LeaveReason) -> Self {
        match reason {
            LeaveReason::Resignation => Self::Resignation,
            LeaveReason::Timeout => Self::Timeout,
            LeaveReason::Abandoned => Self::Abandoned,
        }
    }
}

impl GameRecord {
    /// The rule set.
    pub fn rules(&self) -> &RuleSet {
        &self.heading.rules
    }

    /// The position that the game started from, where that was not every piece face down.
    pub fn start(&self) -> Option<&Position> {
        self.heading.start.as_ref()
    }

    /// A referee at the start of the game.
    pub fn referee_at_start(&self) -> Referee {
        self.heading.referee()
    }

    /// Who sat there, where the record says so.
    pub fn seat(&self, seat: Seat) -> Option<&str> {
        self.heading.seats.get(seat.index())?.as_deref()
    }

    /// When the game was created, as RFC 3339 in UTC.
    pub fn created(&self) -> Option<&str> {
        self.heading.created.as_ref().map(UtcTime::as_str)
    }

    /// How the game ended; `None` where it goes on.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.heading.outcome.as_ref()
    }

    /// What lay face down at the start; only of a game that has ended.
    pub fn deal(&self) -> Option<&Deal> {
        self.heading.deal.as_ref()
    }

    /// The headers that this crate does not know, in order: name and value.
    pub fn other_headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.heading.others.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// What happened, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Says who sat there.
    ///
    /// # Errors
    /// Where the rule set has no such seat, or the name has control characters.
    pub fn name_seat(&mut self, seat: Seat, name: impl Into<String>) -> Result<(), HeaderError> {
        let name = heading::checked_value(&format!("Seat{seat}"), name.into())?;
        let seats = self.heading.rules.seats();
        let place = self.heading.seats.get_mut(seat.index());
        *place.ok_or(HeaderError::NoSuchSeat { seat, seats })? = Some(name);
        Ok(())
    }

    /// Says when the game was created.
    ///
    /// # Errors
    /// Where that is no time in UTC as RFC 3339 writes it (`2024-05-01T12:30:00Z`).
    pub fn set_created(&mut self, time: impl AsRef<str>) -> Result<(), HeaderError> {
        self.heading.created = Some(time.as_ref().parse()?);
        Ok(())
    }

    /// Adds the deal of a game that has ended.
    ///
    /// # Errors
    /// Where the game goes on, or the deal is not one of its start.
    pub fn reveal(&mut self, deal: Deal) -> Result<(), HeaderError> {
        if self.heading.outcome.is_none() {
            return Err(HeaderError::DealBeforeTheEnd);
        }
        deal.check_hidden(&self.heading.start_position())?;
        self.heading.deal = Some(deal);
        Ok(())
    }

    /// Sets a header that this crate does not know.
    ///
    /// # Errors
    /// Where it does know it, or name or value cannot be written.
    pub fn set_header(
        &mut self,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<(), HeaderError> {
        self.heading.set_other(name.into(), value.into())
    }
}

impl From<DealError> for HeaderError {
    fn from(fault: DealError) -> Self {
        Self::Deal(fault)
    }
}
