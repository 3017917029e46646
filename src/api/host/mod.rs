//! The hosted games: read from the store, changed by compare-and-set.

mod attendance;
mod cache;
mod consequences;
mod create;
mod credential;
mod erase;
mod failed_write;
mod hosted_game;
mod list;
mod metrics;
mod random;
mod rematch;
mod remove;
mod sight;
mod sweep;
mod told;
mod write;

use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::sync::mpsc;

pub(crate) use attendance::{Attending, slot_of};
pub(crate) use create::{Created, Creation};
pub(crate) use credential::Credential;
pub(crate) use hosted_game::HostedGame;
pub(crate) use list::Wanted;
pub use metrics::HostMetrics;
pub(crate) use metrics::Watching;
pub use random::{RandomSource, SystemRandomSource};
pub(crate) use sight::{Sight, as_spectators_see};
pub(crate) use write::{Asked, ByAnyone, BySeat, BySeatOrPlatform, Done, RequestId};

use self::attendance::Attendance;
use self::cache::Cache;
use self::metrics::Reading;
use self::told::Told;
use crate::api::error::{ApiError, Reason};
use crate::game::{Contradiction, Etag, Game, GameId, Limits, Millis};
use crate::store::codec::CodecError;
use crate::store::{Found, Record, Shard, Store, StoreError, SystemTimeSource, TimeSource};

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

