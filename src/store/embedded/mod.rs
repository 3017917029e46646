//! The store within this process: in memory, or in one file that survives the process.
//!
//! Both are the same database; the one in a file is written through to the disk with every commit,
//! so what was acknowledged survives the death of the process and of the machine.

mod clocks;
mod database;
mod examine;
mod listing;
mod presence;
mod tables;

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use redb::{Database, DatabaseError, StorageError, backends::InMemoryBackend};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use self::database::Games;
use self::presence::Presences;
use super::codec::RecordCodec;
use super::hint::{Hint, Hints};
use super::{
    Commit, Due, Entry, EntryId, Finding, Found, HEARTBEAT_KEPT, IndexEntry, Misconfiguration,
    Options, Outcome, Place, Presence, PresentSlot, Record, ReplicaId, Shard, ShardCount, Store,
    StoreError, Subscription, System, TimeSource,
};
use crate::game::{GameId, Millis, Span, Version};

/// How much of a file is kept in memory, in bytes.
const FILE_CACHE: usize = 64 << 20;

/// A database in memory needs hardly any cache above it.
const MEMORY_CACHE: usize = 4 << 20;

/// A store within this process.
#[derive(Debug)]
pub(super) struct EmbeddedStore {
    /// Where the games are; `None` in memory.
    path: Option<PathBuf>,
    shards: ShardCount,
    records: RecordCodec,
    deadline: Duration,
    time: Arc<dyn TimeSource>,
    games: Arc<Games>,
    /// One writes at a time; the others wait here rather than each hold a thread.
    writer: Arc<Semaphore>,
    hints: Arc<Hints>,
    replicas: Mutex<HashMap<ReplicaId, Millis>>,
    /// In memory, since whoever is present goes with the process.
    presences: Presences,
}

impl EmbeddedStore {
    /// An empty store in memory.
    pub(super) fn in_memory(options: &Options) -> Result<Self, StoreError> {
        let database = Database::builder()
            .set_cache_size(MEMORY_CACHE)
            .create_with_backend(InMemoryBackend::new())
            .map_err(StoreError::not_applied)?;
        Self::new(database, None, options)
    }

    /// The store in a file, which is made when it is missing.
    pub(super) async fn in_file(path: PathBuf, options: &Options) -> Result<Self, StoreError> {
        let options = options.clone();
        // After a crash, opening reads the whole file: no deadline is right for that.
        let file = path.clone();
        let opened = spawn_blocking(move || {
            let database = Database::builder()
                .set_cache_size(FILE_CACHE)
                .create(&path)
                .map_err(|error| unusable(&path, &error))?;
            Self::new(database, Some(path), &options)
        });
        // The database gives up on some kinds of damage rather than return an error.
        opened.await.unwrap_or_else(|_| Err(unusable_because(&file, DAMAGED.into())))
    }

    fn new(
        database: Database,
        path: Option<PathBuf>,
        options: &Options,
    ) -> Result<Self, StoreError> {
        let configured = options.shards;
        let stored = tables::prepare(&database, configured.get()).map_err(StoreError::unknown)?;
        if stored != configured.get() {
            let stored = stored.to_string();
            return Err(Misconfiguration::ShardCountMismatch { stored, configured }.into());
        }
        Ok(Self {
            path,
            shards: configured,
            records: options.records.clone(),
            deadline: options.call_deadline,
            time: Arc::clone(&options.time),
            games: Arc::new(Games::new(database, configured, Arc::clone(&options.time))?),
            writer: Arc::new(Semaphore::new(1)),
            hints: Arc::new(Hints::given_here()),
            replicas: Mutex::default(),
            presences: Presences::default(),
        })
    }

