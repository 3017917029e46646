//! What can be wrong with the record of a game.

use super::Event;
use crate::rules::deal::DealError;
use crate::rules::outcome::Outcome;
use crate::rules::piece::Piece;
use crate::rules::record::Record;
use crate::rules::referee::PlayError;
use crate::rules::seat::Seat;
use crate::rules::square::Square;

/// A text that is no game record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameRecordError {
    /// A line says something that it cannot.
    #[error("line {line}, {part} `{value}`: expected {expected}")]
    Line {
        /// Which line, from 1.
        line: usize,
        /// Which part of it: a header's name, or what kind of word.
        part: String,
        /// What it says, at most the first 80 characters.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// A header is missing.
    #[error("the header `{name}` is missing: expected {expected}")]
    Missing {
        /// Which.
        name: &'static str,
        /// What would be right.
        expected: &'static str,
    },
}

impl GameRecordError {
    pub(super) fn new(line: usize, part: &str, value: &str, expected: impl Into<String>) -> Self {
        let (part, value) = (part.to_owned(), value.chars().take(80).collect());
        Self::Line { line, part, value, expected: expected.into() }
    }
}

/// A header that a game record cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// A name that is none.
    #[error("the header name `{0}`: expected a letter, then letters, digits and `_`, at most 64")]
    Name(String),
    /// A name that is taken by a header with a meaning of its own.
    #[error("the header `{0}` has a meaning of its own: set it by the method for it")]
    Known(String),
    /// A value that cannot stand on one line.
    #[error("the header `{name}` is {value:?}: expected no control characters")]
    Value {
        /// The header.
        name: String,
        /// Its value.
        value: String,
    },
    /// A time that is none.
    #[error("the header `Created` is {0:?}: expected a time in UTC like `2024-05-01T12:30:00Z`")]
    Created(String),
    /// A seat that the rule set does not have.
    #[error("there is no seat {seat}: expected a seat from 1 to {seats}")]
    NoSuchSeat {
        /// The seat.
        seat: Seat,
        /// How many there are.
        seats: u8,
    },
    /// A deal of a game that goes on.
    #[error("the deal is hidden until the game has ended")]
    DealBeforeTheEnd,
    /// A deal that the game's start cannot have.
    #[error("the header `Deal`: {0}")]
    Deal(DealError),
}

/// A record of a game that the rules contradict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// An action that could not be played.
    #[error("turn {turn}, `{record}`: {fault}")]
    Refused {
        /// The turn, as written.
        turn: u32,
        /// What is written.
        record: Record,
        /// Why it could not be played.
        fault: PlayError,
    },
    /// An action that does something else.
    #[error("turn {turn}, `{record}`: by the rules it was `{played}`")]
    Record {
        /// The turn, as written.
        turn: u32,
        /// What is written.
        record: Record,
        /// What the rules make of it.
        played: Record,
    },
    /// An action that turned up a piece of which the record says nothing.
    #[error("turn {turn}, `{record}`: expected in brackets what was turned up on {square}")]
    Unsaid {
        /// The turn, as written.
        turn: u32,
        /// What is written.
        record: Record,
        /// The square.
        square: Square,
    },
    /// A seat left that was not in the game.
    #[error("turn {turn}, `{event}`: the seat is not in the game, or the game is over")]
    NotIn {
        /// The turn, as written.
        turn: u32,
        /// What is written.
        event: Event,
    },
    /// Something stands in another turn than it belongs to.
    #[error("turn {turn}, `{event}`: by the rules it belongs to turn {played}")]
    Turn {
        /// The turn, as written.
        turn: u32,
        /// What is written.
        event: Event,
        /// The turn by the rules.
        played: u32,
    },
    /// The deal has another piece there than was turned up.
    #[error("turn {turn}, `{event}`: the header `Deal` has {} on {square}", shown(*.dealt))]
    Deal {
        /// The turn, as written.
        turn: u32,
        /// What is written.
        event: Event,
        /// The square that was turned up.
        square: Square,
        /// What the deal has there.
        dealt: Option<Piece>,
    },
    /// The headers say another result.
    #[error(
        "the headers `Result` and `Reason` say {}, but by the rules {}",
        told(.written.as_ref()), told(.played.as_ref())
    )]
    Outcome {
        /// What is written.
        written: Option<Outcome>,
        /// What the rules make of the game.
        played: Option<Outcome>,
    },
}

fn shown(piece: Option<Piece>) -> String {
    piece.map_or_else(|| "nothing".to_owned(), |piece| piece.to_string())
}

fn told(outcome: Option<&Outcome>) -> String {
    let Some(outcome) = outcome else { return "that the game goes on".to_owned() };
    let places = super::heading::places_text(outcome);
    format!("that it ended `{places}` by {}", outcome.reason)
}
