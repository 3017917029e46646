//! Sealed records that do not open: told, and left alone.

use banqi::game::{Revision, Version};
use banqi::store::Record;

use crate::replicas::{plain, put, refuses_all, replica, sealed, standing, store};
use crate::support::redis_server::RedisServer;
use crate::table::Table;

/// The record with one bit of its payload changed.
fn flipped(record: &Record, at: usize) -> Record {
    let mut payload = record.payload.to_vec();
    payload[at] ^= 1;
    Record { payload: payload.into(), ..record.clone() }
}

#[tokio::test]
async fn a_record_that_was_changed_or_moved_is_broken_and_left_alone() {
    let redis = RedisServer::start();
    let behind = store(&redis, sealed("A")).await;
    let writer = replica(&redis, sealed("A")).await;
    let readers = [replica(&redis, sealed("A")).await, replica(&redis, plain("BA")).await];
    let other = Table::create(&writer, "TAIWANESE").await;
    let other = standing(&*behind, &other).await;
    for spoil in ["nonce", "message", "tag", "header", "cut", "another game's", "format"] {
        let table = Table::create(&writer, "TAIWANESE").await;
        table.play_on(&writer, 2).await;
        let record = standing(&*behind, &table).await;
        let spoilt = match spoil {
            "nonce" => flipped(&record, 4),
            "message" => flipped(&record, 40),
            "tag" => flipped(&record, record.payload.len() - 1),
            "header" => {
                let Version { revision: Revision(revision), history } = record.version;
                let version = Version { revision: Revision(revision + 1), history };
                Record { version, ..record }
            }
            "cut" => Record { payload: record.payload.slice(..43), ..record },
            "another game's" => other.clone(),
            _ => Record { format: 1, ..record },
        };
        put(&*behind, &table.id, spoilt.clone(), None).await;
        for reader in &readers {
            refuses_all(reader, &table, "RECORD_BROKEN").await;
        }
        assert_eq!(standing(&*behind, &table).await, spoilt, "{spoil}: nothing is written over it");
    }
}

#[tokio::test]
async fn a_record_whose_key_is_not_there_is_no_broken_one() {
    let redis = RedisServer::start();
    let behind = store(&redis, sealed("A")).await;
    let writer = replica(&redis, sealed("A")).await;
    let table = Table::create(&writer, "TAIWANESE").await;
    table.play_on(&writer, 2).await;
    let stands = standing(&*behind, &table).await;
    for records in [sealed("B"), plain("B"), Default::default()] {
        let without = replica(&redis, records).await;
        refuses_all(&without, &table, "RECORD_SEALED").await;
        // Its own games are none the worse for it.
        let own = Table::create(&without, "TAIWANESE").await;
        own.play_on(&without, 2).await;
    }
    assert_eq!(standing(&*behind, &table).await, stands, "nothing is written over it");
    table.play_on(&writer, 2).await;
}
