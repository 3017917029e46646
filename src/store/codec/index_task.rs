//! What a write leaves in its shard's outbox.

use bytes::Bytes;
use prost::Message;

use super::proto;
use crate::game::{GameIdError, Millis, PlayerId, PlayerIdError};
use crate::store::IndexEntry;

/// A game to be added to a player's. Doing it twice is doing it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexTask {
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
        let add = proto::IndexAdd {
            player_id: self.player.to_string(),
            game_id: self.entry.game.to_string(),
            created: self.entry.created.0,
        };
        let task = Some(proto::outbox_entry::Task::IndexAdd(add));
        proto::OutboxEntry { task }.encode_to_vec().into()
    }

    /// Reads an entry of an outbox.
    ///
    /// # Errors
    /// Where it is no task that this release knows.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, IndexTaskError> {
        let Some(proto::outbox_entry::Task::IndexAdd(add)) =
            proto::OutboxEntry::decode(bytes)?.task
        else {
            return Err(IndexTaskError::Unknown);
        };
        Ok(Self {
            player: add.player_id.parse()?,
            entry: IndexEntry { created: Millis(add.created), game: add.game_id.parse()? },
        })
    }
}
