//! Two releases side by side on one real Redis.
//!
//! The older one is stood for by `RecordCodec::of_the_first_release`: this release, reading and
//! writing nothing but format 1, as the one before it did.

use banqi::store::Store;
use banqi::store::codec::{RecordCodec, RecordFormat};

use crate::replicas::{next_revision, plain, put, refuses_all, replica, sealed, standing, store};
use crate::support::redis_server::RedisServer;
use crate::table::Table;
use crate::world::{Replica, eventually, reason};

fn older() -> RecordCodec {
    RecordCodec::of_the_first_release()
}

async fn format(store: &dyn Store, table: &Table) -> Option<RecordFormat> {
    RecordFormat::from_number(standing(store, table).await.format)
}

#[tokio::test]
async fn games_go_on_over_both_releases_while_both_write_the_older_format() {
    let redis = RedisServer::start();
    let releases = [replica(&redis, older()).await, replica(&redis, plain("A")).await];
    let [one, other] = &releases;
    let store = store(&redis, plain("A")).await;
    let table = Table::create(one, "TAIWANESE").await;
    let mut watches = [
        one.watch(&table.id, "").await.expect("a watch"),
        other.watch(&table.id, "").await.expect("a watch"),
    ];
    for watch in &mut watches {
        assert_eq!(next_revision(watch).await.expect("a snapshot"), 1);
    }
    for turn in 0..20 {
        let game = table.play_on(&releases[turn % 2], 1).await;
        for watch in &mut watches {
            assert_eq!(next_revision(watch).await.expect("an event"), game.revision);
        }
        assert_eq!(format(&*store, &table).await, Some(RecordFormat::One));
    }
    assert_eq!(one.get(&table.id).await.log, other.get(&table.id).await.log);
}

#[tokio::test]
async fn a_raised_format_is_refused_by_the_older_release_and_can_be_lowered_again() {
    let redis = RedisServer::start();
    let old = replica(&redis, older()).await;
    let new = replica(&redis, plain("A")).await;
    let store = store(&redis, plain("A")).await;
    let table = Table::create(&old, "TAIWANESE").await;
    let before = table.play_on(&old, 3).await;
    let mut watch = old.watch(&table.id, "").await.expect("a watch");
    assert_eq!(next_revision(&mut watch).await.expect("a snapshot"), before.revision);

    // Raised on one replica, too early: the older release is still running.
    let raised = replica(&redis, sealed("A")).await;
    let game = table.play_on(&raised, 1).await;
    let stands = standing(&*store, &table).await;
    assert_eq!(stands.format, RecordFormat::Two.number());

    // Nothing is done with it there, although that replica knows the game as it was before.
    refuses_all(&old, &table, "RECORD_NEWER").await;
    assert_eq!(standing(&*store, &table).await, stands, "nothing is written over it");
    // A watch there ends, and goes on elsewhere without a gap.
    let status = next_revision(&mut watch).await.expect_err("the watch ends");
    assert_eq!(reason(&status), "RECORD_NEWER");
    let mut watch = new.watch(&table.id, &before.etag).await.expect("a watch");
    assert_eq!(next_revision(&mut watch).await.expect("an event"), game.revision);

    // Put back: what is sealed is read, and written as format 1 from then on.
    raised.stop().await;
    assert_eq!(new.get(&table.id).await.revision, game.revision);
    assert_eq!(format(&*store, &table).await, Some(RecordFormat::Two), "reading changes nothing");
    for replica in [&new, &old] {
        let game = table.play_on(replica, 1).await;
        assert_eq!(next_revision(&mut watch).await.expect("an event"), game.revision);
        assert_eq!(format(&*store, &table).await, Some(RecordFormat::One));
    }
    assert_eq!(old.get(&table.id).await.log, new.get(&table.id).await.log);
}

/// A game that is due and cannot be read by any replica that sweeps.
async fn is_left_alone_by_sweepers(sweeper: Replica, store: &dyn Store, table: &Table) {
    let stands = standing(store, table).await;
    put(store, &table.id, stands.clone(), Some(1)).await;
    let shard = store.shards().shard_of(&table.id.parse().expect("an id"));
    // It has been looked at once it is to be looked at later.
    eventually(
        "looked at",
        async || store.first_deadlines(&[shard]).await.expect("an answer")[0],
        |first| first.is_some_and(|first| first.0 > 1),
    )
    .await;
    assert_eq!(standing(store, table).await, stands);
    sweeper.stop().await;
}

#[tokio::test]
async fn sweepers_without_the_format_or_the_key_leave_games_alone() {
    let redis = RedisServer::start();
    let store = store(&redis, sealed("A")).await;
    let raised = replica(&redis, sealed("A")).await;
    let table = Table::create(&raised, "TAIWANESE").await;
    table.play_on(&raised, 2).await;
    raised.stop().await;
    for records in [older(), plain("B"), RecordCodec::default()] {
        let sweeper = replica(&redis, records).await;
        is_left_alone_by_sweepers(sweeper, &*store, &table).await;
    }
}
