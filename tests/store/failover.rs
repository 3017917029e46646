//! What a store does while a replica takes over, and while slots move.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use banqi::game::GameId;
use banqi::store::{Options, Outcome, Store, open};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::deployment::{Cluster, Sentinels, ask};
use crate::fixture::{PATIENCE, commit_of, eventually, game, put, record, version};
use crate::support::redis_server::RedisServer;
use crate::support::signal;

/// Within which time after the death of a primary a store must write again. Half a second
/// (sentinels) or one (cluster) passes before the death is noticed, and up to three more in an
/// election of the servers; the rest is the store's and a busy machine's.
const RECOVERY_LIMIT: Duration = Duration::from_secs(8);

/// Somebody who plays on and on, and somebody who watches.
struct Play {
    acknowledged: Arc<AtomicU64>,
    watched: Arc<AtomicU64>,
    orders: Arc<Orders>,
    player: JoinHandle<()>,
    watcher: JoinHandle<()>,
}

#[derive(Default)]
struct Orders {
    stop: AtomicBool,
    /// Held by the player while it commits.
    turn: Arc<Mutex<()>>,
}

impl Play {
    async fn begin(store: &Arc<dyn Store>, id: &GameId) -> Self {
        let acknowledged = Arc::new(AtomicU64::new(0));
        let watched = Arc::new(AtomicU64::new(0));
        let orders = Arc::new(Orders::default());
        let player =
            play(Arc::clone(store), id.clone(), Arc::clone(&acknowledged), Arc::clone(&orders));
        let mut subscription = store.subscribe(id).await.expect("a subscription");
        let watcher = {
            let (store, id, watched) = (Arc::clone(store), id.clone(), Arc::clone(&watched));
            async move {
                loop {
                    // As long as reading fails, whoever watches tries again.
                    if let Ok(standing) = store.load(&id).await {
                        let revision = standing.map_or(0, |record| record.version.revision.0);
                        let before = watched.swap(revision, Ordering::SeqCst);
                        assert!(before <= revision, "{before} was seen, and then {revision}");
                        subscription.changed().await;
                    }
                }
            }
        };
        let (player, watcher) = (tokio::spawn(player), tokio::spawn(watcher));
        Self { acknowledged, watched, orders, player, watcher }
    }

    /// Waits until this much more was acknowledged; and says how much that is in all.
    async fn go_on(&self, more: u64) -> u64 {
        let goal = self.acknowledged.load(Ordering::SeqCst) + more;
        let reached = async || self.acknowledged.load(Ordering::SeqCst);
        eventually("acknowledged", reached, |reached| *reached >= goal).await
    }

    /// Lets the player pause once what it is at is done, until it is told to go on.
    async fn pause(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.orders.turn).lock_owned().await
    }

    /// Stops, and makes sure that what was acknowledged stands and that it was seen.
    async fn end(self, store: &Arc<dyn Store>, id: &GameId) {
        self.orders.stop.store(true, Ordering::SeqCst);
        self.player.await.expect("the player stops");
        let last = self.acknowledged.load(Ordering::SeqCst);
        let standing = store.load(id).await.expect("an answer");
        assert_eq!(standing, Some(record(last, b"historic")));
        // No more than hints lead the watcher there.
        let seen = async || self.watched.load(Ordering::SeqCst);
        eventually("watched", seen, |seen| *seen == last).await;
        assert!(!self.watcher.is_finished(), "it has seen a revision go back");
        self.watcher.abort();
    }
}

/// Commits one revision after another, and does after each failure what every caller does.
async fn play(
    store: Arc<dyn Store>,
    id: GameId,
    acknowledged: Arc<AtomicU64>,
    orders: Arc<Orders>,
) {
    while !orders.stop.load(Ordering::SeqCst) {
        sleep(Duration::from_millis(1)).await;
        let _turn = orders.turn.lock().await;
        let standing = acknowledged.load(Ordering::SeqCst);
        let expected = (standing > 0).then(|| version(standing, b"historic"));
        let write = put(&id, expected, record(standing + 1, b"historic"));
        // The time of the shard is asked for, which may fail as well.
        let Ok(_) = store.now(store.shards().shard_of(&id)).await else { continue };
        match store.commit(&commit_of(&*store, write).await).await {
            Ok(Outcome::Applied { .. }) => {
                acknowledged.store(standing + 1, Ordering::SeqCst);
            }
            Ok(Outcome::ClockOff { .. }) => {}
            Ok(Outcome::Conflict { current, .. }) => {
                // An attempt of which nothing was heard has had its effect; nobody else writes.
                let current = current[0].as_ref().expect("a game is never gone");
                assert_eq!(current.version, version(standing + 1, b"historic"));
                acknowledged.store(standing + 1, Ordering::SeqCst);
            }
            Err(error) => assert!(error.is_transient(), "{error}"),
        }
    }
}

