//! The store on Redis: on one server, on the primary that sentinels name, or on a cluster.
//!
//! Everything that one write touches carries its shard as the hash tag of its key, so a script
//! can change it at once. `keys.rs` names the keys; the scripts beside it say what they do.

mod access;
mod address;
mod answer;
mod batch;
mod cluster;
mod connection;
mod deadline;
mod ear;
mod estimate;
mod examine;
mod failure;
mod group;
mod keeper;
mod keys;
mod link;
mod listener;
mod listing;
mod map;
mod pause;
mod presence;
mod remedy;
mod scripts;
mod sentinel;
mod servers;
mod setup;
mod shared;
mod slot;
mod tls;
mod write;

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use redis::{Cmd, Value, cmd};
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

use self::access::HostPort;
use self::address::Address;
use self::answer::{parse_due, parse_entries, parse_index_entry, parse_replica};
use self::connection::answers_without_tls;
use self::estimate::Estimates;
use self::keys::Keys;
use self::scripts::Scripts;
use self::servers::Servers;
use self::slot::Slot;
use super::codec::RecordCodec;
use super::hint::Hints;
use super::record::parse_header;
use super::{
    Commit, Due, Durability, Entry, EntryId, Finding, Found, HEARTBEAT_KEPT, IndexEntry, Options,
    Outcome, Place, Presence, PresentSlot, Record, ReplicaId, Shard, ShardCount, Store, StoreError,
    Subscription, System,
};
use crate::game::{GameId, Millis, Span, Version};

/// How many commands are sent at once at most, so that no call holds up the others for long.
const BATCH: usize = 256;

/// How long an answer that waited for replicas may have taken, to say something of the time.
const LONG_WAIT: Duration = Duration::from_millis(100);

/// A store on Redis.
pub(super) struct RedisStore {
    /// Where the servers are, without credentials.
    hosts: Vec<HostPort>,
    shards: ShardCount,
    records: RecordCodec,
    deadline: Duration,
    /// How many replicas each write waits for.
    wanted: Option<NonZeroU32>,
    keys: Keys,
    scripts: Scripts,
    servers: Arc<Servers>,
    estimates: Estimates,
    hints: Arc<Hints>,
    _listener: AbortOnDropHandle<()>,
}

impl RedisStore {
    /// Connects to the servers at an address, and checks that they are some to work with.
    pub(super) async fn connect(address: &str, options: &Options) -> Result<Self, StoreError> {
        let store = Self::at(address, options)?;
        let checked = async {
            setup::check_version(&store.servers).await?;
            setup::record_shards(&store.servers, &store.keys, store.shards).await
        };
        match checked.await {
            Ok(()) => Ok(store),
            Err(error) => Err(store.explained(error).await),
        }
    }

    /// The store at an address, which is still to be looked at.
    fn at(address: &str, options: &Options) -> Result<Self, StoreError> {
        let address = Address::parse(address)?;
        let hosts = address.hosts.clone();
        let hints = Arc::new(Hints::from_server());
        let servers = Arc::new(Servers::at(address, options.call_deadline, options.durability)?);
        Ok(Self {
            hosts,
            shards: options.shards,
            records: options.records.clone(),
            deadline: options.call_deadline,
            wanted: options.durability,
            keys: Keys::new(options.namespace.as_ref(), options.shards),
            scripts: Scripts::new(),
            servers: Arc::clone(&servers),
            estimates: Estimates::new(options.shards),
            hints: Arc::clone(&hints),
            _listener: listener::listen(servers, hints),
        })
    }

    /// What went wrong with the first that was asked of the servers, for the operator.
    async fn explained(&self, error: StoreError) -> StoreError {
        if self.servers.are_encrypted() && error.is_transient() {
            for host in &self.hosts {
                // Such a server waits for more of what is no command to it, and says nothing.
                if answers_without_tls(host).await {
                    return StoreError::not_applied(format_args!(
                        "{host} answers without TLS and not with it: begin the address with \
                         `redis`, or correct the port"
                    ));
                }
            }
        }
        let hosts: Vec<String> = self.hosts.iter().map(ToString::to_string).collect();
        error.about(&hosts.join(","))
    }

