//! Replicas whose own clocks are minutes apart: only the store's counts.

use std::time::Duration;

use tokio::time::Instant;

use crate::awaited::until_all_have_ended;
use crate::player::{Player, deadline, per_turn, server_time, timed_out};
use crate::support::PATIENCE;
use crate::support::fake_clock::Clock;
use crate::support::redis_server::RedisServer;
use crate::support::replica::Replica;

/// How far apart what two replicas call the present may be.
const TOLERANCE: i64 = 250;

/// How long a turn may take.
const TURN: Duration = Duration::from_secs(10);

/// How far what a replica calls the present is ahead of an instant: from the quickest of some
/// calls, and at most half of its round trip off, which is told too.
async fn ahead_of(start: Instant, player: &Player, id: &str) -> (i64, i64) {
    let mut best: Option<(Duration, i64)> = None;
    for _ in 0..5 {
        let asked = Instant::now();
        let game = player.get(id).await;
        let round_trip = asked.elapsed();
        let middle = (asked + round_trip / 2).duration_since(start);
        let middle = i64::try_from(middle.as_millis()).expect("short");
        if best.is_none_or(|(quickest, _)| round_trip < quickest) {
            best = Some((round_trip, server_time(&game) - middle));
        }
    }
    let (round_trip, ahead) = best.expect("five calls");
    (ahead, i64::try_from(round_trip.as_millis()).expect("short") / 2)
}

#[tokio::test]
async fn replicas_whose_clocks_are_minutes_apart_agree() {
    let store = RedisServer::start();
    let options = ["--store", &store.url(), "--log=error"];
    let clocks = [Clock::Off("-7m"), Clock::Off("+5m"), Clock::True];
    let replicas = clocks.map(|clock| Replica::start_at(clock, &options));
    let mut players = Vec::new();
    for replica in &replicas {
        players.push(Player::at(replica.address()).await);
    }
    let (table, _) = players[0].create(per_turn(TURN)).await;
    // Every one of them plays, and all see the same.
    for number in 0..6 {
        let played = players[number % players.len()].play(&table).await;
        for player in &players {
            let seen = player.get(&table.id).await;
            assert_eq!(seen.etag, played.etag);
            assert_eq!(deadline(&seen), deadline(&played));
        }
    }
    let start = Instant::now();
    let mut presents = Vec::new();
    for player in &players {
        presents.push(ahead_of(start, player, &table.id).await);
    }
    println!("presents, and how far they may be off: {presents:?}");
    for (one, one_off) in &presents {
        for (other, other_off) in &presents {
            assert!((one - other).abs() <= TOLERANCE + one_off + other_off, "{presents:?}");
        }
    }

    // Nobody plays on. Whichever of them sweeps it, it ends once, and after its deadline.
    let last = deadline(&players[2].get(&table.id).await);
    until_all_have_ended(&store, TURN + PATIENCE).await;
    let mut ends = Vec::new();
    for player in &players {
        let ended = player.get(&table.id).await;
        let late = timed_out(&ended) - last;
        assert!((0..=5_000).contains(&late), "ended {late} ms after its deadline");
        ends.push((ended.etag.clone(), timed_out(&ended)));
    }
    ends.dedup();
    assert_eq!(ends.len(), 1, "{ends:?}");
}
