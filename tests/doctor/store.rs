//! The store.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use banqi::game::GameId;
use banqi::store::ShardCount;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::deployment::{Cluster, Sentinels, USER, ask, restrict};
use crate::examined::Examined;
use crate::files::Files;
use crate::support::fake_clock::Clock;
use crate::support::redis_server::{RedisServer, free_port};

fn examine(address: &str, more: &[&str]) -> Examined {
    let arguments = [&["--store", address], more].concat();
    Examined::by(&arguments)
}

#[tokio::test]
async fn a_store_that_is_not_there() {
    let closed = format!("redis://:hunter2@127.0.0.1:{}", free_port());
    let examined = examine(&closed, &[]);
    examined
        .assert("store.address", "ok", &[])
        .assert("store.reachable", "fault", &["Connection refused", "start Redis"])
        .assert("store.rights", "skipped", &["what comes before it failed"]);
    assert!(!format!("{examined:?}").contains("hunter2"), "{examined:?}");
    examine("redis://h/x", &[]).assert("store.address", "fault", &["a database is a number"]);
    examine("nowhere:", &[]).assert("store.address", "fault", &["`nowhere`", "redis://"]);
    let locked = RedisServer::start();
    ask::<()>(&locked, &["CONFIG", "SET", "requirepass", "right"]).await;
    examine(&locked.url(), &[]).assert("store.credentials", "fault", &["NOAUTH", ":PASSWORD@HOST"]);
    let wrong = format!("redis://:hunter2@127.0.0.1:{}", locked.port());
    examine(&wrong, &[]).assert("store.credentials", "fault", &["WRONGPASS", "correct user"]);
}

#[test]
fn a_store_in_a_file() {
    let files = Files::new();
    let store = format!("file:{}", files.path("games").display());
    let examined = examine(&store, &[]);
    assert_eq!(examined.bad(), [""; 0], "{examined:?}");
    assert!(!files.path("games").exists(), "it is not made");
    examine("file:/nowhere/games", &[]).assert("store.reachable", "fault", &["make the directory"]);
    std::fs::write(files.path("games"), [b'x'; 8192]).expect("written");
    examine(&store, &[]).assert("store.reachable", "fault", &["choose another file"]);
    examine("memory:", &[]).assert("store.persistence", "warning", &["in memory"]);
    examine("memory:", &["--durability=1"]).assert("store.address", "fault", &["--durability"]);
}

#[tokio::test]
async fn a_server_that_would_lose_games() {
    let server = RedisServer::start_with(&["--save", "", "--maxmemory-policy", "volatile-lru"]);
    ask::<()>(&server, &["SET", "banqi:shards", "7"]).await;
    let info: String = ask(&server, &["INFO", "memory"]).await;
    let used = info.lines().find_map(|line| line.strip_prefix("used_memory:")).expect("told");
    let limit = (used.parse::<u64>().expect("a number") + 50_000).to_string();
    ask::<()>(&server, &["CONFIG", "SET", "maxmemory", &limit]).await;
    examine(&server.url(), &["--durability=1"])
        .assert("store.version", "ok", &["Redis "])
        .assert("store.eviction", "warning", &["volatile-lru", "noeviction"])
        .assert("store.memory", "warning", &["raise maxmemory"])
        .assert("store.persistence", "warning", &["set appendonly to yes"])
        .assert("store.replicas", "warning", &["1 replicas", "it has 0", "lower --durability"])
        .assert("store.shards", "fault", &["with 7 shards", "configure 7"]);
}

#[tokio::test]
async fn a_server_that_takes_no_writes() {
    let server = RedisServer::start_with(&["--min-replicas-to-write", "1"]);
    examine(&server.url(), &[]).assert("store.writes", "fault", &["NOREPLICAS"]);
}

#[tokio::test]
async fn rights_that_are_missing_are_named_one_by_one() {
    let server = RedisServer::start();
    let address = format!("redis://{USER}@127.0.0.1:{}", server.port());
    restrict(&server).await;
    let namespace = "--namespace=t";
    examine(&address, &[namespace]).assert("store.rights", "ok", &[]).assert(
        "store.credentials",
        "ok",
        &[],
    );
    let denied: Vec<redis::Value> = ask(&server, &["ACL", "LOG"]).await;
    assert!(denied.is_empty(), "the documented user is enough: {denied:?}");
    let rule = ["ACL", "SETUSER", "banqi", "-xadd", "-zrangebyscore", "-evalsha", "-get"];
    ask::<()>(&server, &rule).await;
    ask::<()>(&server, &["ACL", "SETUSER", "banqi", "resetchannels"]).await;
    examine(&address, &[namespace]).assert(
        "store.rights",
        "fault",
        &["may not use get, xadd, spublish, evalsha, ssubscribe:", "Rights in Redis"],
    );
    restrict(&server).await;
    ask::<()>(&server, &["ACL", "SETUSER", "banqi", "resetkeys", "~t:banqi:{*"]).await;
    examine(&address, &[namespace]).assert(
        "store.rights",
        "fault",
        &["the key t:banqi:shards, the key t:banqi:replicas, the key t:banqi:player:"],
    );
    ask::<()>(&server, &["ACL", "SETUSER", "banqi", "-info"]).await;
    examine(&address, &[namespace]).assert("store.rights", "fault", &["info"]);
}

