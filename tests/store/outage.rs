//! What a store on a Redis server does while the server is away, and after.

use std::time::Duration;

use banqi::store::{Effect, Options, Outcome, Store, StoreError, open};
use tokio::time::{Instant, timeout};

use crate::fixture::{PATIENCE, commit_of, eventually, game, put, record, version};
use crate::support::redis_server::RedisServer;

const DEADLINE: Duration = Duration::from_millis(500);

/// What a busy machine may add to a deadline.
const SLACK: Duration = Duration::from_secs(1);

fn options() -> Options {
    Options { call_deadline: DEADLINE, ..Options::default() }
}

async fn apply(store: &dyn Store, revision: u64) {
    let expected = (revision > 1).then(|| version(revision - 1, b"historic"));
    let write = put(&game("g"), expected, record(revision, b"historic"));
    let outcome = store.commit(&commit_of(store, write).await).await.expect("an answer");
    assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
}

/// Asserts that a call fails within its deadline because the store is away.
async fn assert_unavailable<T: std::fmt::Debug>(
    call: impl Future<Output = Result<T, StoreError>>,
) -> Effect {
    let began = Instant::now();
    let error = call.await.expect_err("the server is away");
    assert!(began.elapsed() <= DEADLINE + SLACK, "it took {:?}", began.elapsed());
    assert!(error.is_transient(), "{error:?}");
    let StoreError::Unavailable { effect, .. } = error else { panic!("{error:?}") };
    effect
}

#[tokio::test]
async fn a_server_that_is_killed_and_comes_back_is_used_again_and_has_lost_nothing() {
    let mut server = RedisServer::start_durable();
    let store = open(&server.url(), options()).await.expect("a store");
    let id = game("g");
    let mut subscription = store.subscribe(&id).await.expect("a subscription");
    apply(&*store, 1).await;
    timeout(PATIENCE, subscription.changed()).await.expect("a hint");
    for round in 1..=2 {
        let write = put(&id, Some(version(round, b"historic")), record(9, b"not now "));
        let commit = commit_of(&*store, write).await;
        server.kill();
        // The first call may meet the dying connection; later ones know that there is none.
        assert_unavailable(store.load(&id)).await;
        assert_eq!(assert_unavailable(store.commit(&commit)).await, Effect::None);
        assert_unavailable(store.load_many(std::slice::from_ref(&id))).await;
        assert_unavailable(store.subscribe(&game("other"))).await;
        server.restart();
        let back = Instant::now();
        let standing =
            eventually("back", || store.load(&id), |answer| answer.is_ok()).await.expect("back");
        assert!(back.elapsed() <= Duration::from_secs(1) + SLACK, "{:?}", back.elapsed());
        assert_eq!(standing, Some(record(round, b"historic")));
        timeout(PATIENCE, subscription.changed()).await.expect("told that it missed something");
        apply(&*store, round + 1).await;
        timeout(PATIENCE, subscription.changed()).await.expect("a hint after the outage");
    }
}

#[tokio::test]
async fn a_server_that_stops_answering_is_left_at_the_deadline() {
    let server = RedisServer::start();
    let store = open(&server.url(), options()).await.expect("a store");
    apply(&*store, 1).await;
    let write = put(&game("g"), Some(version(1, b"historic")), record(2, b"historic"));
    let commit = commit_of(&*store, write).await;
    let mut connection = server.connection().await;
    redis::cmd("CLIENT")
        .arg("PAUSE")
        .arg(2_000)
        .query_async::<()>(&mut connection)
        .await
        .expect("the server can be paused");
    assert_eq!(assert_unavailable(store.commit(&commit)).await, Effect::Unknown);
    let id = game("g");
    let standing =
        eventually("back", || store.load(&id), |answer| answer.is_ok()).await.expect("back");
    // Whether the server still ran the command that it had been sent is its own affair: what
    // stands is one of the two, and the other way is no longer possible.
    let revision = standing.expect("a game").version.revision.0;
    assert!((1..=2).contains(&revision));
    apply(&*store, revision + 1).await;
    let outcome = store.commit(&commit).await.expect("an answer");
    assert!(matches!(outcome, Outcome::Conflict { .. }), "{outcome:?}");
}

#[tokio::test]
async fn what_a_failover_took_back_is_not_overwritten_by_what_was_known_before() {
    let server = RedisServer::start();
    let store = open(&server.url(), Options::default()).await.expect("a store");
    let id = game("g");
    apply(&*store, 1).await;
    apply(&*store, 2).await;
    // A failover that lost the second write, and another course of the game after it.
    let key = format!("banqi:{{{}}}:game:g", store.shards().shard_of(&id));
    let other = record(2, b"course 2");
    let value = [&other.header()[..], &other.payload].concat();
    let mut connection = server.connection().await;
    redis::cmd("SET")
        .arg(&key)
        .arg(value)
        .query_async::<()>(&mut connection)
        .await
        .expect("the record can be set");
    let write = put(&id, Some(version(2, b"historic")), record(3, b"historic"));
    let outcome = store.commit(&commit_of(&*store, write).await).await.expect("an answer");
    let Outcome::Conflict { current, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(current, [Some(other)]);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_within_the_deadline() {
    let mut server = RedisServer::start();
    server.kill();
    assert_eq!(assert_unavailable(open(&server.url(), options())).await, Effect::None);
}
