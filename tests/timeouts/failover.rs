//! A promoted Redis replica whose clock is wrong costs nobody his game.

use std::time::Duration;

use banqi::api::proto::v1;
use rstest::rstest;
use tokio::time::{Instant, sleep};

use crate::forwarder::Forwarder;
use crate::player::{Player, deadline, server_time, sudden_death};
use crate::support::PATIENCE;
use crate::support::fake_clock::Clock;
use crate::support::redis_server::RedisServer;
use crate::support::replica::Replica;

/// What an outage may take from the running clock.
const OUTAGE: i64 = 3_000;

/// How far two estimates of a shard's time may be apart, with the round trip of a busy machine.
const SLACK: i64 = 750;

async fn until_in_step(follower: &RedisServer) {
    let limit = Instant::now() + PATIENCE;
    loop {
        let mut connection = follower.connection().await;
        let info: String = redis::cmd("INFO")
            .arg("replication")
            .query_async(&mut connection)
            .await
            .expect("an answer");
        if info.contains("master_link_status:up") && info.contains("master_sync_in_progress:0") {
            return;
        }
        assert!(Instant::now() < limit, "the follower never comes into step: {info}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[rstest]
// Two threads, so that the forwarder goes on while one waits for a process to start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promoted_primary_whose_clock_is_off_takes_no_more_than_an_outage(
    #[values("+10m", "-10m")] offset: &'static str,
) {
    let mut primary = RedisServer::start();
    let follow = ["--replicaof", &format!("127.0.0.1 {}", primary.port())];
    let follower = RedisServer::start_in(Clock::Off(offset).environment(), &follow);
    until_in_step(&follower).await;
    let forwarder = Forwarder::to(primary.port()).await;
    let store = ["--store", &forwarder.url(), "--log=error"];
    let replicas = [(); 2].map(|()| Replica::start(&store));
    let player = Player::at(replicas[0].address()).await;
    let (table, _) = player.create(sudden_death(Duration::from_secs(60))).await;
    player.play(&table).await;
    let played = player.play(&table).await;

    // What was written must be there after the failover: this test is about clocks.
    let written: i64 = redis::cmd("WAIT")
        .arg(1)
        .arg(10_000)
        .query_async(&mut primary.connection().await)
        .await
        .expect("an answer");
    assert_eq!(written, 1);
    let before = player.get(&table.id).await;
    let asked = Instant::now();
    primary.kill();
    let _: () = redis::cmd("REPLICAOF")
        .arg("NO")
        .arg("ONE")
        .query_async(&mut follower.connection().await)
        .await
        .expect("promoted");
    forwarder.switch(follower.port());
    let after = player.get_again(&table.id).await;
    assert_eq!(after.revision, played.revision);
    // Long enough that the shard's clock was advanced by the new primary's.
    sleep(Duration::from_secs(2)).await;
    let settled = player.get(&table.id).await;
    let real = millis(asked.elapsed());
    let taken = server_time(&settled) - server_time(&before);
    println!("{offset}: {taken} ms of the clock in {real} ms");
    assert!(taken >= 0, "{offset}: time went back by {} ms", -taken);
    assert!(taken <= OUTAGE + real + SLACK, "{offset}: {taken} ms were taken in {real} ms");
    assert_eq!(settled.state(), v1::GameState::Active, "{offset}: {:?}", settled.result);
    assert_eq!(deadline(&settled), deadline(&before), "a deadline is a fact of the game");

    // And the clock goes on from there at its pace, in the hands of any replica.
    let began = Instant::now();
    sleep(Duration::from_secs(2)).await;
    let later = Player::at(replicas[1].address()).await.get(&table.id).await;
    let (passed, real) = (server_time(&later) - server_time(&settled), millis(began.elapsed()));
    assert!((passed - real).abs() <= SLACK, "{offset}: {passed} ms passed in {real} ms");
    player.play(&table).await;
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).expect("short")
}
