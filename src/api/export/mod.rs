//! Games as text, for keeping and for taking elsewhere: `docs/export.md`.

mod describe;
mod document;
mod hexadecimal;
mod restore;
mod tell;
mod verify;

pub use document::{
    ClaimDocument, EventDocument, GameDocument, LogDocument, Proof, ResultDocument, SeatDocument,
    SeriesDocument, SeriesSeatDocument, SpectatorsDocument, StartDocument, StateDocument,
    TimeControlDocument,
};
pub use hexadecimal::{Hexadecimal, HexadecimalError};
pub use restore::DocumentFault;
pub use verify::Verdict;

use crate::api::convert;
use crate::game::Game;
use crate::rules::GameRecord;

/// A game's record with everything that its headers can say. Labels whose keys can be names of headers
/// are headers.
pub fn record(game: &Game) -> GameRecord {
    let mut record = game.record();
    if record.created().is_none() {
        let created = convert::game::time(game.created_at()).to_string();
        // Times beyond the year 9999 have no such form, and then the header is left out.
        let _ = record.set_created(created);
    }
    for (key, value) in &game.stored().facts.labels {
        // A key that is no name, or the name of a header with a meaning of its own.
        let _ = record.set_header(key, value);
    }
    record
}
