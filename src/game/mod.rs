//! One hosted game: seats, deal, log. Pure: time and randomness come from the caller.

mod id;
mod revision;
mod time;

pub use id::{GameId, GameIdError};
pub use revision::{Etag, EtagError, History, Revision, Version};
pub use time::{Millis, Span};
