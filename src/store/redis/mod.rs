//! The store on a Redis server.
//!
//! Everything that one write touches carries its shard as the hash tag of its key, so a script
//! can change it at once. `keys.rs` names the keys; the scripts beside it say what they do.

mod answer;
mod estimate;
mod keys;
mod link;
mod listener;
mod listing;
mod presence;
mod scripts;
mod setup;
mod write;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use redis::{Cmd, Value, cmd};
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

use self::answer::{parse_due, parse_entries, parse_index_entry, parse_replica};
use self::estimate::Estimates;
use self::keys::Keys;
use self::link::Link;
use self::scripts::Scripts;
use super::hint::Hints;
use super::record::parse_header;
use super::{
    Commit, Due, Entry, EntryId, Finding, Found, HEARTBEAT_KEPT, IndexEntry, Options, Outcome,
    Presence, PresentSlot, Record, ReplicaId, Shard, ShardCount, Store, StoreError, Subscription,
};
use crate::game::{GameId, Millis, Span, Version};

/// How many commands are sent at once at most, so that no call holds up the others for long.
const BATCH: usize = 256;

/// A store on one Redis server.
pub(super) struct RedisStore {
    /// Where the server is, without credentials.
    server: String,
    shards: ShardCount,
    deadline: Duration,
    keys: Keys,
    scripts: Scripts,
    link: Link,
    estimates: Estimates,
    hints: Arc<Hints>,
    _listener: AbortOnDropHandle<()>,
}

impl RedisStore {
    /// Connects to the server at a `redis://` address, and checks that it is one to work with.
    pub(super) async fn connect(address: &str, options: &Options) -> Result<Self, StoreError> {
        let client = setup::client(address)?;
        let hints = Arc::new(Hints::from_server());
        let store = Self {
            server: client.get_connection_info().addr().to_string(),
            shards: options.shards,
            deadline: options.call_deadline,
            keys: Keys::new(options.namespace.as_ref()),
            scripts: Scripts::new(),
            link: Link::new(client.clone(), options.call_deadline),
            estimates: Estimates::new(options.shards),
            hints: Arc::clone(&hints),
            _listener: listener::listen(client, hints),
        };
        setup::check_version(&store.link).await?;
        setup::record_shards(&store.link, &store.keys, store.shards).await?;
        Ok(store)
    }

    /// The beginning of a call of a script with this many keys.
    fn script_command(script: &redis::Script, keys: usize) -> Cmd {
        let mut command = cmd("EVALSHA");
        command.arg(script.get_hash()).arg(keys);
        command
    }

    async fn beat_some(&self, shards: &[Shard]) -> Result<(), StoreError> {
        let mut pipeline = redis::Pipeline::with_capacity(shards.len());
        for &shard in shards {
            let mut command = Self::script_command(&self.scripts.beat, 2);
            command.arg(self.keys.clock(shard)).arg(self.keys.deadlines(shard));
            pipeline.add_command(command);
        }
        let asked = Instant::now();
        let times: Vec<u64> = self.link.run_pipeline(&self.scripts.beat, &pipeline).await?;
        let answered = Instant::now();
        for (&shard, time) in shards.iter().zip(times) {
            self.estimates.note(shard, Millis(time), asked, answered);
        }
        Ok(())
    }

    /// What one command a game answers, in the order of the games.
    async fn of_each(
        &self,
        games: &[GameId],
        command: impl Fn(&GameId) -> Cmd,
    ) -> Result<Vec<Option<Bytes>>, StoreError> {
        let mut answers = Vec::with_capacity(games.len());
        for batch in games.chunks(BATCH) {
            let mut pipeline = redis::Pipeline::with_capacity(batch.len());
            for game in batch {
                pipeline.add_command(command(game));
            }
            answers.extend(self.link.pipeline::<Vec<Option<Bytes>>>(&pipeline).await?);
        }
        Ok(answers)
    }

    async fn entries(&self, command: &Cmd) -> Result<Vec<Entry>, StoreError> {
        parse_entries(self.link.query::<Value>(command).await?)
    }