    /// Runs a blocking call that only reads.
    async fn read<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Games) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let games = Arc::clone(&self.games);
        let deadline = Instant::now() + self.deadline;
        match timeout_at(deadline, spawn_blocking(move || call(&games))).await {
            Ok(done) => done.map_err(StoreError::not_applied)?,
            Err(_) => Err(StoreError::not_applied(format_args!("slower than {:?}", self.deadline))),
        }
    }

    /// Runs a blocking call that writes, when it is its turn.
    async fn write<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Games) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let deadline = Instant::now() + self.deadline;
        let turn = timeout_at(deadline, Arc::clone(&self.writer).acquire_owned())
            .await
            .map_err(|_| StoreError::not_applied(format_args!("busy for {:?}", self.deadline)))?
            .expect("the turns never end");
        let games = Arc::clone(&self.games);
        let written = spawn_blocking(move || {
            let done = call(&games);
            drop(turn);
            done
        });
        match timeout_at(deadline, written).await {
            Ok(done) => done.map_err(StoreError::unknown)?,
            Err(_) => Err(StoreError::no_answer(self.deadline)),
        }
    }

    fn replicas(&self) -> MutexGuard<'_, HashMap<ReplicaId, Millis>> {
        // No step leaves the map half-changed, whatever panics.
        self.replicas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What there is to say of a file whose content contradicts itself.
const DAMAGED: &str = "it is damaged: put a backup in its place, or move it away to begin anew";

fn unusable(path: &Path, error: &DatabaseError) -> StoreError {
    let reason = match error {
        DatabaseError::DatabaseAlreadyOpen => {
            "another process uses it, and one at a time can: if that is the service itself, leave \
             it; otherwise stop that one, or choose another file"
                .into()
        }
        DatabaseError::Storage(StorageError::Corrupted(what)) => format!("{what}; {DAMAGED}"),
        DatabaseError::Storage(StorageError::Io(error)) => match error.kind() {
            ErrorKind::NotFound => format!("{error}; make the directory that it is to be in"),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                format!("{error}; let the user of this process write to it and to its directory")
            }
            ErrorKind::InvalidData => {
                format!("{error}; it is not of this service: choose another file")
            }
            _ => format!("{error}; name a file that this process may read and write"),
        },
        error => error.to_string(),
    };
    unusable_because(path, reason)
}

fn unusable_because(path: &Path, reason: String) -> StoreError {
    Misconfiguration::UnusableFile { path: path.display().to_string(), reason }.into()
}

