//! Writes that wait for replicas: what they are told to be safe from, they are.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use banqi::game::GameId;
use banqi::store::{Durability, Options, Outcome, Store, open};
use tokio::sync::oneshot::{self, error::TryRecvError};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::deployment::{Deployment, ask, start_replica, until_says};
use crate::fixture::{commit_of, game, put, record, version};
use crate::support::redis_server::RedisServer;

/// Five times what a write waits for its replicas.
const SLACK: Duration = Duration::from_secs(5);

/// A server and the replicas that follow it.
async fn servers(replicas: usize) -> (RedisServer, Vec<RedisServer>) {
    let Deployment::Server(primary) = Deployment::server().await else { unreachable!() };
    let replicas: Vec<_> = (0..replicas).map(|_| start_replica(&primary, &[])).collect();
    for replica in &replicas {
        until_says(replica, &["INFO", "replication"], "master_link_status:up").await;
    }
    (primary, replicas)
}

async fn open_at(server: &RedisServer, durability: u32) -> Arc<dyn Store> {
    let durability = NonZeroU32::new(durability);
    let options = Options { durability, ..Options::default() };
    open(&server.url(), options).await.expect("a store")
}

/// Writes the next revision of a game.
async fn write(store: &dyn Store, id: &GameId, revision: u64) -> Option<Durability> {
    let expected = (revision > 1).then(|| version(revision - 1, b"historic"));
    let write = put(id, expected, record(revision, b"historic"));
    loop {
        match store.commit(&commit_of(store, write.clone()).await).await.expect("an answer") {
            Outcome::Applied { durability, .. } => return durability,
            // A busy machine: as every caller does, it asks for the time again.
            Outcome::ClockOff { .. } => {}
            other @ Outcome::Conflict { .. } => panic!("{other:?}"),
        }
    }
}

fn wanted(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).expect("not zero")
}

#[tokio::test]
async fn an_answer_says_how_many_replicas_have_the_write() {
    let (primary, replicas) = servers(2).await;
    let store = open_at(&primary, 2).await;
    let all = Some(Durability { wanted: wanted(2), acknowledged: 2 });
    assert_eq!(write(&*store, &game("g"), 1).await, all);
    // Too few is still success, told in time.
    ask::<()>(&replicas[0], &["REPLICAOF", "NO", "ONE"]).await;
    let begun = Instant::now();
    let fewer = Some(Durability { wanted: wanted(2), acknowledged: 1 });
    assert_eq!(write(&*store, &game("g"), 2).await, fewer);
    assert!(begun.elapsed() < SLACK, "{:?}", begun.elapsed());
    let standing = store.load(&game("g")).await.expect("an answer").expect("it is there");
    assert_eq!(standing.version, version(2, b"historic"));
}

#[tokio::test]
async fn who_waits_for_nobody_is_told_nothing() {
    let (primary, _replicas) = servers(1).await;
    let store = open_at(&primary, 0).await;
    assert_eq!(write(&*store, &game("g"), 1).await, None);
}

#[tokio::test]
async fn many_writes_wait_together() {
    const WRITES: usize = 1_000;
    let (primary, _replicas) = servers(1).await;
    let store = open_at(&primary, 1).await;
    let mut writes = JoinSet::new();
    for number in 0..WRITES {
        let store = Arc::clone(&store);
        writes.spawn(async move { write(&*store, &game(&format!("g{number}")), 1).await });
    }
    let told = writes.join_all().await;
    let one = Some(Durability { wanted: wanted(1), acknowledged: 1 });
    assert!(told.iter().all(|durability| *durability == one), "{told:?}");
    let statistics: String = ask(&primary, &["INFO", "commandstats"]).await;
    let waits = statistics.split("cmdstat_wait:calls=").nth(1).expect("it was waited");
    let waits: usize =
        waits.split(',').next().and_then(|count| count.parse().ok()).expect("a number");
    assert!(waits <= WRITES / 2, "{waits} waits for {WRITES} writes");
}

