//! Where games are kept.
//!
//! [`Store`] is what the service needs of a store; [`open()`] makes one from an address. Every
//! store passes the same conformance suite. A store knows nothing of Banqi: a game is a
//! [`Record`], whose header it compares and whose payload it never reads.

mod aspect;
mod clock;
pub mod codec;
mod commit;
mod due;
mod embedded;
mod entry;
mod error;
mod examine;
mod finding;
mod hint;
mod measured;
mod open;
mod place;
mod player_index;
mod presence;
mod record;
mod redis;
mod replica;
mod secret_file;
mod shard;
mod system;
mod traced_call;

use async_trait::async_trait;

pub use aspect::{Aspect, Severity};
pub use clock::{CLOCK_TOLERANCE, MAX_ADVANCE, SystemTimeSource, TimeSource};
pub use commit::{Change, Commit, CommitError, Durability, Outcome, Write};
pub use due::Due;
pub use entry::{Entry, EntryId, EntryIdError, FEED_KEPT};
pub use error::{Effect, Misconfiguration, StoreError};
pub use examine::examine;
pub use finding::Finding;
pub use hint::{Hint, Hints, Subscription};
pub use measured::MeasuredStore;
pub use open::{Namespace, NamespaceError, Options, open};
pub use place::{Place, by_place};
pub use player_index::IndexEntry;
pub use presence::{Presence, PresentSlot, Slot, StreamId};
pub use record::{CorruptRecord, Found, Record};
pub use replica::{ReplicaId, shards_swept_by, sweeper_of};
pub(crate) use secret_file::{is_open_to_others, read_secret_file};
pub use shard::{Shard, ShardCount, ShardCountError};
pub use system::System;

use self::codec::RecordCodec;
use crate::game::{GameId, Millis, Span, Version};

/// What the service needs of a store.
///
/// Every call fails within the deadline that the store was opened with rather than wait for a
/// store that is away, and works again by itself once the store is back. A read is always asked
/// of the store itself. Dropping a call's future does not undo, and may not prevent, its effect.
///
/// # Errors
/// Every call may fail with [`StoreError::Unavailable`], which says whether it may have had its
/// effect, and with [`StoreError::Misconfigured`] when access is denied.
#[async_trait]
pub trait Store: std::fmt::Debug + Send + Sync {
    /// Into how many shards the games are spread.
    fn shards(&self) -> ShardCount;

    /// On which server a shard is, as far as is known now. A call about many games or shards fails
    /// where one of their servers is away, so who goes on with the others sorts them first
    /// ([`by_place`]).
    fn place(&self, shard: Shard) -> Place;

    /// The kind of database, as traces name it.
    fn system(&self) -> System;

    /// How whoever uses the store writes and reads its records, as it was opened with.
    fn records(&self) -> &RecordCodec;

    /// The record of a game, or `None` when there is no such game.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when what is stored is no record.
    async fn load(&self, game: &GameId) -> Result<Option<Record>, StoreError>;

    /// The same, of a server that is sure to be the one to ask since this was called: one that was
    /// replaced may not know it, and go on answering with what it has. It takes longer, and is for
    /// when somebody is to be told that something was lost.
    ///
    /// # Errors
    /// As [`Self::load`]; also [`StoreError::Unavailable`] where nobody can be found who is sure.
    async fn load_confirmed(&self, game: &GameId) -> Result<Option<Record>, StoreError>;

    /// The records of many games, in the order asked for.
    async fn load_many(&self, games: &[GameId]) -> Result<Vec<Found<Record>>, StoreError>;

    /// The versions of many games, in the order asked for: much cheaper than their records.
    async fn versions(&self, games: &[GameId]) -> Result<Vec<Found<Version>>, StoreError>;

    /// Writes if what stands is what was expected, and tells what stands otherwise; one round
    /// trip. Everybody who subscribed to a game that was written is told.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when another version stands than was expected, and it is no
    /// record. When [`StoreError::may_have_applied`], read the game before you try again.
    async fn commit(&self, commit: &Commit) -> Result<Outcome, StoreError>;

    /// An estimate of the shard's time, for reading clocks and for [`Commit::new`]. It is taken
    /// from what this process last heard of the shard, and asked for when that is too long ago.
    /// It may be half a round trip off, so two estimates may be out of order by as much.
    async fn now(&self, shard: Shard) -> Result<Millis, StoreError>;

    /// The same where nobody needs to be asked for it, which costs next to nothing; `None` where
    /// [`Self::now`] would ask, or always.
    fn known_now(&self, _: Shard) -> Option<Millis> {
        None
    }

