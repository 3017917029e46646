//! Games that somebody must look at.

use crate::game::{GameId, Millis};

/// A game and when, on its shard's clock, it is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Which game.
    pub game: GameId,
    /// When.
    pub deadline: Millis,
}
