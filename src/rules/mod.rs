//! The game of Banqi itself: pure, with nothing hidden in it but [`Deal`].

mod action;
mod outcome;
mod piece;
mod preset;
mod record;
mod rule_set;
mod seat;
mod square;

pub use action::{Action, ActionError};
pub use outcome::{Departure, EndReason, Outcome};
pub use piece::{Colour, ColourSet, Kind, Piece, PieceCounts, PieceError};
pub use preset::Preset;
pub use record::{Record, RecordError};
pub use rule_set::{
    BoardRule, CannonRule, ChariotRule, EqualsRule, FaceDownRule, HorseRule, Ladder,
    RepetitionRule, RuleChanges, RuleFault, RuleSet,
};
pub use seat::Seat;
pub use square::{BoardSize, FILES, Square, SquareError, SquareSet};
