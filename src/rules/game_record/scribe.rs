//! Writing a game down while it is played.

use super::heading::Heading;
use super::{Entry, Event, GameRecord, LeaveReason};
use crate::rules::action::Action;
use crate::rules::outcome::{EndReason, PlacesError};
use crate::rules::piece::Piece;
use crate::rules::position::Position;
use crate::rules::referee::{PlayError, Played, Referee};
use crate::rules::rule_set::RuleSet;
use crate::rules::seat::Seat;
use crate::rules::square::Square;

/// A referee who writes down what is played.
#[derive(Clone, Debug)]
pub struct Scribe {
    referee: Referee,
    record: GameRecord,
}

/// A seat that cannot leave: it is not in the game, or the game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("seat {0} cannot leave: it is not in the game, or the game is over")]
pub struct SeatNotIn(pub Seat);

impl Scribe {
    /// Begins to write a game: from a position, or with every piece face down.
    pub fn new(rules: &RuleSet, start: Option<Position>) -> Self {
        let start = start.filter(|position| *position != Position::start(rules));
        let heading = Heading::new(rules.clone(), start);
        Self { referee: heading.referee(), record: GameRecord { heading, entries: Vec::new() } }
    }

    /// The referee as the game stands.
    pub fn referee(&self) -> &Referee {
        &self.referee
    }

    /// Plays an action, as [`Referee::play`] does, and writes it down.
    ///
    /// # Errors
    /// If it is illegal, or the revealed piece cannot lie there; nothing is written then.
    pub fn play(
        &mut self,
        action: Action,
        reveal: impl FnOnce(Square) -> Option<Piece>,
    ) -> Result<Played, PlayError> {
        let played = self.referee.play(action, reveal)?;
        self.write(played.turn_number, Event::Acted(played.record));
        Ok(played)
    }

    /// A seat leaves, on its turn or off it.
    ///
    /// # Errors
    /// If it is not in the game, or the game is over.
    pub fn leave(&mut self, seat: Seat, reason: LeaveReason) -> Result<(), SeatNotIn> {
        let turn = self.referee.position().turn_number();
        leave(&mut self.referee, seat, reason)?;
        self.write(turn, Event::Left { seat, reason });
        Ok(())
    }

    /// All seats still in agree to a draw; nothing happens where the game is over.
    pub fn agree(&mut self) {
        self.referee.end(EndReason::Agreement);
    }

    /// The game is aborted; nothing happens where it is over.
    pub fn abort(&mut self) {
        self.referee.end(EndReason::Aborted);
    }

    /// The game ends with places that whoever runs it gives; nothing happens where it is over.
    ///
    /// # Errors
    /// Where the game cannot end with them.
    pub fn adjudicate(&mut self, places: &[u8]) -> Result<(), PlacesError> {
        self.referee.adjudicate(places)
    }

    /// What was written, with the result where the game is over.
    pub fn into_record(mut self) -> GameRecord {
        self.record.heading.outcome = self.referee.outcome().cloned();
        self.record
    }

    fn write(&mut self, turn: u32, event: Event) {
        self.record.entries.push(Entry { turn, event });
    }
}

/// Lets a seat leave that is in the game.
pub(super) fn leave(
    referee: &mut Referee,
    seat: Seat,
    reason: LeaveReason,
) -> Result<(), SeatNotIn> {
    let position = referee.position();
    let is_in = seat.number() <= position.seats() && !position.is_out(seat);
    if !is_in || referee.outcome().is_some() {
        return Err(SeatNotIn(seat));
    }
    referee.leave(seat, reason.into());
    Ok(())
}
