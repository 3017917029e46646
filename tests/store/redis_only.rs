//! What a store on a Redis server promises besides.

use std::time::Duration;

use banqi::game::Span;
use banqi::store::{
    CLOCK_TOLERANCE, Change, Commit, Finding, Misconfiguration, Options, Outcome, Presence,
    ShardCount, Slot, StoreError, StreamId, Write, open,
};
use bytes::Bytes;
use tokio::time::timeout;

use crate::deployment::ask;
use crate::fixture::{PATIENCE, commit_of, game, now, put, record, version};
use crate::support::redis_server::RedisServer;

#[tokio::test]
async fn keys_and_values_are_laid_out_as_documented() {
    let server = RedisServer::start();
    let store = open(&server.url(), Options::default()).await.expect("a store");
    let id = game("a-game");
    let shard = store.shards().shard_of(&id);
    let deadline = now(&*store, &id).await + Span(60_000);
    let record = record(2, b"historic");
    let write = Write {
        game: id,
        expected: None,
        change: Change::Put {
            record: record.clone(),
            deadline: Some(deadline),
            expiry: Some(Span::days(30)),
        },
    };
    let commit = commit_of(&*store, write)
        .await
        .with_feed_entry(Bytes::from_static(b"for the feed"))
        .with_outbox_entry(Bytes::from_static(b"for the outbox"));
    let outcome = store.commit(&commit).await.expect("an answer");
    let Outcome::Applied { now, .. } = outcome else { panic!("{outcome:?}") };

    let name = |kind: &str| format!("banqi:{{{shard}}}:{kind}");
    let mut keys: Vec<String> = ask(&server, &["KEYS", "*"]).await;
    keys.sort();
    let mut expected = ["clock", "deadlines", "feed", "game:a-game", "outbox"].map(name).to_vec();
    expected.insert(0, "banqi:shards".into());
    assert_eq!(keys, expected);

    let value: Vec<u8> = ask(&server, &["GET", &name("game:a-game")]).await;
    assert_eq!(value, [&b"\x01\0\0\0\0\0\0\0\x02historic"[..], &record.payload].concat());
    let time_to_live: u64 = ask(&server, &["PTTL", &name("game:a-game")]).await;
    assert!((Span::days(30).0 - 60_000..=Span::days(30).0).contains(&time_to_live));
    let deadlines: Vec<(String, u64)> =
        ask(&server, &["ZRANGE", &name("deadlines"), "0", "-1", "WITHSCORES"]).await;
    assert_eq!(deadlines, [("a-game".to_owned(), deadline.0)]);
    let clock: String = ask(&server, &["GET", &name("clock")]).await;
    assert_eq!(clock.split_once(' ').expect("two numbers").1, now.0.to_string());
    for (kind, content) in [("feed", "for the feed"), ("outbox", "for the outbox")] {
        let entries: Vec<(String, (String, String))> =
            ask(&server, &["XRANGE", &name(kind), "-", "+"]).await;
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].1, ("e".to_owned(), content.to_owned()));
    }
    let kept: u64 = ask(&server, &["PTTL", &name("feed")]).await;
    assert!((Span::days(7).0 - 60_000..=Span::days(7).0).contains(&kept));
    assert_eq!(ask::<String>(&server, &["GET", "banqi:shards"]).await, "1024");
}

#[tokio::test]
async fn presence_is_laid_out_as_documented_and_leaves_nothing() {
    let server = RedisServer::start();
    let store = open(&server.url(), Options::default()).await.expect("a store");
    let id = game("a-game");
    let key = format!("banqi:{{{}}}:presence:a-game", store.shards().shard_of(&id));
    let stream =
        |slot, stream| Presence { game: id.clone(), slot: Slot(slot), stream: StreamId(stream) };
    let lifetime = Span(60_000);
    store.mark_present(&[stream(2, 255)], lifetime).await.expect("an answer");
    let members: Vec<(String, u64)> =
        ask(&server, &["ZRANGE", &key, "0", "-1", "WITHSCORES"]).await;
    assert_eq!(members[0].0, "2:00000000000000ff");
    let kept: u64 = ask(&server, &["PTTL", &key]).await;
    assert!((1..=lifetime.0).contains(&kept), "nobody has to delete it: {kept}");

    // Of before the server's clock was set back by a day: nobody marks it any more.
    let ahead = (members[0].1 + Span::days(1).0).to_string();
    ask::<u64>(&server, &["ZADD", &key, &ahead, "1:0000000000000001"]).await;
    store.mark_present(&[stream(2, 255)], lifetime).await.expect("an answer");
    let members: Vec<String> = ask(&server, &["ZRANGE", &key, "0", "-1"]).await;
    assert_eq!(members, ["2:00000000000000ff"]);

    store.clear_present(&[stream(2, 255)]).await.expect("an answer");
    assert_eq!(ask::<u64>(&server, &["EXISTS", &key]).await, 0);
}