    async fn replicas(&self, beating: Option<ReplicaId>) -> Result<Vec<ReplicaId>, StoreError> {
        let mut command = Self::script_command(&self.scripts.heartbeat, 1);
        command.arg(self.keys.replicas()).arg(HEARTBEAT_KEPT.0);
        command.arg(beating.map(|replica| replica.to_string()).unwrap_or_default());
        let ids: Vec<String> = self.link.run(&self.scripts.heartbeat, &command).await?;
        let mut replicas = ids.iter().map(|id| parse_replica(id)).collect::<Result<Vec<_>, _>>()?;
        replicas.sort_unstable();
        Ok(replicas)
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("server", &self.server)
            .field("shards", &self.shards)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for RedisStore {
    fn shards(&self) -> ShardCount {
        self.shards
    }

    async fn load(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        let mut command = cmd("GET");
        command.arg(self.keys.game(self.shards.shard_of(game), game));
        let stored: Option<Bytes> = self.link.query(&command).await?;
        Ok(stored.map(Record::from_stored).transpose()?)
    }

    async fn load_many(&self, games: &[GameId]) -> Result<Vec<Found<Record>>, StoreError> {
        let stored = self
            .of_each(games, |game| {
                let mut command = cmd("GET");
                command.arg(self.keys.game(self.shards.shard_of(game), game));
                command
            })
            .await?;
        Ok(stored.into_iter().map(|stored| stored.map(Record::from_stored).transpose()).collect())
    }

    async fn versions(&self, games: &[GameId]) -> Result<Vec<Found<Version>>, StoreError> {
        let headers = self
            .of_each(games, |game| {
                let mut command = cmd("GETRANGE");
                command.arg(self.keys.game(self.shards.shard_of(game), game));
                command.arg(0).arg(Record::HEADER_LENGTH - 1);
                command
            })
            .await?;
        let version = |header: Bytes| match &*header {
            // What is not there is an empty string to this command.
            [] => Ok(None),
            header => parse_header(header).map(|(_, version)| Some(version)),
        };
        Ok(headers.into_iter().map(|header| version(header.unwrap_or_default())).collect())
    }

    async fn commit(&self, commit: &Commit) -> Result<Outcome, StoreError> {
        let command = write::commit_command(&self.scripts.commit, &self.keys, commit);
        let asked = Instant::now();
        let answer = self.link.run(&self.scripts.commit, &command).await?;
        let (outcome, now) = write::parse_outcome(answer)?;
        self.estimates.note(commit.shard(), now, asked, Instant::now());
        outcome
    }

    async fn now(&self, shard: Shard) -> Result<Millis, StoreError> {
        if let Some(now) = self.estimates.at(shard, Instant::now()) {
            return Ok(now);
        }
        self.beat_some(&[shard]).await?;
        self.estimates.at(shard, Instant::now()).ok_or_else(|| StoreError::no_answer(self.deadline))
    }

    async fn beat(&self, shards: &[Shard]) -> Result<(), StoreError> {
        for batch in shards.chunks(BATCH) {
            self.beat_some(batch).await?;
        }
        Ok(())
    }

    async fn subscribe(&self, game: &GameId) -> Result<Subscription, StoreError> {
        let channel = self.keys.watch(self.shards.shard_of(game), game).to_string();
        let mut subscription = self.hints.join(&channel);
        timeout(self.deadline, subscription.confirmed())
            .await
            .map_err(|_| StoreError::no_connection(self.deadline))?;
        Ok(subscription)
    }

    async fn mark_present(&self, presences: &[Presence], lifetime: Span) -> Result<(), StoreError> {
        self.set_presence(presences, lifetime).await
    }

    async fn clear_present(&self, presences: &[Presence]) -> Result<(), StoreError> {
        self.set_presence(presences, Span(0)).await
    }

    async fn present(&self, games: &[GameId]) -> Result<Vec<Vec<PresentSlot>>, StoreError> {
        self.read_presence(games).await
    }

    async fn first_deadlines(&self, shards: &[Shard]) -> Result<Vec<Option<Millis>>, StoreError> {
        let mut deadlines = Vec::with_capacity(shards.len());
        for batch in shards.chunks(BATCH) {
            let mut pipeline = redis::Pipeline::with_capacity(batch.len());
            for &shard in batch {
                let mut command = cmd("ZRANGE");
                command.arg(self.keys.deadlines(shard)).arg(0).arg(0).arg("WITHSCORES");
                pipeline.add_command(command);
            }
            for first in self.link.pipeline::<Vec<Value>>(&pipeline).await? {
                deadlines.push(parse_due(first)?.first().map(|due| due.deadline));
            }
        }
        Ok(deadlines)
    }

    async fn due(&self, shard: Shard, now: Millis, limit: u32) -> Result<Vec<Due>, StoreError> {
        let mut command = cmd("ZRANGE");
        command.arg(self.keys.deadlines(shard)).arg("-inf").arg(now.0).arg("BYSCORE");
        command.arg("LIMIT").arg(0).arg(limit).arg("WITHSCORES");
        let mut games = parse_due(self.link.query(&command).await?)?;
        if games.is_empty() {
            return Ok(games);
        }
        let mut command = Self::script_command(&self.scripts.clear_expired, 1 + games.len());
        command.arg(self.keys.deadlines(shard));
        for due in &games {
            command.arg(self.keys.game(shard, &due.game));
        }
        let standing: Vec<usize> = self.link.run(&self.scripts.clear_expired, &command).await?;
        let mut place = 0;
        games.retain(|_| {
            place += 1;
            standing.binary_search(&(place - 1)).is_ok()
        });
        Ok(games)
    }

    async fn postpone(&self, due: &Due, until: Option<Millis>) -> Result<(), StoreError> {
        let mut command = Self::script_command(&self.scripts.postpone, 1);
        command.arg(self.keys.deadlines(self.shards.shard_of(&due.game)));
        command.arg(due.game.as_str()).arg(due.deadline.0);
        command.arg(until.map(|until| until.0.to_string()).unwrap_or_default());
        self.link.run(&self.scripts.postpone, &command).await
    }

    async fn feed(
        &self,
        shard: Shard,
        after: EntryId,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        let mut command = cmd("XRANGE");
        command.arg(self.keys.feed(shard)).arg(format!("({after}")).arg("+");
        command.arg("COUNT").arg(limit);
        self.entries(&command).await
    }

    async fn outbox(&self, shard: Shard, limit: u32) -> Result<Vec<Entry>, StoreError> {
        let mut command = cmd("XRANGE");
        command.arg(self.keys.outbox(shard)).arg("-").arg("+").arg("COUNT").arg(limit);
        self.entries(&command).await
    }

    async fn acknowledge(&self, shard: Shard, entries: &[EntryId]) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut command = cmd("XDEL");
        command.arg(self.keys.outbox(shard));
        for entry in entries {
            command.arg(entry.to_string());
        }
        self.link.query(&command).await
    }

    async fn listing_page(
        &self,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.newest_games(before, limit).await
    }

    async fn listing_remove(&self, entry: &IndexEntry) -> Result<(), StoreError> {
        let mut command = cmd("ZREM");
        command.arg(self.keys.listing(self.shards.shard_of(&entry.game)));
        command.arg(write::index_member(entry));
        self.link.query(&command).await
    }

    async fn index_add(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        let mut command = cmd("ZADD");
        command.arg(self.keys.player(player)).arg(0).arg(write::index_member(entry));
        self.link.query(&command).await
    }

    async fn index_remove(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        let mut command = cmd("ZREM");
        command.arg(self.keys.player(player)).arg(write::index_member(entry));
        self.link.query(&command).await
    }

    async fn index_page(
        &self,
        player: &str,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        let command = listing::page_of(self.keys.player(player), before, limit);
        let members: Vec<String> = self.link.query(&command).await?;
        members.iter().map(|member| parse_index_entry(member)).collect()
    }

    async fn heartbeat(&self, replica: ReplicaId) -> Result<(), StoreError> {
        self.replicas(Some(replica)).await.map(|_| ())
    }

    async fn live_replicas(&self) -> Result<Vec<ReplicaId>, StoreError> {
        self.replicas(None).await
    }

    async fn checkup(&self) -> Result<Vec<Finding>, StoreError> {
        setup::checkup(&self.link).await
    }
}
