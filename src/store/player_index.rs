//! Entries of the lists of games: a player's, and all.

use crate::game::{GameId, Millis};

/// One game of a list. Game and time together are the entry: adding it twice adds it once, and
/// removing it takes the time it was added with. Entries sort by age, then by id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexEntry {
    /// When the game was created.
    pub created: Millis,
    /// Which game.
    pub game: GameId,
}