    /// Advances the shards' clocks. Without a beat or a write for longer than [`MAX_ADVANCE`], the
    /// time of a shard in which a game has a deadline stands still; so such shards need a beat a
    /// second. In the others no clock of a game runs: their time is their source's.
    async fn beat(&self, shards: &[Shard]) -> Result<(), StoreError>;

    /// Subscribes to hints that a game, or who is present at it, may have changed. When this
    /// returns, every later change is hinted at: subscribe first, then read. Presence that ends by
    /// itself, because its lifetime is over, is no change that anybody is told of.
    async fn subscribe(&self, game: &GameId) -> Result<Subscription, StoreError>;

    /// Marks slots as present for a lifetime from now on, whether or not they were before. Whoever
    /// subscribed to a game is told if a slot of it was absent. Presence is kept beside the record
    /// and ends by itself; it may be lost with the process or the server that keeps it.
    async fn mark_present(&self, presences: &[Presence], lifetime: Span) -> Result<(), StoreError>;

    /// Takes back what streams marked as present; a slot is absent once no stream keeps it
    /// present, and whoever subscribed to the game is told. What was not marked does not matter.
    async fn clear_present(&self, presences: &[Presence]) -> Result<(), StoreError>;

    /// The slots that are present at each of these games, in the order asked for.
    async fn present(&self, games: &[GameId]) -> Result<Vec<Vec<PresentSlot>>, StoreError>;

    /// The earliest deadline of each shard, in the order asked for; `None` where no game has one.
    /// Cheap enough to ask for every shard several times a second.
    async fn first_deadlines(&self, shards: &[Shard]) -> Result<Vec<Option<Millis>>, StoreError>;

    /// Games of the shard whose deadline is `now` or earlier, earliest first, at most `limit`.
    /// Deadlines of games that have expired are cleared on the way.
    async fn due(&self, shard: Shard, now: Millis, limit: u32) -> Result<Vec<Due>, StoreError>;

    /// Lets a game be due at another time, or never (`None`), unless its deadline is no longer the
    /// one that [`Self::due`] told. The record stays as it is, and its next write sets the deadline
    /// anew.
    async fn postpone(&self, due: &Due, until: Option<Millis>) -> Result<(), StoreError>;

    /// Entries of the shard's feed after an entry (or, with `EntryId::default()`, from the
    /// start), oldest first, at most `limit`. Entries are kept for at least [`FEED_KEPT`].
    async fn feed(
        &self,
        shard: Shard,
        after: EntryId,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError>;

    /// Entries of the shard's outbox, oldest first, at most `limit`. They stay until they are
    /// acknowledged, so whoever applies them may see one twice, and never misses one.
    async fn outbox(&self, shard: Shard, limit: u32) -> Result<Vec<Entry>, StoreError>;

    /// Removes entries that were applied from the shard's outbox. Those that are gone already do
    /// not matter.
    async fn acknowledge(&self, shard: Shard, entries: &[EntryId]) -> Result<(), StoreError>;

    /// Adds a game to a player's, unless it is there already.
    async fn index_add(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError>;

    /// Removes a game from a player's, if it is there.
    async fn index_remove(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError>;

    /// A player's games, newest first, at most `limit`, from the one before `before` on.
    async fn index_page(
        &self,
        player: &str,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError>;

    /// All games, newest first, at most `limit`, from the one before `before` on. Every commit that
    /// lists a game has it here at once. Asks every shard, so it takes many times what a player's
    /// games do.
    async fn listing_page(
        &self,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError>;

    /// Removes a game from the list of all games, if it is there.
    async fn listing_remove(&self, entry: &IndexEntry) -> Result<(), StoreError>;

    /// Says that a replica is alive, for as long as [`HEARTBEAT_KEPT`].
    async fn heartbeat(&self, replica: ReplicaId) -> Result<(), StoreError>;

    /// The replicas that are alive, in the order of their ids.
    async fn live_replicas(&self) -> Result<Vec<ReplicaId>, StoreError>;

    /// Asks whether the store is there: one of its servers at least, where it has several.
    ///
    /// # Errors
    /// When none answers.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Looks at how the store is set up, for the operator.
    async fn checkup(&self) -> Result<Vec<Finding>, StoreError>;
}

/// For how long one heartbeat keeps a replica alive. Short, since for so long nobody sweeps the
/// shards of one that died; one that is only slow is given its shards back with its next beat.
pub const HEARTBEAT_KEPT: Span = Span(1_000);