    async fn beat_some(&self, shards: &[Shard]) -> Result<(), StoreError> {
        let commands = shards.iter().map(|&shard| {
            let mut command = self.scripts.beat.call(2);
            command.arg(self.keys.clock(shard)).arg(self.keys.deadlines(shard));
            (self.keys.slot(shard), command)
        });
        let commands = commands.collect();
        let asked = Instant::now();
        let times: Vec<u64> = self.servers.run_all(&self.scripts.beat, commands).await?;
        let answered = Instant::now();
        for (&shard, time) in shards.iter().zip(times) {
            self.estimates.note(shard, Millis(time), asked, answered);
        }
        Ok(())
    }

    /// What asks for the record of a game, and its slot.
    fn loading(&self, game: &GameId) -> (Slot, Cmd) {
        let shard = self.shards.shard_of(game);
        let mut command = cmd("GET");
        command.arg(self.keys.game(shard, game));
        (self.keys.slot(shard), command)
    }

    /// What one command a game answers, in the order of the games.
    async fn of_each(
        &self,
        games: &[GameId],
        command: impl Fn(&GameId) -> Cmd,
    ) -> Result<Vec<Option<Bytes>>, StoreError> {
        let mut answers = Vec::with_capacity(games.len());
        for batch in games.chunks(BATCH) {
            let slot = |game| self.keys.slot(self.shards.shard_of(game));
            let commands = batch.iter().map(|game| (slot(game), command(game)));
            answers.extend(self.servers.query_all::<Option<Bytes>>(commands.collect()).await?);
        }
        Ok(answers)
    }

    async fn entries(&self, shard: Shard, command: &Cmd) -> Result<Vec<Entry>, StoreError> {
        parse_entries(self.servers.query::<Value>(self.keys.slot(shard), command).await?)
    }