/// Games that are written to until the replica has become a primary of its own, and some time
/// longer: by game, the last revision that was said to be on the replica, and the last one at all.
async fn write_through_a_partition(
    store: &Arc<dyn Store>,
    replica: &RedisServer,
) -> HashMap<GameId, (u64, u64)> {
    let mut writers = JoinSet::new();
    let mut stops = Vec::new();
    for number in 0..8 {
        let (stop, mut stopped) = oneshot::channel::<()>();
        stops.push(stop);
        let (store, id) = (Arc::clone(store), game(&format!("g{number}")));
        writers.spawn(async move {
            let (mut safe, mut last) = (0, 0);
            while stopped.try_recv() == Err(TryRecvError::Empty) {
                let durability = write(&*store, &id, last + 1).await;
                last += 1;
                if durability.is_some_and(|durability| durability.acknowledged > 0) {
                    safe = last;
                }
            }
            (id, (safe, last))
        });
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    ask::<()>(replica, &["REPLICAOF", "NO", "ONE"]).await;
    // The old primary goes on taking writes, as one does that is cut off from its sentinels.
    tokio::time::sleep(Duration::from_millis(300)).await;
    drop(stops);
    writers.join_all().await.into_iter().collect()
}

/// The revisions that the replica has of these games.
async fn kept(replica: &RedisServer, games: &HashMap<GameId, (u64, u64)>) -> HashMap<GameId, u64> {
    let promoted = open_at(replica, 0).await;
    let mut kept = HashMap::new();
    for id in games.keys() {
        let record = promoted.load(id).await.expect("an answer");
        kept.insert(id.clone(), record.map_or(0, |record| record.version.revision.0));
    }
    kept
}

#[tokio::test]
async fn a_partition_loses_nothing_that_was_said_to_be_on_a_replica() {
    let (primary, replicas) = servers(1).await;
    let store = open_at(&primary, 1).await;
    let written = write_through_a_partition(&store, &replicas[0]).await;
    let kept = kept(&replicas[0], &written).await;
    let mut lost = 0;
    for (id, (safe, last)) in &written {
        assert!(*safe > 0 && kept[id] >= *safe, "{id}: {} kept, {safe} safe", kept[id]);
        // What is beyond was answered with too few, after the partition.
        lost += last - kept[id];
    }
    println!("{written:?}: {lost} lost, all of them told");
    assert!(lost > 0, "the old primary has taken writes that nobody else has");
}

#[tokio::test]
async fn without_durability_a_partition_loses_what_the_old_primary_took() {
    let (primary, replicas) = servers(1).await;
    let store = open_at(&primary, 0).await;
    let written = write_through_a_partition(&store, &replicas[0]).await;
    let kept = kept(&replicas[0], &written).await;
    let lost: u64 = written.iter().map(|(id, (_, last))| last - kept[id]).sum();
    println!("{lost} lost of {}", written.values().map(|(_, last)| last).sum::<u64>());
    assert!(lost > 0, "as docs/operations.md says");
    assert!(written.iter().all(|(id, (_, last))| kept[id] <= *last));
}

#[tokio::test]
async fn a_store_without_replicas_is_told_at_the_start() {
    let (primary, _replicas) = servers(1).await;
    let findings =
        async |durability| open_at(&primary, durability).await.checkup().await.expect("an answer");
    let complaint = async |durability| {
        let findings = findings(durability).await;
        findings.iter().any(|finding| finding.loses_games() && finding.to_string().contains("wait"))
    };
    assert!(!complaint(1).await);
    assert!(complaint(2).await);
    let options = Options { durability: NonZeroU32::new(1), ..Options::default() };
    let refused = open("memory:", options).await.map(|_| ()).expect_err("it has no replicas");
    assert!(refused.to_string().contains("Redis"), "{refused}");
}