#[tokio::test]
async fn a_feed_forgets_what_is_older_than_a_week() {
    let server = RedisServer::start();
    let store = open(&server.url(), Options::default()).await.expect("a store");
    let id = game("g");
    let key = format!("banqi:{{{}}}:feed", store.shards().shard_of(&id));
    // More than what Redis keeps together in one node, since it trims by whole nodes.
    for sequence in 0..250 {
        let id = format!("1000-{sequence}");
        ask::<String>(&server, &["XADD", &key, &id, "e", "old"]).await;
    }
    let commit = commit_of(&*store, put(&id, None, record(1, b"historic")))
        .await
        .with_feed_entry(Bytes::from_static(b"new"));
    let outcome = store.commit(&commit).await.expect("an answer");
    assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
    let left: usize = ask(&server, &["XLEN", &key]).await;
    assert!((1..=101).contains(&left), "{left} entries are left");
}

#[tokio::test]
async fn namespaces_share_a_server_and_nothing_else() {
    let server = RedisServer::start();
    let in_namespace = async |namespace: Option<&str>| {
        let namespace = namespace.map(|text| text.parse().expect("a namespace"));
        open(&server.url(), Options { namespace, ..Options::default() }).await.expect("a store")
    };
    let blue = in_namespace(Some("blue")).await;
    let green = in_namespace(Some("green")).await;
    let plain = in_namespace(None).await;
    let id = game("g");
    let mut of_green = green.subscribe(&id).await.expect("a subscription");
    let mut of_blue = blue.subscribe(&id).await.expect("a subscription");
    let commit = commit_of(&*blue, put(&id, None, record(1, b"historic"))).await;
    let outcome = blue.commit(&commit).await.expect("an answer");
    assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
    timeout(PATIENCE, of_blue.changed()).await.expect("a hint in the same namespace");
    assert!(
        timeout(Duration::from_millis(50), of_green.changed()).await.is_err(),
        "no hint in another"
    );
    assert!(blue.load(&id).await.expect("an answer").is_some());
    for other in [&green, &plain] {
        assert_eq!(other.load(&id).await.expect("an answer"), None);
    }
    let foreign: Vec<String> = ask(&server, &["KEYS", "banqi:*game*"]).await;
    assert_eq!(foreign, [""; 0]);
}

#[tokio::test]
async fn a_hint_may_be_missed_while_the_connection_is_away_and_that_is_told() {
    let server = RedisServer::start();
    let store = open(&server.url(), Options::default()).await.expect("a store");
    let id = game("g");
    let mut subscription = store.subscribe(&id).await.expect("a subscription");
    for round in 1..=3_u64 {
        let killed: u64 = ask(&server, &["CLIENT", "KILL", "TYPE", "pubsub"]).await;
        assert_eq!(killed, 1, "one connection serves all subscribers");
        timeout(PATIENCE, subscription.changed()).await.expect("told that it missed something");
        let expected = (round > 1).then(|| version(round - 1, b"historic"));
        let commit = commit_of(&*store, put(&id, expected, record(round, b"historic"))).await;
        let outcome = store.commit(&commit).await.expect("an answer");
        assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
        timeout(PATIENCE, subscription.changed()).await.expect("later hints arrive");
    }
}

#[tokio::test]
async fn one_connection_carries_the_hints_of_many_games_and_forgets_them() {
    let server = RedisServer::start();
    let store = open(&server.url(), Options::default()).await.expect("a store");
    let ids: Vec<_> = (0..1_500).map(|number| game(&format!("many-{number}"))).collect();
    let subscriptions =
        futures_util::future::try_join_all(ids.iter().map(|id| store.subscribe(id)))
            .await
            .expect("subscriptions");
    let channels: Vec<String> = ask(&server, &["PUBSUB", "SHARDCHANNELS", "banqi:*"]).await;
    assert_eq!(channels.len(), ids.len());
    drop(subscriptions);
    crate::fixture::eventually(
        "all channels left",
        || ask::<Vec<String>>(&server, &["PUBSUB", "SHARDCHANNELS", "banqi:*"]),
        Vec::is_empty,
    )
    .await;
}

#[tokio::test]
async fn another_number_of_shards_is_refused() {
    let server = RedisServer::start();
    let options = |count| Options {
        shards: ShardCount::new(count).expect("a number of shards"),
        ..Options::default()
    };
    drop(open(&server.url(), options(16)).await.expect("a store"));
    drop(open(&server.url(), options(16)).await.expect("the same number again"));
    let error = open(&server.url(), options(32)).await.expect_err("another number");
    assert!(matches!(
        &error,
        StoreError::Misconfigured(Misconfiguration::ShardCountMismatch { stored, configured })
            if stored == "16" && configured.get() == 32
    ));
    assert!(error.to_string().contains("16") && error.to_string().contains("32"), "{error}");
}

