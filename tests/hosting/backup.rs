//! A backup that was taken while games were played, and going back to it, as docs/operations.md
//! tells: nothing of then is missing, and who has seen more is told that it is lost.

use std::process::Command;

use banqi::store::open;

use crate::support::redis_server::RedisServer;
use crate::table::Table;
use crate::world::{Replica, eventually, options, reason, trusting};
use crate::writes::Write;

/// Redis' own client; it comes with the server.
fn redis_cli(store: &RedisServer, arguments: &[&str]) {
    let output = Command::new("redis-cli")
        .args(["-h", "127.0.0.1", "-p", &store.port().to_string()])
        .args(arguments)
        .output()
        .expect("redis-cli runs");
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn games_go_on_from_a_backup_and_who_saw_more_is_told() {
    let mut store = RedisServer::start_durable();
    let replica =
        Replica::on(open(&store.url(), options()).await.expect("a store"), trusting()).await;
    let table = Table::create(&replica, "TAIWANESE").await;
    let kept = table.play_on(&replica, 3).await;
    let directory = tempfile::tempdir().expect("a directory");
    let backup = directory.path().join("games.rdb");
    redis_cli(&store, &["--rdb", backup.to_str().expect("a path of text")]);
    let lost = table.play_on(&replica, 3).await;
    let younger = Table::create(&replica, "TAIWANESE").await;
    let mut watch = replica.watch(&table.id, &lost.etag).await.expect("watched");

    store.kill();
    store.restore(&backup);
    redis_cli(&store, &["config", "set", "appendonly", "yes"]);
    let connection = store.connection().await;
    let persistence = || {
        let mut connection = connection.clone();
        async move {
            let info = redis::cmd("INFO").arg("persistence").query_async(&mut connection).await;
            info.expect("the server tells")
        }
    };
    let written = |info: &String| info.contains("aof_rewrite_in_progress:0");
    eventually("all of it is written", persistence, written).await;

    let stands = async || replica.try_get(&table.id).await.ok();
    let game = eventually("the store is found again", stands, Option::is_some).await;
    assert_eq!(game.expect("found").etag, kept.etag, "every action of before the backup");
    let status = replica.try_get(&younger.id).await.expect_err("younger than the backup");
    assert_eq!(reason(&status), "GAME_NOT_FOUND");
    let write = Write::Play(table.act(1, "a1")).with_etag(&lost.etag);
    let status = write.send(&replica).await.expect_err("decided on what is lost");
    assert_eq!(reason(&status), "HISTORY_LOST");
    // The watch is told as well, whether it lasted or was begun again.
    loop {
        match watch.message().await {
            Ok(Some(message)) if told_of_the_loss(&message) => break,
            Ok(Some(_)) => {}
            _ => watch = replica.watch(&table.id, &lost.etag).await.expect("watched again"),
        }
    }
    let played = table.play_on(&replica, 2).await;
    assert_eq!(played.revision, kept.revision + 2);

    // And what is played from then on is kept again.
    store.kill();
    store.restart();
    let stands = async || replica.try_get(&table.id).await.ok();
    let game = eventually("the store is found again", stands, Option::is_some).await;
    assert_eq!(game.expect("found").etag, played.etag);
}

fn told_of_the_loss(message: &banqi::api::proto::v1::WatchGameResponse) -> bool {
    use banqi::api::proto::v1::watch_game_response::Message;
    matches!(&message.message, Some(Message::Snapshot(snapshot)) if snapshot.history_lost)
}
