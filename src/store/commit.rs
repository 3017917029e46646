//! One write: what is expected to stand, what shall stand instead, and what came of it.

use bytes::Bytes;

use super::{IndexEntry, Record, Shard, ShardCount};
use crate::game::{GameId, Millis, Span, Version};

/// What one game shall be changed to, and what must stand for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Which game.
    pub game: GameId,
    /// What must stand for the write to happen: this version, or nothing (`None`).
    pub expected: Option<Version>,
    /// What stands afterwards.
    pub change: Change,
}

/// What a write makes of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The record takes the place of what stood.
    Put {
        /// The record.
        record: Record,
        /// When, on the shard's clock, the game is due for a sweep; `None` when it never is.
        deadline: Option<Millis>,
        /// After which time without a write the record disappears; `None` when it never does.
        expiry: Option<Span>,
    },
    /// The game is deleted, and its deadline with it.
    Delete,
}

/// One atomic change of one shard: all of its writes happen, or none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    shard: Shard,
    present: Millis,
    first: Write,
    more: Vec<Write>,
    listed: Vec<Listed>,
    feed: Vec<Bytes>,
    outbox: Vec<Bytes>,
}

/// What a commit changes in the list of all games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// The game is there.
    Added(IndexEntry),
    /// It is there no more.
    Removed(IndexEntry),
}

impl Commit {
    /// How many games one commit writes at most.
    pub const MAX_WRITES: usize = 4;

    /// A commit of one write. `present` is the caller's estimate of the shard's time, as
    /// [`Store::now`](super::Store::now) gave it.
    pub fn new(shards: ShardCount, present: Millis, write: Write) -> Self {
        Self {
            shard: shards.shard_of(&write.game),
            present,
            first: write,
            more: Vec::new(),
            listed: Vec::new(),
            feed: Vec::new(),
            outbox: Vec::new(),
        }
    }

    /// Adds the write of another game in the same shard.
    ///
    /// # Errors
    /// [`CommitError`] when the game lies in another shard, is written by this commit already, or
    /// is one too many.
    pub fn and(mut self, shards: ShardCount, write: Write) -> Result<Self, CommitError> {
        let shard = shards.shard_of(&write.game);
        if shard != self.shard {
            return Err(CommitError::OtherShard { game: write.game, shard, of_commit: self.shard });
        }
        if self.writes().any(|other| other.game == write.game) {
            return Err(CommitError::SameGame { game: write.game });
        }
        if self.writes().count() == Self::MAX_WRITES {
            return Err(CommitError::TooMany);
        }
        self.more.push(write);
        Ok(self)
    }

    /// Adds a game of the shard to the list of all games.
    #[must_use]
    pub fn with_listed(mut self, entry: IndexEntry) -> Self {
        self.listed.push(Listed::Added(entry));
        self
    }

    /// Removes a game of the shard from the list of all games.
    #[must_use]
    pub fn with_unlisted(mut self, entry: IndexEntry) -> Self {
        self.listed.push(Listed::Removed(entry));
        self
    }

    /// Adds an entry to the shard's feed.
    #[must_use]
    pub fn with_feed_entry(mut self, entry: Bytes) -> Self {
        self.feed.push(entry);
        self
    }

    /// Adds an entry to the shard's outbox.
    #[must_use]
    pub fn with_outbox_entry(mut self, entry: Bytes) -> Self {
        self.outbox.push(entry);
        self
    }

    /// The shard in which all of it lies.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// The estimated present.
    pub fn present(&self) -> Millis {
        self.present
    }

    /// The writes: one to [`Self::MAX_WRITES`].
    pub fn writes(&self) -> impl Iterator<Item = &Write> {
        std::iter::once(&self.first).chain(&self.more)
    }

    /// What changes in the list of all games.
    pub(super) fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// The entries for the shard's feed, oldest first.
    pub fn feed(&self) -> &[Bytes] {
        &self.feed
    }

    /// The entries for the shard's outbox, oldest first.
    pub fn outbox(&self) -> &[Bytes] {
        &self.outbox
    }
}

/// A write that cannot be part of a commit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// The game lies in another shard.
    #[error(
        "game {game} lies in shard {shard}: a commit writes games of one shard, here {of_commit}"
    )]
    OtherShard {
        /// The game.
        game: GameId,
        /// Its shard.
        shard: Shard,
        /// The commit's shard.
        of_commit: Shard,
    },
    /// The game is written already.
    #[error("game {game} is written twice: a commit writes a game at most once")]
    SameGame {
        /// The game.
        game: GameId,
    },
    /// The commit is full.
    #[error("a commit writes at most {} games", Commit::MAX_WRITES)]
    TooMany,
}

/// What came of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// All of it was written.
    Applied {
        /// The shard's time at the write.
        now: Millis,
    },
    /// Something else stood than was expected. Nothing was written.
    Conflict {
        /// What stands, in the order of the commit's writes; `None` where nothing does.
        current: Vec<Option<Record>>,
        /// The shard's time.
        now: Millis,
    },
    /// The estimated present was more than [`CLOCK_TOLERANCE`](super::CLOCK_TOLERANCE) off.
    /// Nothing was written. The store has taken the right time from the answer, so asking
    /// [`Store::now`](super::Store::now) again and deciding anew is all there is to do.
    ClockOff {
        /// The shard's time.
        now: Millis,
    },
}
