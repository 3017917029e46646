//! Servers that were replaced and do not know it: they go on answering with what they have, and
//! nothing is taken to be lost for it.

use std::sync::Arc;

use banqi::store::{Outcome, Store};

use crate::deployment::{Cluster, ask};
use crate::failover::{Stopped, key, open_at};
use crate::fixture::{commit_of, eventually, game, put, record, version};
use crate::support::redis_server::RedisServer;

/// Writes this revision of the game.
async fn write(store: &Arc<dyn Store>, revision: u64) {
    let expected = (revision > 1).then(|| version(revision - 1, b"historic"));
    let write = put(&game("g"), expected, record(revision, b"historic"));
    let outcome = store.commit(&commit_of(&**store, write).await).await.expect("an answer");
    assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
}

fn monitor(server: &RedisServer) -> String {
    format!("games 127.0.0.1 {} 1", server.port())
}

#[tokio::test]
async fn a_primary_that_was_replaced_is_left_before_it_is_believed_that_something_was_lost() {
    let [old, new] = [RedisServer::start(), RedisServer::start()];
    let configuration = format!("sentinel monitor {}\n", monitor(&old));
    let sentinel = RedisServer::start_sentinel(configuration, &[]);
    let store = open_at(&format!("redis+sentinel://127.0.0.1:{}/games", sentinel.port())).await;
    write(&store, 1).await;
    let elsewhere = open_at(&new.url()).await;
    write(&elsewhere, 1).await;
    write(&elsewhere, 2).await;
    // As after a failover of which the old primary, cut off from the sentinels, knows nothing.
    ask::<()>(&sentinel, &["SENTINEL", "REMOVE", "games"]).await;
    let command = format!("SENTINEL MONITOR {}", monitor(&new));
    ask::<()>(&sentinel, &command.split(' ').collect::<Vec<_>>()).await;
    let id = game("g");
    let second = Some(record(2, b"historic"));
    assert_eq!(store.load_confirmed(&id).await.expect("an answer"), second);
    // Nothing is asked of the old one any more.
    assert_eq!(store.load(&id).await.expect("an answer"), second);
}

#[tokio::test]
async fn a_primary_whose_sentinels_say_nothing_is_not_believed_when_something_seems_lost() {
    let server = RedisServer::start();
    let sentinels = [(); 3].map(|()| {
        RedisServer::start_sentinel(format!("sentinel monitor {}\n", monitor(&server)), &[])
    });
    let ports = sentinels.each_ref().map(|sentinel| format!("127.0.0.1:{}", sentinel.port()));
    let store = open_at(&format!("redis+sentinel://{}/games", ports.join(","))).await;
    write(&store, 1).await;
    let id = game("g");
    let first = Some(record(1, b"historic"));
    let one_stopped = Stopped::stop(&sentinels[0]);
    assert_eq!(store.load_confirmed(&id).await.expect("two of three say so"), first);
    let two_stopped = Stopped::stop(&sentinels[1]);
    let error = store.load_confirmed(&id).await.expect_err("one of three says so");
    assert!(error.is_transient() && !error.may_have_applied(), "{error}");
    // What does not matter so much is answered.
    assert_eq!(store.load(&id).await.expect("an answer"), first);
    drop((one_stopped, two_stopped));
    let again = async || store.load_confirmed(&id).await;
    let again = eventually("confirmed", again, |again| again.is_ok()).await;
    assert_eq!(again, Ok(first));
}

#[tokio::test]
async fn a_node_that_was_replaced_is_not_believed_when_something_seems_lost() {
    let cluster = Cluster::start().await;
    let store = open_at(&cluster.url()).await;
    write(&store, 1).await;
    let clock = key(&store, "clock");
    let old = cluster.holder(&clock).await.port();
    let place = cluster.nodes.iter().position(|node| node.port() == old).expect("one of them");
    let (old, new) = (&cluster.nodes[place], &cluster.nodes[(place + 3) % 6]);
    let first: u64 = ask(old, &["WAIT", "1", "5000"]).await;
    assert_eq!(first, 1, "its replica follows");
    // The old one does not listen to anything about the new one for a minute.
    let id: String = ask(new, &["CLUSTER", "MYID"]).await;
    ask::<()>(old, &["CLUSTER", "FORGET", &id]).await;
    ask::<()>(new, &["CLUSTER", "FAILOVER", "TAKEOVER"]).await;
    let others: Vec<_> = (0..3).filter(|other| *other != place).collect();
    let slot: i64 = ask(old, &["CLUSTER", "KEYSLOT", &clock]).await;
    for other in &others {
        let holder = async || {
            let ranges: Vec<(i64, i64, (String, u16, String))> =
                slots(&cluster.nodes[*other]).await;
            let range =
                ranges.into_iter().find(|(first, last, _)| (*first..=*last).contains(&slot));
            range.map(|(_, _, (_, port, _))| port)
        };
        eventually("taken over", holder, |holder| *holder == Some(new.port())).await;
    }
    let others: Vec<String> =
        others.iter().map(|other| format!("127.0.0.1:{}", cluster.nodes[*other].port())).collect();
    let elsewhere = open_at(&format!("redis+cluster://{}", others.join(","))).await;
    write(&elsewhere, 2).await;
    let has_it: u64 = ask(old, &["EXISTS", &clock]).await;
    assert_eq!(has_it, 1, "the old one answers as before");
    let second = Some(record(2, b"historic"));
    assert_eq!(store.load_confirmed(&game("g")).await.expect("an answer"), second);
}

/// The ranges of slots that a node knows, each with its primary.
async fn slots(node: &RedisServer) -> Vec<(i64, i64, (String, u16, String))> {
    let ranges: Vec<Vec<redis::Value>> = ask(node, &["CLUSTER", "SLOTS"]).await;
    let range = |range: Vec<redis::Value>| {
        let mut parts = range.into_iter();
        let mut number = || match parts.next() {
            Some(redis::Value::Int(number)) => number,
            other => panic!("{other:?} is no slot"),
        };
        let (first, last) = (number(), number());
        let Some(redis::Value::Array(primary)) = parts.next() else { panic!("no primary") };
        let mut primary = primary.into_iter();
        let mut text = || {
            let part = primary.next().expect("a part");
            redis::FromRedisValue::from_redis_value(part).expect("text")
        };
        let (host, port, id): (String, String, String) = (text(), text(), text());
        (first, last, (host, port.parse().expect("a port"), id))
    };
    ranges.into_iter().map(range).collect()
}