    async fn replicas(&self, beating: Option<ReplicaId>) -> Result<Vec<ReplicaId>, StoreError> {
        let key = self.keys.replicas();
        let slot = Slot::of(&key);
        let mut command = self.scripts.heartbeat.call(1);
        command.arg(key).arg(HEARTBEAT_KEPT.0);
        command.arg(beating.map(|replica| replica.to_string()).unwrap_or_default());
        let ids: Vec<String> = self.servers.run(slot, &self.scripts.heartbeat, &command).await?;
        let mut replicas = ids.iter().map(|id| parse_replica(id)).collect::<Result<Vec<_>, _>>()?;
        replicas.sort_unstable();
        Ok(replicas)
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("hosts", &self.hosts)
            .field("shards", &self.shards)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for RedisStore {
    fn shards(&self) -> ShardCount {
        self.shards
    }

    fn place(&self, shard: Shard) -> Place {
        Place(self.servers.map().borrow().place_of(self.keys.slot(shard)))
    }

    fn records(&self) -> &RecordCodec {
        &self.records
    }

    fn system(&self) -> System {
        System::Redis
    }

    async fn load(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        let (slot, command) = self.loading(game);
        let stored: Option<Bytes> = self.servers.query(slot, &command).await?;
        Ok(stored.map(Record::from_stored).transpose()?)
    }

    async fn load_confirmed(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        let (slot, command) = self.loading(game);
        let stored: Option<Bytes> = self.servers.query_confirmed(slot, &command).await?;
        Ok(stored.map(Record::from_stored).transpose()?)
    }

    async fn load_many(&self, games: &[GameId]) -> Result<Vec<Found<Record>>, StoreError> {
        let stored = self.of_each(games, |game| self.loading(game).1).await?;
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
        let slot = self.keys.slot(commit.shard());
        let (answer, replicas) = self.servers.write(slot, &self.scripts.commit, &command).await?;
        let durability = self.wanted.zip(replicas);
        let durability =
            durability.map(|(wanted, acknowledged)| Durability { wanted, acknowledged });
        let (outcome, now) = write::parse_outcome(answer, durability)?;
        let answered = Instant::now();
        if replicas.is_none() || answered - asked < LONG_WAIT {
            self.estimates.note(commit.shard(), now, asked, answered);
        } else if matches!(outcome, Ok(Outcome::ClockOff { .. })) {
            // When in all that time it was so is not known, and the caller needs to know.
            self.beat_some(&[commit.shard()]).await?;
        }
        outcome
    }

    fn known_now(&self, shard: Shard) -> Option<Millis> {
        self.estimates.at(shard, Instant::now())
    }

    async fn now(&self, shard: Shard) -> Result<Millis, StoreError> {
        if let Some(now) = self.known_now(shard) {
            return Ok(now);
        }
        self.beat_some(&[shard]).await?;
        self.known_now(shard).ok_or_else(|| StoreError::no_answer(self.deadline))
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
            let commands = batch.iter().map(|&shard| {
                // Asked of every shard, again and again: it pays to know how long it gets.
                let mut command = Cmd::with_capacity(5, 64);
                command.arg("ZRANGE").arg(self.keys.deadlines(shard));
                command.arg("0").arg("0").arg("WITHSCORES");
                (self.keys.slot(shard), command)
            });
            for first in self.servers.query_all::<Value>(commands.collect()).await? {
                deadlines.push(parse_due(first)?.first().map(|due| due.deadline));
            }
        }
        Ok(deadlines)
    }

    async fn due(&self, shard: Shard, now: Millis, limit: u32) -> Result<Vec<Due>, StoreError> {
        let mut command = cmd("ZRANGE");
        command.arg(self.keys.deadlines(shard)).arg("-inf").arg(now.0).arg("BYSCORE");
        command.arg("LIMIT").arg(0).arg(limit).arg("WITHSCORES");
        let slot = self.keys.slot(shard);
        let mut games = parse_due(self.servers.query(slot, &command).await?)?;
        if games.is_empty() {
            return Ok(games);
        }
        let mut command = self.scripts.clear_expired.call(1 + games.len());
        command.arg(self.keys.deadlines(shard));
        for due in &games {
            command.arg(self.keys.game(shard, &due.game));
        }
        let standing: Vec<usize> =
            self.servers.run(slot, &self.scripts.clear_expired, &command).await?;
        let mut place = 0;
        games.retain(|_| {
            place += 1;
            standing.binary_search(&(place - 1)).is_ok()
        });
        Ok(games)
    }

    async fn postpone(&self, due: &Due, until: Option<Millis>) -> Result<(), StoreError> {
        let shard = self.shards.shard_of(&due.game);
        let mut command = self.scripts.postpone.call(1);
        command.arg(self.keys.deadlines(shard));
        command.arg(due.game.as_str()).arg(due.deadline.0);
        command.arg(until.map(|until| until.0.to_string()).unwrap_or_default());
        self.servers.run(self.keys.slot(shard), &self.scripts.postpone, &command).await
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
        self.entries(shard, &command).await
    }

    async fn outbox(&self, shard: Shard, limit: u32) -> Result<Vec<Entry>, StoreError> {
        let mut command = cmd("XRANGE");
        command.arg(self.keys.outbox(shard)).arg("-").arg("+").arg("COUNT").arg(limit);
        self.entries(shard, &command).await
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
        self.servers.query(self.keys.slot(shard), &command).await
    }

    async fn listing_page(
        &self,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.newest_games(before, limit).await
    }

    async fn listing_remove(&self, entry: &IndexEntry) -> Result<(), StoreError> {
        let shard = self.shards.shard_of(&entry.game);
        let mut command = cmd("ZREM");
        command.arg(self.keys.listing(shard)).arg(write::index_member(entry));
        self.servers.query(self.keys.slot(shard), &command).await
    }

    async fn index_add(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        let key = self.keys.player(player);
        let slot = Slot::of(&key);
        let mut command = cmd("ZADD");
        command.arg(key).arg(0).arg(write::index_member(entry));
        self.servers.query(slot, &command).await
    }

    async fn index_remove(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        let key = self.keys.player(player);
        let slot = Slot::of(&key);
        let mut command = cmd("ZREM");
        command.arg(key).arg(write::index_member(entry));
        self.servers.query(slot, &command).await
    }

    async fn index_page(
        &self,
        player: &str,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        let key = self.keys.player(player);
        let slot = Slot::of(&key);
        let command = listing::page_of(key, before, limit);
        let members: Vec<String> = self.servers.query(slot, &command).await?;
        members.iter().map(|member| parse_index_entry(member)).collect()
    }

    async fn heartbeat(&self, replica: ReplicaId) -> Result<(), StoreError> {
        self.replicas(Some(replica)).await.map(|_| ())
    }

    async fn live_replicas(&self) -> Result<Vec<ReplicaId>, StoreError> {
        self.replicas(None).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.servers.ping().await
    }

    async fn checkup(&self) -> Result<Vec<Finding>, StoreError> {
        setup::checkup(&self.servers, self.wanted).await
    }
}
