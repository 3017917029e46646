//! What a write tells in its shard's feed.

use bytes::Bytes;
use prost::Message;

use super::names::Named;
use super::{CodecError, proto};
use crate::game::{GameId, Milestone, Revision};

/// Something that happened in the life of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifecycle {
    /// What.
    pub milestone: Milestone,
    /// Which game.
    pub game: GameId,
    /// In which revision.
    pub revision: Revision,
}

impl Lifecycle {
    /// The entry for the feed.
    pub fn to_bytes(&self) -> Bytes {
        let entry = proto::FeedEntry {
            milestone: self.milestone.number(),
            game_id: self.game.to_string(),
            revision: self.revision.0,
        };
        entry.encode_to_vec().into()
    }

    /// Reads an entry of a feed.
    ///
    /// # Errors
    /// Where it is none that this release knows.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        let entry = proto::FeedEntry::decode(bytes)?;
        let game = entry.game_id.parse().map_err(|_| CodecError::Field {
            field: "game_id",
            value: format!("{} bytes", entry.game_id.len()),
            expected: "the id of a game",
        })?;
        let milestone = Named::from_number(entry.milestone)?;
        Ok(Self { milestone, game, revision: Revision(entry.revision) })
    }
}