/// A server that says of itself that it is of an old release.
fn old_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(&stream));
        }
    });
    port
}

/// Answers what is asked before the release is known: each command with its name on its third line.
fn answer(stream: &TcpStream) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut out = stream;
    while let Some(count) = lines.next() {
        let parts: usize = count.trim_start_matches('*').parse().expect("a number of parts");
        let words: Vec<String> = lines.by_ref().take(2 * parts).skip(1).step_by(2).collect();
        let reply = match words.first().map(|word| word.to_ascii_uppercase()).as_deref() {
            Some("HELLO") => "%1\r\n$5\r\nproto\r\n:3\r\n".to_owned(),
            Some("INFO") => "$22\r\nredis_version:6.2.14\r\n\r\n".to_owned(),
            _ => "+PONG\r\n".to_owned(),
        };
        if out.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_server_that_is_too_old() {
    let address = format!("redis://127.0.0.1:{}", old_server());
    examine(&address, &[]).assert("store.version", "fault", &["Redis 6.2.14", "7.0 or newer"]);
}

#[tokio::test]
async fn a_record_of_a_newer_release() {
    let server = RedisServer::start();
    let game: GameId = "of-the-future".parse().expect("an id");
    let shard = ShardCount::default().shard_of(&game);
    let list = format!("banqi:{{{shard}}}:games");
    ask::<()>(&server, &["ZADD", &list, "0", "00000000000000aaof-the-future"]).await;
    let key = format!("banqi:{{{shard}}}:game:of-the-future");
    ask::<()>(&server, &["SET", &key, "\u{9}2345678abcdefghand more"]).await;
    examine(&server.url(), &[]).assert("store.format", "fault", &["of-the-future", "release"]);
}

/// Passes everything on, later.
async fn carry(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) {
    let mut buffer = vec![0; 65_536];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        tokio::time::sleep(Duration::from_millis(6)).await;
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_far_away() {
    let server = RedisServer::start();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("redis://{}", listener.local_addr().expect("an address"));
    let port = server.port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let behind = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.expect("there");
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = behind.into_split();
            tokio::spawn(carry(from_client, to_server));
            tokio::spawn(carry(from_server, to_client));
        }
    });
    let examined = tokio::task::spawn_blocking(move || examine(&address, &[])).await;
    examined.expect("it runs").assert("store.latency", "warning", &["ms", "keep the store near"]);
}

#[test]
fn a_server_whose_clock_is_wrong() {
    let server = RedisServer::start_in(Clock::Off("+5m").environment(), &[]);
    let told = ["300.", "s ahead of this machine's", "NTP"];
    let examined = examine(&server.url(), &[]);
    let text = examined.text("store.clock");
    // Half a round trip more or less.
    let told = if text.contains("299.") { ["299.", told[1], told[2]] } else { told };
    examined.assert("store.clock", "warning", &told);
}

#[tokio::test]
async fn sentinels_of_which_one_is_away() {
    let mut deployment = Sentinels::start().await;
    let address = deployment.url();
    examine(&address, &["--namespace=t"]).assert("store.topology", "ok", &["3 sentinels"]).assert(
        "store.rights",
        "ok",
        &[],
    );
    let away = format!("127.0.0.1:{}", deployment.sentinels[1].port());
    deployment.sentinels[1].kill();
    examine(&address, &["--namespace=t"]).assert(
        "store.topology",
        "warning",
        &["of 3 sentinels 1", &away, "start those"],
    );
}

#[tokio::test]
async fn a_cluster_that_has_lost_slots() {
    let cluster = Cluster::start().await;
    let address = cluster.url();
    examine(&address, &["--namespace=t"]).assert("store.topology", "ok", &["all slots"]).assert(
        "store.rights",
        "ok",
        &[],
    );
    for node in &cluster.nodes {
        ask::<()>(node, &["CONFIG", "SET", "cluster-require-full-coverage", "no"]).await;
    }
    for node in &cluster.nodes {
        ask::<()>(node, &["CLUSTER", "DELSLOTSRANGE", "100", "109"]).await;
    }
    examine(&address, &["--namespace=t"]).assert(
        "store.topology",
        "fault",
        &["10 slots", "--cluster fix"],
    );
}
