//! The game of Banqi itself: pure, with nothing hidden in it but [`Deal`].
//!
//! A [`RuleSet`] says what is played, a [`Position`] what everyone sees, a [`Referee`] what is
//! legal, what an action does and when the game ends. Which piece a flip turns up is the caller's
//! to reveal, so nothing here can leak it.

mod action;
mod action_list;
mod board;
mod cdc;
mod chase;
mod deal;
mod ends;
mod game_record;
mod growing;
mod illegal;
mod layout;
mod legal;
mod lines;
mod outcome;
mod perpetual;
mod piece;
mod position;
mod position_text;
mod preset;
mod reach;
mod record;
mod referee;
mod repetition;
mod rule_set;
mod rule_set_text;
mod seat;
mod setup;
mod square;

pub use action::{Action, ActionError};
pub use action_list::ActionList;
pub use board::Cell;
pub use cdc::{CdcDeed, CdcRecord, CdcRecordError};
pub use deal::{Deal, DealError, full_set};
pub use game_record::{
    CdcGameError, Entry, Event, GameRecord, GameRecordError, HeaderError, LeaveReason, ReplayError,
    Scribe, SeatNotIn, UtcTime,
};
pub(crate) use growing::Growing;
pub use illegal::IllegalAction;
pub use layout::{Layout, LayoutError};
pub use outcome::{Departure, EndReason, Outcome, PlacesError};
pub use piece::{Colour, ColourSet, ColourSetError, Kind, Piece, PieceCounts, PieceError};
pub use position::Position;
pub use preset::Preset;
pub use record::{Record, RecordError};
pub use referee::{PlayError, Played, Referee};
pub use rule_set::{
    BoardRule, CannonRule, ChariotRule, EqualsRule, FaceDownRule, HorseRule, Ladder,
    RepetitionRule, RuleChanges, RuleFault, RuleSet,
};
pub use rule_set_text::RuleSetError;
pub use seat::Seat;
pub use setup::{SeatSetup, Setup, SetupFault};
pub use square::{BoardSize, FILES, Square, SquareError, SquareSet, Squares};
