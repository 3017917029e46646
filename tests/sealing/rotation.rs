//! Keys that are replaced while games go on, replica by replica.

use banqi::rules::BoardSize;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;

use crate::replicas::{plain, refuses_all, replica, sealed, standing, store};
use crate::support::redis_server::RedisServer;
use crate::table::{Table, shuffled};
use crate::world::Replica;

/// Plays on both replicas in turn; both read what the other one wrote.
async fn play(table: &Table, [one, other]: [&Replica; 2]) {
    for _ in 0..2 {
        table.play_on(one, 1).await;
        table.play_on(other, 1).await;
    }
    assert_eq!(one.get(&table.id).await.log, other.get(&table.id).await.log);
}

#[tokio::test]
async fn keys_are_introduced_replaced_and_given_up_while_games_go_on() {
    let redis = RedisServer::start();
    let behind = store(&redis, plain("A")).await;
    // Each step replaces one replica of the two, the first and the second in turn: first the key for
    // opening, then sealing, a new key for opening, sealing with it, the old one gone, unsealed.
    let steps = [
        plain("A"),
        plain("A"),
        sealed("A"),
        sealed("A"),
        sealed("AB"),
        sealed("AB"),
        sealed("BA"),
        sealed("BA"),
        sealed("B"),
        sealed("B"),
        plain("B"),
        plain("B"),
    ];
    let start = || async { replica(&redis, Default::default()).await };
    let mut replicas = [start().await, start().await];
    // A given deal, since of random ones some few end before all keys were used.
    let deal = shuffled(BoardSize::Single, &mut Xoshiro256PlusPlus::seed_from_u64(5));
    let table = Table::import(&replicas[0], "TAIWANESE", None, &deal).await;
    let mut seals = Vec::new();
    for (step, records) in steps.into_iter().enumerate() {
        let new = replica(&redis, records).await;
        std::mem::replace(&mut replicas[step % 2], new).stop().await;
        let [one, other] = &replicas;
        play(&table, [one, other]).await;
        let record = standing(&*behind, &table).await;
        seals.push((record.format, record.payload[..4].to_vec()));
    }
    let formats: Vec<u8> = seals.iter().map(|(format, _)| *format).collect();
    // The second replica writes last, so each change shows once it has been replaced.
    assert_eq!(formats, [1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 1]);
    let id = |step: usize| &seals[step].1;
    assert!(id(3) == id(5) && id(3) == id(6), "sealed with the first key");
    assert!(id(7) == id(10) && id(3) != id(7), "sealed with the second key");
}

#[tokio::test]
async fn a_game_that_was_not_written_since_needs_the_old_key() {
    let redis = RedisServer::start();
    let behind = store(&redis, plain("A")).await;
    let old = replica(&redis, sealed("A")).await;
    let table = Table::create(&old, "TAIWANESE").await;
    table.play_on(&old, 2).await;
    old.stop().await;
    let stands = standing(&*behind, &table).await;

    let without = replica(&redis, sealed("B")).await;
    refuses_all(&without, &table, "RECORD_SEALED").await;
    assert_eq!(standing(&*behind, &table).await, stands, "nothing is written over it");

    let both = replica(&redis, sealed("BA")).await;
    table.play_on(&both, 1).await;
    assert_eq!(without.get(&table.id).await.log, both.get(&table.id).await.log);
}