/// A limit as the number of items that it is.
fn items(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[async_trait]
impl Store for EmbeddedStore {
    fn shards(&self) -> ShardCount {
        self.shards
    }

    // All are in one place.
    fn place(&self, _: Shard) -> Place {
        Place::default()
    }

    fn records(&self) -> &RecordCodec {
        &self.records
    }

    fn system(&self) -> System {
        System::Embedded
    }

    async fn load(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        let game = game.clone();
        let mut found = self.read(move |games| games.load(&[game])).await?;
        Ok(found.pop().expect("one game was asked for")?)
    }

    // There is nobody else to ask.
    async fn load_confirmed(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        self.load(game).await
    }

    async fn load_many(&self, games: &[GameId]) -> Result<Vec<Found<Record>>, StoreError> {
        let wanted = games.to_vec();
        self.read(move |games| games.load(&wanted)).await
    }

    async fn versions(&self, games: &[GameId]) -> Result<Vec<Found<Version>>, StoreError> {
        let found = self.load_many(games).await?;
        let version = |found: Found<Record>| found.map(|record| record.map(|it| it.version));
        Ok(found.into_iter().map(version).collect())
    }

    async fn commit(&self, commit: &Commit) -> Result<Outcome, StoreError> {
        let changes = commit.clone();
        // The hints are given with the write, so that a caller that goes away takes none along.
        let hints = Arc::clone(&self.hints);
        self.write(move |games| {
            let outcome = games.commit(&changes)?;
            if matches!(outcome, Outcome::Applied { .. }) {
                changes.writes().for_each(|write| hints.give(write.game.as_str(), Hint::RECORD));
            }
            Ok(outcome)
        })
        .await
    }

    async fn now(&self, shard: Shard) -> Result<Millis, StoreError> {
        Ok(self.games.advance(shard).time)
    }

    async fn beat(&self, shards: &[Shard]) -> Result<(), StoreError> {
        let shards = shards.to_vec();
        self.write(move |games| games.beat(&shards)).await
    }

    async fn subscribe(&self, game: &GameId) -> Result<Subscription, StoreError> {
        Ok(self.hints.join(game.as_str()))
    }

    async fn mark_present(&self, presences: &[Presence], lifetime: Span) -> Result<(), StoreError> {
        let now = self.time.now();
        for game in self.presences.mark(presences, now, now + lifetime) {
            self.hints.give(game.as_str(), Hint::PRESENCE);
        }
        Ok(())
    }

    async fn clear_present(&self, presences: &[Presence]) -> Result<(), StoreError> {
        for game in self.presences.clear(presences, self.time.now()) {
            self.hints.give(game.as_str(), Hint::PRESENCE);
        }
        Ok(())
    }

    async fn present(&self, games: &[GameId]) -> Result<Vec<Vec<PresentSlot>>, StoreError> {
        Ok(self.presences.of(games, self.time.now()))
    }

    async fn first_deadlines(&self, shards: &[Shard]) -> Result<Vec<Option<Millis>>, StoreError> {
        let shards = shards.to_vec();
        self.read(move |games| games.first_deadlines(&shards)).await
    }

    async fn due(&self, shard: Shard, now: Millis, limit: u32) -> Result<Vec<Due>, StoreError> {
        if self.read(|games| games.has_expired()).await? {
            self.write(|games| games.drop_expired()).await?;
        }
        self.read(move |games| games.due(shard, now, items(limit))).await
    }

    async fn postpone(&self, due: &Due, until: Option<Millis>) -> Result<(), StoreError> {
        let due = due.clone();
        self.write(move |games| games.postpone(&due, until)).await
    }

    async fn feed(
        &self,
        shard: Shard,
        after: EntryId,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        self.read(move |games| games.feed(shard, after, items(limit))).await
    }

    async fn outbox(&self, shard: Shard, limit: u32) -> Result<Vec<Entry>, StoreError> {
        self.read(move |games| games.outbox(shard, items(limit))).await
    }

    async fn acknowledge(&self, shard: Shard, entries: &[EntryId]) -> Result<(), StoreError> {
        let entries = entries.to_vec();
        self.write(move |games| games.acknowledge(shard, &entries)).await
    }

    async fn index_add(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        let (player, entry) = (player.to_owned(), entry.clone());
        self.write(move |games| games.index_add(&player, &entry)).await
    }

    async fn index_remove(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        let (player, entry) = (player.to_owned(), entry.clone());
        self.write(move |games| games.index_remove(&player, &entry)).await
    }

    async fn index_page(
        &self,
        player: &str,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        let (player, before) = (player.to_owned(), before.cloned());
        self.read(move |games| games.index_page(&player, before.as_ref(), items(limit))).await
    }

    async fn listing_page(
        &self,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        let before = before.cloned();
        self.read(move |games| games.listing_page(before.as_ref(), items(limit))).await
    }

    async fn listing_remove(&self, entry: &IndexEntry) -> Result<(), StoreError> {
        let entry = entry.clone();
        self.write(move |games| games.listing_remove(&entry)).await
    }

    async fn heartbeat(&self, replica: ReplicaId) -> Result<(), StoreError> {
        self.replicas().insert(replica, self.time.now());
        Ok(())
    }

    async fn live_replicas(&self) -> Result<Vec<ReplicaId>, StoreError> {
        let now = self.time.now();
        let mut replicas = self.replicas();
        replicas.retain(|_, last| last.0.abs_diff(now.0) <= HEARTBEAT_KEPT.0);
        let mut live: Vec<ReplicaId> = replicas.keys().copied().collect();
        live.sort_unstable();
        Ok(live)
    }

    async fn ping(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn checkup(&self) -> Result<Vec<Finding>, StoreError> {
        Ok(vec![match &self.path {
            Some(path) => Finding::InFile { path: path.display().to_string() },
            None => Finding::InMemory,
        }])
    }
}
