//! What a write leaves in its shard's outbox.

use bytes::Bytes;
use prost::Message;

use super::proto::{self, outbox_entry::Task};
use crate::game::{GameIdError, Millis, PlayerId, PlayerIdError};
use crate::store::IndexEntry;

/// What is to be done with a player's games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexChange {
    /// The game is one of them.
    Add,
    /// It is none of them any more.
    Remove,
}

/// A game to be added to a player's, or removed from them. Doing it twice is doing it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexTask {
    /// What.
    pub change: IndexChange,
    /// Whose games.
    pub player: PlayerId,
    /// Which game, and when it was created.
    pub entry: IndexEntry,
}

/// An entry of an outbox that is no task which this release knows.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IndexTaskError {
    /// It is no message of the schema.
    #[error("the outbox entry cannot be decoded: {0}")]
    Message(#[from] prost::DecodeError),
    /// It has no task, or one of a later release.
    #[error("the outbox entry has no task that this release knows")]
    Unknown,
    /// It names no game.
    #[error("the outbox entry: {0}")]
    Game(#[from] GameIdError),
    /// It names no player.
    #[error("the outbox entry: {0}")]
    Player(#[from] PlayerIdError),
}

impl IndexTask {
    /// The entry for the outbox.
    pub fn to_bytes(&self) -> Bytes {
        let player_id = self.player.to_string();
        let game_id = self.entry.game.to_string();
        let Millis(created) = self.entry.created;
        let task = match self.change {
            IndexChange::Add => Task::IndexAdd(proto::IndexAdd { player_id, game_id, created }),
            IndexChange::Remove => {
                Task::IndexRemove(proto::IndexRemove { player_id, game_id, created })
            }
        };
        proto::OutboxEntry { task: Some(task) }.encode_to_vec().into()
    }

    /// Reads an entry of an outbox.
    ///
    /// # Errors
    /// Where it is no task that this release knows.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, IndexTaskError> {
        let task = proto::OutboxEntry::decode(bytes)?.task.ok_or(IndexTaskError::Unknown)?;
        let (change, player, game, created) = match task {
            Task::IndexAdd(add) => (IndexChange::Add, add.player_id, add.game_id, add.created),
            Task::IndexRemove(gone) => {
                (IndexChange::Remove, gone.player_id, gone.game_id, gone.created)
            }
        };
        let entry = IndexEntry { created: Millis(created), game: game.parse()? };
        Ok(Self { change, player: player.parse()?, entry })
    }
}