/// Waits until all that a server has written has reached a replica.
async fn until_replicated(server: &RedisServer, key: &str) {
    let mut connection = server.connection().await;
    redis::cmd("PEXPIRE")
        .arg(key)
        .arg(600_000)
        .query_async::<()>(&mut connection)
        .await
        .expect("a write, to wait for it and all before it");
    let replicas: u64 =
        redis::cmd("WAIT").arg(1).arg(5_000).query_async(&mut connection).await.expect("an answer");
    assert!(replicas >= 1, "no replica follows");
}

pub(crate) fn key(store: &Arc<dyn Store>, kind: &str) -> String {
    format!("t:banqi:{{{}}}:{kind}", store.shards().shard_of(&game("g")))
}

pub(crate) async fn open_at(url: &str) -> Arc<dyn Store> {
    let namespace = Some("t".parse().expect("a namespace"));
    open(url, Options { namespace, ..Options::default() }).await.expect("a store")
}

/// Plays on while a primary dies of which all has reached a replica.
async fn survive(store: &Arc<dyn Store>, primary: &RedisServer, kill: impl AsyncFnOnce()) {
    let id = game("g");
    let play = Play::begin(store, &id).await;
    play.go_on(50).await;
    let pause = play.pause().await;
    until_replicated(primary, &key(store, "clock")).await;
    kill().await;
    drop(pause);
    let killed = Instant::now();
    play.go_on(1).await;
    let passed = killed.elapsed();
    println!("written again {passed:?} after the primary was killed");
    assert!(passed < RECOVERY_LIMIT, "{passed:?}");
    play.go_on(50).await;
    play.end(store, &id).await;
}

#[tokio::test]
async fn a_store_follows_sentinels_to_the_next_primary() {
    let servers = Sentinels::start().await;
    let store = open_at(&servers.url()).await;
    survive(&store, servers.primary(), async || kill(servers.primary())).await;
    assert_ne!(servers.named().await, Some(servers.primary().port()));
}

#[tokio::test]
async fn a_demoted_primary_is_left() {
    let servers = Sentinels::start().await;
    let store = open_at(&servers.url()).await;
    let id = game("g");
    let play = Play::begin(&store, &id).await;
    play.go_on(50).await;
    let pause = play.pause().await;
    until_replicated(servers.primary(), &key(&store, "clock")).await;
    ask::<()>(&servers.sentinels[0], &["SENTINEL", "FAILOVER", "games"]).await;
    let old = servers.primary().port();
    eventually("another", async || servers.named().await, |named| *named != Some(old)).await;
    drop(pause);
    play.go_on(50).await;
    play.end(&store, &id).await;
}

#[tokio::test]
async fn a_primary_of_which_its_sentinels_have_lost_sight_is_left() {
    let servers = Sentinels::start().await;
    let store = open_at(&servers.url()).await;
    let id = game("g");
    let play = Play::begin(&store, &id).await;
    play.go_on(50).await;
    let pause = play.pause().await;
    until_replicated(servers.primary(), &key(&store, "clock")).await;
    // It stands still, and its connections with it: nobody closes them.
    let _stopped = Stopped::stop(servers.primary());
    drop(pause);
    let stopped = Instant::now();
    play.go_on(1).await;
    // A call that gets no answer takes its whole deadline.
    let limit = RECOVERY_LIMIT + Options::default().call_deadline;
    assert!(stopped.elapsed() < limit, "{:?}", stopped.elapsed());
    play.go_on(50).await;
    play.end(&store, &id).await;
}

