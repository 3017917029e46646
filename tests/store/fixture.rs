//! A store to test, with its time in the test's hands, and small things to put in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use banqi::game::{GameId, History, Millis, Revision, Span, Version};
use banqi::store::{
    Change, Commit, Options, Outcome, Record, Shard, Store, TimeSource, Write, open,
};
use bytes::Bytes;
use tempfile::TempDir;

use crate::support::redis_server::RedisServer;

/// How long a test waits for something that must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A store and what is behind it.
pub(crate) struct Fixture {
    pub(crate) store: Arc<dyn Store>,
    behind: Behind,
}

enum Behind {
    Embedded { time: Arc<ManualTime>, _directory: Option<TempDir> },
    Redis { server: RedisServer },
}

impl Fixture {
    pub(crate) async fn memory() -> Self {
        let (options, time) = manual();
        let store = open("memory:", options).await.expect("a store in memory");
        Self { store, behind: Behind::Embedded { time, _directory: None } }
    }

    pub(crate) async fn file() -> Self {
        let (options, time) = manual();
        let directory = TempDir::new().expect("a directory");
        let address = format!("file:{}", directory.path().join("games").display());
        let store = open(&address, options).await.expect("a store in a file");
        Self { store, behind: Behind::Embedded { time, _directory: Some(directory) } }
    }

    pub(crate) async fn redis() -> Self {
        let server = RedisServer::start();
        let store = open(&server.url(), Options::default()).await.expect("a store on Redis");
        Self { store, behind: Behind::Redis { server } }
    }

    /// Lets the source of a shard's time jump ahead, as it has after an outage.
    pub(crate) async fn jump(&self, shard: Shard, span: Span) {
        match &self.behind {
            Behind::Embedded { time, .. } => time.pass(span),
            Behind::Redis { server } => {
                // Seen from the clock it is the same whether the source is ahead of what it saw,
                // or what it saw is behind the source.
                let key = format!("banqi:{{{shard}}}:clock");
                let mut connection = server.connection().await;
                let clock: String = redis::cmd("GET")
                    .arg(&key)
                    .query_async(&mut connection)
                    .await
                    .expect("the shard has a clock");
                let (seen, shard_time) = clock.split_once(' ').expect("two numbers");
                let seen: u64 = seen.parse().expect("a number");
                let clock = format!("{} {shard_time}", seen - span.0);
                redis::cmd("SET")
                    .arg(&key)
                    .arg(clock)
                    .query_async::<()>(&mut connection)
                    .await
                    .expect("the clock can be set");
            }
        }
    }

    /// The time of the source of all shards' time.
    pub(crate) async fn source_time(&self) -> Millis {
        match &self.behind {
            Behind::Embedded { time, .. } => time.now(),
            Behind::Redis { server } => {
                let mut connection = server.connection().await;
                let (seconds, micros): (u64, u64) = redis::cmd("TIME")
                    .query_async(&mut connection)
                    .await
                    .expect("the server tells the time");
                Millis(seconds * 1_000 + micros / 1_000)
            }
        }
    }

    /// Lets time pass, for whatever ends by itself.
    pub(crate) async fn pass(&self, span: Span) {
        match &self.behind {
            Behind::Embedded { time, .. } => time.pass(span),
            Behind::Redis { .. } => tokio::time::sleep(Duration::from_millis(span.0)).await,
        }
    }

    /// The present in a game's shard.
    pub(crate) async fn now(&self, game: &GameId) -> Millis {
        now(&*self.store, game).await
    }

    /// A commit of one write.
    pub(crate) async fn commit_of(&self, write: Write) -> Commit {
        commit_of(&*self.store, write).await
    }

    /// Commits one write.
    pub(crate) async fn commit(&self, write: Write) -> Outcome {
        self.commit_with(write, |commit| commit).await
    }

    /// Commits one write and what is added to it. As every caller does, it tries again when the
    /// machine was so slow that the estimated present is off.
    pub(crate) async fn commit_with(
        &self,
        write: Write,
        add: impl Fn(Commit) -> Commit,
    ) -> Outcome {
        for _ in 0..5 {
            let commit = add(self.commit_of(write.clone()).await);
            match self.store.commit(&commit).await.expect("the store answers") {
                Outcome::ClockOff { .. } => {}
                outcome => return outcome,
            }
        }
        panic!("the estimated present was off five times in a row");
    }

