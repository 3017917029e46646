//! The hosted games: read from the store, changed by compare-and-set.

mod attendance;
mod cache;
mod create;
mod credential;
mod erase;
mod list;
mod random;
mod rematch;
mod remove;
mod sight;
mod sweep;
mod write;

use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::sync::mpsc;

pub(crate) use attendance::{Attending, slot_of};
pub(crate) use create::{Created, Creation};
pub(crate) use credential::Credential;
pub(crate) use list::Wanted;
pub(crate) use random::{random_bytes, random_uuid};
pub(crate) use sight::{Sight, as_spectators_see};
pub(crate) use write::{Asked, ByAnyone, BySeat, BySeatOrPlatform, Done, RequestId};

use self::attendance::Attendance;
use self::cache::Cache;
use crate::api::error::ApiError;
use crate::game::{Game, GameId, Limits, Millis};
use crate::store::codec;
use crate::store::{Found, Record, Shard, Store, StoreError};

/// How many outboxes may wait to be drained at once; those beyond wait for the next sweep.
const OUTBOXES_TOLD: usize = 1024;

/// How games are hosted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostOptions {
    /// How long games last that nobody plays.
    pub limits: Limits,
    /// How many games this replica keeps ready in memory. It serves any number.
    pub cached_games: NonZeroUsize,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            cached_games: NonZeroUsize::new(10_000).unwrap_or(NonZeroUsize::MIN),
        }
    }
}

/// The games of one store, as one replica serves them.
#[derive(Debug)]
pub struct Host {
    store: Arc<dyn Store>,
    options: HostOptions,
    cache: Cache,
    outbox_written: mpsc::Sender<Shard>,
    attendance: Attendance,
}

impl Host {
    /// The games of a store. The receiver is told each shard whose outbox was written to, for
    /// whoever drains it.
    pub fn new(store: Arc<dyn Store>, options: HostOptions) -> (Arc<Self>, mpsc::Receiver<Shard>) {
        let (outbox_written, receiver) = mpsc::channel(OUTBOXES_TOLD);
        let cache = Cache::new(options.cached_games);
        let attendance = Attendance::default();
        (Arc::new(Self { store, options, cache, outbox_written, attendance }), receiver)
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// How games are hosted.
    pub fn options(&self) -> &HostOptions {
        &self.options
    }

    /// The game as the store has it now.
    ///
    /// # Errors
    /// Where there is no such game, it cannot be read, or the store is away.
    pub(crate) async fn read(&self, id: &GameId) -> Result<Arc<Game>, ApiError> {
        let found = self.store.load(id).await;
        let record = found.map_err(|error| ApiError::from(error).about(id))?;
        self.revive(id, &record.ok_or_else(|| ApiError::no_game(id))?)
    }

    /// The game as it stands now, after what has come due, and the time of its shard.
    ///
    /// # Errors
    /// Where there is no such game, it cannot be read, or the store is away.
    async fn read_current(&self, id: &GameId) -> Result<(Arc<Game>, Millis), ApiError> {
        let game = self.read(id).await?;
        let now = self.now(id).await?;
        Ok((self.enforce(game, now).await?, now))
    }

    /// Many games as the store has them now, in the order asked for.
    ///
    /// # Errors
    /// For the first of them that there is not, or that cannot be read.
    async fn read_many(&self, ids: &[GameId]) -> Result<Vec<Arc<Game>>, ApiError> {
        let found = self.store.load_many(ids).await?;
        ids.iter()
            .zip(found)
            .map(|(id, found)| {
                let record = found
                    .map_err(|corrupt| ApiError::from(StoreError::from(corrupt)).about(id))?
                    .ok_or_else(|| ApiError::no_game(id))?;
                self.revive(id, &record)
            })
            .collect()
    }

    /// Many games as the store has them now, in the order asked for; `None` for those that there are
    /// not, or that cannot be read.
    ///
    /// # Errors
    /// Where the store is away.
    pub(crate) async fn read_those_there(
        &self,
        ids: &[GameId],
    ) -> Result<Vec<Option<Arc<Game>>>, ApiError> {
        let found = self.store.load_many(ids).await?;
        let read = |(id, found): (&GameId, Found<Record>)| {
            let record = found.ok().flatten()?;
            self.revive(id, &record).ok()
        };
        Ok(ids.iter().zip(found).map(read).collect())
    }

    /// The present of the game's shard.
    ///
    /// # Errors
    /// Where the store is away.
    pub(crate) async fn now(&self, id: &GameId) -> Result<Millis, ApiError> {
        Ok(self.store.now(self.store.shards().shard_of(id)).await?)
    }

    /// The game that a record is; replays no more of it than this replica has not seen yet.
    fn revive(&self, id: &GameId, record: &Record) -> Result<Arc<Game>, ApiError> {
        let known = self.cache.get(id);
        if let Some(known) = known.as_ref().filter(|known| known.version() == record.version) {
            return Ok(Arc::clone(known));
        }
        let unreadable = |error| ApiError::unreadable(id, &error);
        let game = match &known {
            Some(known) => {
                let stored = codec::read_on(known.stored(), record).map_err(unreadable)?;
                known.catch_up(stored)
            }
            None => Game::replay(codec::read(id, record).map_err(unreadable)?),
        };
        let game = Arc::new(game.map_err(|error| ApiError::contradiction(id, &error))?);
        self.cache.put(&game);
        Ok(game)
    }
}
