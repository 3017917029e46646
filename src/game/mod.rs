//! One hosted game: seats, deal, log. Pure: time and randomness come from the caller.
//!
//! A [`Game`] is made by [`Game::create`] or, from what was stored, by [`Game::replay`]. [`decide`]
//! says whether a [`Command`] may be and what [`Change`] it is; [`Game::after`] makes the change.

mod check;
mod clocks;
mod command;
mod create;
mod deal;
mod entropy;
mod event;
mod hash;
mod id;
mod line;
mod log;
mod offers;
mod packing;
mod player;
mod refusal;
mod rematch;
mod replay;
mod request;
mod revision;
mod schedule;
mod seat_set;
mod seats;
mod secret;
mod series;
mod shuffle;
mod spectating;
mod state;
mod step;
mod stored;
mod time;
mod time_control;
mod token;

pub use clocks::Reading;
pub use command::{Change, Command, decide};
pub use create::{NewGame, NewGameFault, Seating};
pub use deal::{Commitment, DealSource, derive_deal};
pub use entropy::{Entropy, EntropyError};
pub use event::{Entry, Event, Ruling};
pub use id::{GameId, GameIdError};
pub use log::{Entries, Log};
pub use offers::{Offer, Takeback};
pub use packing::PackingError;
pub use player::{PlayerId, PlayerIdError};
pub use refusal::Refusal;
pub use rematch::NewRematch;
pub use replay::Contradiction;
pub use request::{REMEMBERED_EACH, Recall, Request, Requests};
pub use revision::{Etag, EtagError, History, Revision, Version};
pub use schedule::{Limits, REMOVAL_MARGIN, Schedule};
pub use seat_set::SeatSet;
pub use seats::{Claim, NewSeat, StoredSeat};
pub use secret::{GameKey, ServerSeed};
pub use series::{FirstSeat, Score, Series, Standing};
pub use state::{Deed, Game, GameState, Milestone};
pub use stored::{EngineVersion, Facts, Spectators, StoredGame};
pub use time::{Millis, Span};
pub use time_control::{Clock, TimeControl};
pub use token::{SeatToken, SeatTokenError};