#[tokio::test]
async fn a_primary_that_has_not_heard_that_it_was_replaced_is_left() {
    let [old, new] = [RedisServer::start(), RedisServer::start()];
    let monitor = |server: &RedisServer| format!("games 127.0.0.1 {} 1", server.port());
    let configuration = format!("sentinel monitor {}\n", monitor(&old));
    let sentinel = RedisServer::start_sentinel(configuration, &[]);
    let store = open_at(&format!("redis+sentinel://127.0.0.1:{}/games", sentinel.port())).await;
    let id = game("g");
    let mut subscription = store.subscribe(&id).await.expect("a subscription");
    // As after a failover of which the old primary, cut off from the sentinels, knows nothing.
    ask::<()>(&sentinel, &["SENTINEL", "REMOVE", "games"]).await;
    let command = format!("SENTINEL MONITOR {}", monitor(&new));
    ask::<()>(&sentinel, &command.split(' ').collect::<Vec<_>>()).await;
    let key = key(&store, "clock");
    let shard = store.shards().shard_of(&id);
    let there = async || {
        // May fail while the connection is given up.
        let _ = store.beat(&[shard]).await;
        ask::<u64>(&new, &["EXISTS", &key]).await
    };
    eventually("written there", there, |there| *there == 1).await;
    // Hints come from there as well.
    while timeout(Duration::from_millis(500), subscription.changed()).await.is_ok() {}
    let write = put(&id, None, record(1, b"historic"));
    let outcome = store.commit(&commit_of(&*store, write).await).await.expect("an answer");
    assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
    timeout(PATIENCE, subscription.changed()).await.expect("a hint");
}

#[tokio::test]
async fn a_store_on_a_cluster_survives_the_death_of_a_primary() {
    let cluster = Cluster::start().await;
    let store = open_at(&cluster.url()).await;
    let primary = cluster.holder(&key(&store, "clock")).await;
    survive(&store, primary, async || kill(primary)).await;
}

#[tokio::test]
async fn slots_move_while_games_are_played() {
    let cluster = Cluster::start().await;
    let store = open_at(&cluster.url()).await;
    let id = game("g");
    let play = Play::begin(&store, &id).await;
    play.go_on(20).await;
    let clock = key(&store, "clock");
    let first = cluster.holder(&clock).await.port();
    for to in [0, 1, 2, 0] {
        if cluster.nodes[to].port() != cluster.holder(&clock).await.port() {
            cluster.move_slot(&clock, to).await;
            play.go_on(20).await;
        }
    }
    assert_eq!(cluster.holder(&clock).await.port(), cluster.nodes[0].port(), "{first}");
    play.end(&store, &id).await;
}

#[tokio::test]
async fn a_slot_that_is_half_moved_answers_for_what_is_here_and_there() {
    let cluster = Cluster::start().await;
    let store = open_at(&cluster.url()).await;
    let id = game("g");
    let play = Play::begin(&store, &id).await;
    play.go_on(5).await;
    let pause = play.pause().await;
    let clock = key(&store, "clock");
    let from = cluster.holder(&clock).await;
    let to = cluster.nodes[..3].iter().find(|it| it.port() != from.port()).expect("another");
    let moving = cluster.begin_move(&clock, from, to).await;
    // The game is at its new place, and its clock at the old one.
    let port = to.port().to_string();
    let record_key = key(&store, "game:g");
    ask::<()>(from, &["MIGRATE", "127.0.0.1", &port, &record_key, "0", "5000"]).await;
    let standing = store.load(&id).await.expect("an answer").expect("the game");
    let shards: Vec<_> = store.shards().iter().collect();
    store.first_deadlines(&shards).await.expect("answers of all shards");
    let found = store.versions(&[game("other"), id.clone()]).await.expect("an answer");
    assert_eq!(found[1], Ok(Some(standing.version)));
    // Keys of both nodes at once are for neither, until the slot has moved.
    let write = put(&id, Some(standing.version), record(99, b"historic"));
    let commit = commit_of(&*store, write).await;
    let error = store.commit(&commit).await.expect_err("it is in between");
    assert!(error.is_transient() && !error.may_have_applied(), "{error}");
    cluster.end_move(moving, from, to).await;
    drop(pause);
    play.go_on(5).await;
    play.end(&store, &id).await;
}

/// Kills a server at once.
fn kill(server: &RedisServer) {
    signal(server.id(), "KILL");
}

/// A server that stands still.
pub(crate) struct Stopped<'a>(&'a RedisServer);

impl<'a> Stopped<'a> {
    pub(crate) fn stop(server: &'a RedisServer) -> Self {
        signal(server.id(), "STOP");
        Self(server)
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        signal(self.0.id(), "CONT");
    }
}