    /// Commits one write that must be applied.
    pub(crate) async fn apply(&self, write: Write) {
        self.apply_with(write, |commit| commit).await;
    }

    /// Commits one write and what is added to it, which must be applied.
    pub(crate) async fn apply_with(&self, write: Write, add: impl Fn(Commit) -> Commit) {
        let outcome = self.commit_with(write.clone(), add).await;
        assert!(matches!(outcome, Outcome::Applied { .. }), "{write:?}: {outcome:?}");
    }

    /// What stands under an id.
    pub(crate) async fn load(&self, game: &GameId) -> Option<Record> {
        self.store.load(game).await.expect("the store answers")
    }
}

pub(crate) async fn now(store: &dyn Store, game: &GameId) -> Millis {
    store.now(store.shards().shard_of(game)).await.expect("the store tells the time")
}

pub(crate) async fn commit_of(store: &dyn Store, write: Write) -> Commit {
    let present = now(store, &write.game).await;
    Commit::new(store.shards(), present, write)
}

/// A time that only the test moves.
#[derive(Debug)]
pub(crate) struct ManualTime(AtomicU64);

impl ManualTime {
    fn pass(&self, span: Span) {
        self.0.fetch_add(span.0, Ordering::SeqCst);
    }
}

impl TimeSource for ManualTime {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}

fn manual() -> (Options, Arc<ManualTime>) {
    let time = Arc::new(ManualTime(AtomicU64::new(1_700_000_000_000)));
    let options = Options { time: Arc::clone(&time) as Arc<dyn TimeSource>, ..Options::default() };
    (options, time)
}

pub(crate) fn game(id: &str) -> GameId {
    id.parse().expect("a valid id")
}

/// The first ids, of those with this beginning, that lie in the same shard.
pub(crate) fn games_of_one_shard<const N: usize>(
    store: &dyn Store,
    beginning: &str,
) -> [GameId; N] {
    let shard = store.shards().shard_of(&game(&format!("{beginning}-0")));
    let mut games = (0..).map(|number| game(&format!("{beginning}-{number}")));
    std::array::from_fn(|_| {
        games.find(|game| store.shards().shard_of(game) == shard).expect("ids never run out")
    })
}

pub(crate) fn version(revision: u64, history: &[u8; 8]) -> Version {
    Version { revision: Revision(revision), history: History(*history) }
}

/// A record whose payload has bytes of every kind.
pub(crate) fn record(revision: u64, history: &[u8; 8]) -> Record {
    let payload: Vec<u8> = (0..=255).chain(revision.to_be_bytes()).collect();
    Record { format: 1, version: version(revision, history), payload: Bytes::from(payload) }
}

/// A write of a record without deadline and expiry.
pub(crate) fn put(game: &GameId, expected: Option<Version>, record: Record) -> Write {
    let change = Change::Put { record, deadline: None, expiry: None };
    Write { game: game.clone(), expected, change }
}

/// A write of the revision after the one that stands, due at this time.
pub(crate) fn due_at(game: &GameId, revision: u64, deadline: Option<Millis>) -> Write {
    let expected = revision.checked_sub(1).filter(|&revision| revision > 0);
    let expected = expected.map(|revision| version(revision, b"historic"));
    let change = Change::Put { record: record(revision, b"historic"), deadline, expiry: None };
    Write { game: game.clone(), expected, change }
}

pub(crate) fn delete(game: &GameId, expected: Version) -> Write {
    Write { game: game.clone(), expected: Some(expected), change: Change::Delete }
}

/// Asks until the answer is as wanted, and fails when it never is.
pub(crate) async fn eventually<T: std::fmt::Debug, F: Future<Output = T>>(
    what: &str,
    mut ask: impl FnMut() -> F,
    wanted: impl Fn(&T) -> bool,
) -> T {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let answer = ask().await;
        if wanted(&answer) {
            return answer;
        }
        assert!(tokio::time::Instant::now() < deadline, "never {what}: still {answer:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