#[tokio::test]
async fn what_stands_and_is_no_record_is_told_and_not_overwritten() {
    let server = RedisServer::start();
    let store = open(&server.url(), Options::default()).await.expect("a store");
    let [damaged, whole] = crate::fixture::games_of_one_shard(&*store, "damaged");
    let key = format!("banqi:{{{}}}:game:{damaged}", store.shards().shard_of(&damaged));
    for value in ["x", "sixteen bytes   "] {
        ask::<()>(&server, &["SET", &key, value]).await;
        let error = store.load(&damaged).await.expect_err("it is corrupt");
        assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
        for expected in [None, Some(version(1, b"historic"))] {
            let write = put(&damaged, expected, record(2, b"historic"));
            let error = store.commit(&commit_of(&*store, write).await).await.expect_err("corrupt");
            assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
        }
        assert_eq!(ask::<String>(&server, &["GET", &key]).await, value);
        let found = store.versions(&[damaged.clone(), whole.clone()]).await.expect("an answer");
        assert!(found[0].is_err() && found[1] == Ok(None), "{found:?}");
    }
}

#[tokio::test]
async fn the_present_may_be_a_quarter_of_a_second_off() {
    let server = RedisServer::start();
    let store = open(&server.url(), Options::default()).await.expect("a store");
    let id = game("g");
    for attempt in 1.. {
        let known = now(&*store, &id).await;
        let ahead = known + Span(CLOCK_TOLERANCE.0 - 50);
        let commit = Commit::new(store.shards(), ahead, put(&id, None, record(1, b"historic")));
        match store.commit(&commit).await.expect("an answer") {
            Outcome::Applied { .. } => return,
            // A machine that stood still for long enough makes any estimate wrong.
            outcome => assert!(attempt < 5, "{outcome:?}"),
        }
    }
}

#[tokio::test]
async fn a_script_that_the_server_forgot_is_given_again() {
    let server = RedisServer::start();
    let store = open(&server.url(), Options::default()).await.expect("a store");
    let id = game("g");
    for revision in 1..=3 {
        ask::<()>(&server, &["SCRIPT", "FLUSH"]).await;
        let expected = (revision > 1).then(|| version(revision - 1, b"historic"));
        let write = put(&id, expected, record(revision, b"historic"));
        let outcome = store.commit(&commit_of(&*store, write).await).await.expect("an answer");
        assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
        ask::<()>(&server, &["SCRIPT", "FLUSH"]).await;
        store.beat(&store.shards().iter().collect::<Vec<_>>()).await.expect("a beat of all");
        ask::<()>(&server, &["SCRIPT", "FLUSH"]).await;
        let presence = Presence { game: id.clone(), slot: Slot(1), stream: StreamId(revision) };
        store.mark_present(&[presence], Span(60_000)).await.expect("a mark");
        ask::<()>(&server, &["SCRIPT", "FLUSH"]).await;
        let present = store.present(std::slice::from_ref(&id)).await.expect("an answer");
        assert_eq!(present[0].len(), 1);
    }
}

#[tokio::test]
async fn the_checkup_finds_what_loses_games() {
    let server = RedisServer::start_with(&[
        "--save",
        "",
        "--maxmemory",
        "100mb",
        "--maxmemory-policy",
        "volatile-lru",
    ]);
    let store = open(&server.url(), Options::default()).await.expect("a store");
    let findings = store.checkup().await.expect("an answer");
    assert!(findings.iter().any(|finding| {
        matches!(finding, Finding::Server { name } if name.starts_with("Redis ") || name.starts_with("Valkey "))
    }));
    let lossy: Vec<&Finding> = findings.iter().filter(|finding| finding.loses_games()).collect();
    assert_eq!(
        lossy,
        [
            &Finding::Eviction { policy: "volatile-lru".into(), limit: 100 << 20 },
            &Finding::Persistence { append_only: false, snapshots: Some(String::new()) },
        ]
    );

    let server = RedisServer::start_durable();
    let store = open(&server.url(), Options::default()).await.expect("a store");
    let findings = store.checkup().await.expect("an answer");
    assert!(findings.iter().all(|finding| !finding.loses_games()), "{findings:?}");
}

#[tokio::test]
async fn credentials_are_checked_and_never_shown() {
    let server = RedisServer::start();
    ask::<()>(&server, &["CONFIG", "SET", "requirepass", "right-secret"]).await;
    let with = |password| format!("redis://:{password}@127.0.0.1:{}", server.port());
    let store = open(&with("right-secret"), Options::default()).await.expect("a store");
    let shown = format!("{store:?}");
    assert!(shown.contains("127.0.0.1") && !shown.contains("secret"), "{shown}");
    for address in [with("wrong-secret"), server.url()] {
        let error = open(&address, Options::default()).await.expect_err("refused");
        assert!(
            matches!(error, StoreError::Misconfigured(Misconfiguration::AccessDenied { .. })),
            "{error:?}"
        );
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
}
