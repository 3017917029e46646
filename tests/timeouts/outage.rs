//! What a store that is away takes from a running clock: `docs/clocks.md` says it exactly.

use std::time::Duration;

use banqi::api::proto::v1;
use rstest::rstest;
use tokio::time::{Instant, sleep};

use crate::awaited::until_all_have_ended;
use crate::player::{Player, deadline, server_time, sudden_death, timed_out};
use crate::support::redis_server::RedisServer;
use crate::support::replica::Replica;
use crate::support::{PATIENCE, signal};

/// For how long the store is away.
const AWAY: Duration = Duration::from_secs(20);

/// What that may take from the running clock.
const COST: i64 = 3_000;

/// One beat: how long before the outage the shard's clock may have been advanced last.
const BEAT: i64 = 1_000;

/// What a busy machine adds: rounds that begin late, and round trips.
const SLACK: i64 = 1_000;

#[derive(Clone, Copy, Debug)]
enum Outage {
    /// The server is killed, and started again with what it has on disk.
    Killed,
    /// The server stands still.
    Frozen,
}

#[rstest]
#[tokio::test]
async fn twenty_seconds_without_a_store_take_three_from_the_clock(
    #[values(Outage::Killed, Outage::Frozen)] outage: Outage,
) {
    let mut store = RedisServer::start_durable();
    let options = ["--store", &store.url(), "--log=error"];
    let replicas = [(); 2].map(|()| Replica::start(&options));
    let player = Player::at(replicas[0].address()).await;
    let (table, _) = player.create(sudden_death(Duration::from_secs(12))).await;
    player.play(&table).await;
    // Long enough that a beat has come since the last write.
    sleep(Duration::from_millis(1_500)).await;

    let before = player.get(&table.id).await;
    let since = Instant::now();
    match outage {
        Outage::Killed => store.kill(),
        Outage::Frozen => signal(store.id(), "STOP"),
    }
    let began = i64::try_from(since.elapsed().as_millis()).expect("short");
    sleep(AWAY).await;
    let back = Instant::now();
    match outage {
        Outage::Killed => store.restart(),
        Outage::Frozen => signal(store.id(), "CONT"),
    }
    let after = player.get_again(&table.id).await;
    let returned = i64::try_from(back.elapsed().as_millis()).expect("short");

    assert_eq!(after.state(), v1::GameState::Active, "{:?}", after.result);
    assert_eq!(deadline(&after), deadline(&before));
    let taken = server_time(&after) - server_time(&before);
    println!("{outage:?}: {taken} ms; back after {returned} ms");
    let expected = COST - BEAT - SLACK..=COST + began + returned + SLACK;
    assert!(expected.contains(&taken), "{taken} ms were taken, not {expected:?}");

    // Nobody touches it again: the clock runs on, and the sweepers are back.
    let left = deadline(&after) - server_time(&after);
    sleep(Duration::from_millis(u64::try_from(left).expect("some time is left"))).await;
    until_all_have_ended(&store, PATIENCE).await;
    let ended = player.get(&table.id).await;
    let late = timed_out(&ended) - deadline(&before);
    assert!((0..=5_000).contains(&late), "ended {late} ms after its deadline");
}