/// Why a record is no game that can be played.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error(transparent)]
    Record(#[from] CodecError),
    #[error(transparent)]
    Game(#[from] Contradiction),
}

impl Unreadable {
    /// Whether another replica may be able to read it.
    fn may_be_read_elsewhere(&self) -> bool {
        match self {
            Self::Record(error) => error.may_be_read_elsewhere(),
            Self::Game(error) => matches!(error, Contradiction::NewerEngine { .. }),
        }
    }
}

/// The games of one store, as one replica serves them.
#[derive(Debug)]
pub struct Host {
    store: Arc<dyn Store>,
    options: HostOptions,
    cache: Cache,
    unreadable: Told,
    outbox_written: mpsc::Sender<Shard>,
    attendance: Attendance,
    random: Arc<dyn RandomSource>,
    time: Arc<dyn TimeSource>,
    metrics: HostMetrics,
}

impl Host {
    /// The games of a store. The receiver is told each shard whose outbox was written to, for
    /// whoever drains it.
    pub fn new(store: Arc<dyn Store>, options: HostOptions) -> (Arc<Self>, mpsc::Receiver<Shard>) {
        Self::with_sources(store, options, Arc::new(SystemRandomSource), Arc::new(SystemTimeSource))
    }

    /// The same with other sources of randomness, which whoever knows them can foretell, and of the
    /// system's time: for simulations.
    pub fn with_sources(
        store: Arc<dyn Store>,
        options: HostOptions,
        random: Arc<dyn RandomSource>,
        time: Arc<dyn TimeSource>,
    ) -> (Arc<Self>, mpsc::Receiver<Shard>) {
        let (outbox_written, receiver) = mpsc::channel(OUTBOXES_TOLD);
        let cache = Cache::new(options.cached_games);
        let unreadable = Told::default();
        let attendance = Attendance::default();
        let metrics = HostMetrics::default();
        let host = Self {
            store,
            options,
            cache,
            unreadable,
            outbox_written,
            attendance,
            random,
            time,
            metrics,
        };
        (Arc::new(host), receiver)
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What is counted of them.
    pub fn metrics(&self) -> &HostMetrics {
        &self.metrics
    }

    /// How games are hosted.
    pub fn options(&self) -> &HostOptions {
        &self.options
    }

    /// The game as the store has it now. Where that is not what this replica knows of the game or
    /// what has come of it, the store is asked to be sure ([`Self::read_confirmed`]).
    ///
    /// # Errors
    /// Where there is no such game, it cannot be read, or the store is away.
    pub(crate) async fn read(&self, id: &GameId) -> Result<Arc<HostedGame>, ApiError> {
        let known = self.cache.get(id).map(|known| known.version());
        let found = self.store.load(id).await;
        let record = found.map_err(|error| ApiError::store_failed(id, &error))?;
        let Some(known) = known else {
            return self.revive(id, &record.ok_or_else(|| ApiError::no_game(id))?);
        };
        if let Some(record) = record
            && record.version.revision >= known.revision
        {
            let game = self.revive(id, &record)?;
            if game.version_at(known.revision) == Some(known) {
                return Ok(game);
            }
        }
        self.read_confirmed(id).await
    }

    /// The game as a server of the store has it that is sure to be the one to ask: for who is to be
    /// told that some of it was lost.
    ///
    /// # Errors
    /// As [`Self::read`]; also where nobody can be found who is sure.
    pub(crate) async fn read_confirmed(&self, id: &GameId) -> Result<Arc<HostedGame>, ApiError> {
        let found = self.store.load_confirmed(id).await;
        let record = found.map_err(|error| ApiError::store_failed(id, &error))?;
        let Some(record) = record else {
            self.cache.forget(id);
            return Err(ApiError::no_game(id));
        };
        self.revive(id, &record)
    }

    /// A game as it was read, or, where an etag is no state of it, as the store has it for sure:
    /// before anybody is told that history was lost.
    ///
    /// # Errors
    /// As [`Self::read_confirmed`].
    pub(super) async fn sure_of(
        &self,
        game: Arc<HostedGame>,
        etag: Option<Etag>,
    ) -> Result<Arc<HostedGame>, ApiError> {
        match etag {
            Some(Etag(told)) if game.version_at(told.revision) != Some(told) => {
                self.read_confirmed(game.id()).await
            }
            _ => Ok(game),
        }
    }

    /// The game as it stands now, after what has come due, and the time of its shard.
    ///
    /// # Errors
    /// Where there is no such game, it cannot be read, or the store is away.
    async fn read_current(&self, id: &GameId) -> Result<(Arc<HostedGame>, Millis), ApiError> {
        let game = self.read(id).await?;
        let now = self.now(id).await?;
        Ok((self.enforce(game, now).await?, now))
    }

    /// Many games as the store has them now, in the order asked for.
    ///
    /// # Errors
    /// For the first of them that there is not, or that cannot be read.
    async fn read_many(&self, ids: &[GameId]) -> Result<Vec<Arc<HostedGame>>, ApiError> {
        let found = self.store.load_many(ids).await?;
        ids.iter()
            .zip(found)
            .map(|(id, found)| {
                let record = found
                    .map_err(|corrupt| ApiError::store_failed(id, &StoreError::from(corrupt)))?
                    .ok_or_else(|| ApiError::no_game(id))?;
                self.revive(id, &record)
            })
            .collect()
    }

    /// Many games as the store has them now, in the order asked for; `None` for those that there are
    /// not, or that nobody can read.
    ///
    /// # Errors
    /// Where the store is away, or another replica may be able to read what this one cannot.
    pub(crate) async fn read_those_there(
        &self,
        ids: &[GameId],
    ) -> Result<Vec<Option<Arc<HostedGame>>>, ApiError> {
        let found = self.store.load_many(ids).await?;
        let read = |(id, found): (&GameId, Found<Record>)| match found {
            Ok(Some(record)) => self.revive_if_anybody_can(id, &record),
            Ok(None) | Err(_) => Ok(None),
        };
        ids.iter().zip(found).map(read).collect()
    }

    /// The present of the game's shard.
    ///
    /// # Errors
    /// Where the store is away.
    pub(crate) async fn now(&self, id: &GameId) -> Result<Millis, ApiError> {
        let shard = self.store.shards().shard_of(id);
        if let Some(now) = self.store.known_now(shard) {
            return Ok(now);
        }
        let now = self.store.now(shard).await;
        now.map_err(|error| ApiError::store_failed(id, &error))
    }

    /// The game that a record is; `None` where it is broken, which the log tells then.
    ///
    /// # Errors
    /// Where another replica may be able to read it.
    fn revive_if_anybody_can(
        &self,
        id: &GameId,
        record: &Record,
    ) -> Result<Option<Arc<HostedGame>>, ApiError> {
        match self.revive(id, record) {
            Ok(game) => Ok(Some(game)),
            Err(error) if matches!(error.reason(), Reason::RecordSealed | Reason::RecordNewer) => {
                Err(error)
            }
            Err(_) => Ok(None),
        }
    }

    /// The game that a record is, or an error that the log has too.
    fn revive(&self, id: &GameId, record: &Record) -> Result<Arc<HostedGame>, ApiError> {
        self.replay(id, record).map_err(|error| match error {
            Unreadable::Record(error) => ApiError::unreadable(id, &error),
            Unreadable::Game(error) => ApiError::contradiction(id, &error),
        })
    }

    /// The game that a record is; replays no more of it than this replica has not seen yet.
    fn replay(&self, id: &GameId, record: &Record) -> Result<Arc<HostedGame>, Unreadable> {
        let known = self.cache.get(id);
        if let Some(known) = known.as_ref().filter(|known| known.version() == record.version) {
            self.metrics.read(Reading::Hit);
            return Ok(Arc::clone(known));
        }
        let records = self.store.records();
        let (reading, game) = match &known {
            Some(known) => {
                (Reading::CaughtUp, known.catch_up(records.read_on(known.stored(), record)?))
            }
            None => (Reading::Replayed, Game::replay(records.read(id, record)?)),
        };
        let game = game?;
        self.metrics.read(reading);
        let game = HostedGame::after(game, known.as_deref());
        self.cache.put(&game);
        Ok(game)
    }
}
