//! How late games end that nobody touches: a thousand of them, three replicas, one of them killed
//! half-way.

use std::time::Duration;

use banqi::game::GameId;
use banqi::store::{ReplicaId, ShardCount, sweeper_of};
use futures_util::future::join_all;
use tokio::time::{Instant, sleep, sleep_until};

use crate::awaited::until_all_have_ended;
use crate::player::{Player, deadline, per_turn, timed_out};
use crate::support::redis_server::RedisServer;
use crate::support::replica::Replica;

const GAMES: u32 = 1_000;
const TURN: Duration = Duration::from_secs(2);

/// Over how long the creations, and so the deadlines, are spread.
const SPREAD: Duration = Duration::from_secs(1);

/// How many games have one client.
const GAMES_A_CLIENT: u32 = 25;

/// After what time a game is ended that nobody touches.
const GRACE: i64 = 500;

/// How late so many games of a hundred may end at most, in milliseconds.
struct Bounds {
    live: i64,
    dead: i64,
}

/// How late games ended, in milliseconds.
struct Lateness(Vec<i64>);

impl Lateness {
    fn of(mut late: Vec<i64>) -> Self {
        late.sort_unstable();
        Self(late)
    }

    /// What so many games of a hundred stay within.
    fn percentile(&self, percent: usize) -> i64 {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0[rank.saturating_sub(1)]
    }

    fn print(&self, whose: &str) {
        println!(
            "{whose}: {} games, p50 {} ms, p99 {} ms, most {} ms",
            self.0.len(),
            self.percentile(50),
            self.percentile(99),
            self.percentile(100)
        );
    }
}

/// The replicas that are alive, as the store has them.
async fn alive(store: &RedisServer) -> Vec<ReplicaId> {
    let ids: Vec<String> = redis::cmd("ZRANGE")
        .arg("banqi:replicas")
        .arg(0)
        .arg(-1)
        .query_async(&mut store.connection().await)
        .await
        .expect("an answer");
    ids.iter().map(|id| ReplicaId(id.parse().expect("an id"))).collect()
}

/// Starts replicas one after the other; answers them with their ids.
async fn start(store: &RedisServer) -> Vec<(Replica, ReplicaId)> {
    let mut started: Vec<(Replica, ReplicaId)> = Vec::new();
    while started.len() < 3 {
        let replica = Replica::start(&["--store", &store.url(), "--log=error"]);
        let limit = Instant::now() + Duration::from_secs(10);
        let id = loop {
            let known = |id: &ReplicaId| started.iter().any(|(_, known)| known == id);
            if let Some(id) = alive(store).await.into_iter().find(|id| !known(id)) {
                break id;
            }
            assert!(Instant::now() < limit, "the replica has no heartbeat");
            sleep(Duration::from_millis(10)).await;
        };
        started.push((replica, id));
    }
    started
}

/// The server's time, in milliseconds, which is that of the shards here.
async fn time(store: &RedisServer) -> i64 {
    let (seconds, micros): (i64, i64) =
        redis::cmd("TIME").query_async(&mut store.connection().await).await.expect("an answer");
    seconds * 1_000 + micros / 1_000
}

async fn measure(bounds: Bounds) {
    let store = RedisServer::start();
    let mut replicas = start(&store).await;
    let ids: Vec<ReplicaId> = replicas.iter().map(|(_, id)| *id).collect();

    let began = Instant::now();
    let creations = (0..GAMES / GAMES_A_CLIENT).map(|client| {
        let address = replicas[client as usize % replicas.len()].0.address().to_owned();
        async move {
            let player = Player::at(&address).await;
            let mut created = Vec::new();
            for number in 0..GAMES_A_CLIENT {
                sleep_until(began + SPREAD * number / GAMES_A_CLIENT).await;
                let (table, game) = player.create(per_turn(TURN)).await;
                created.push((table.id, deadline(&game)));
            }
            created
        }
    });
    let games: Vec<(String, i64)> = join_all(creations).await.into_iter().flatten().collect();
    println!("created in {:?}", began.elapsed());

    // Half of the deadlines are over.
    let mut order: Vec<i64> = games.iter().map(|(_, deadline)| *deadline).collect();
    order.sort_unstable();
    let halfway = order[order.len() / 2];
    let wait = u64::try_from(halfway - time(&store).await).unwrap_or(0);
    sleep(Duration::from_millis(wait)).await;
    let (mut killed, killed_id) = replicas.remove(0);
    killed.kill();
    let death = time(&store).await;

    // Nobody asks the replicas, since whoever reads a game ends it.
    until_all_have_ended(&store, Duration::from_secs(60)).await;
    let player = Player::at(replicas[0].0.address()).await;
    let (mut live, mut dead) = (Vec::new(), Vec::new());
    for (id, deadline) in &games {
        let late = timed_out(&player.get(id).await) - deadline;
        assert!(late >= 0, "{id} ended {late} ms after its deadline");
        let game: GameId = id.parse().expect("an id");
        let swept_by = sweeper_of(ShardCount::default().shard_of(&game), &ids);
        match swept_by == Some(killed_id) {
            true if deadline + GRACE > death => dead.push(late),
            _ => live.push(late),
        }
    }
    let (live, dead) = (Lateness::of(live), Lateness::of(dead));
    live.print("on shards of live replicas");
    dead.print("on shards of the replica that was killed");
    assert!(live.percentile(99) <= bounds.live, "too late on live replicas' shards");
    assert!(dead.percentile(99) <= bounds.dead, "too late on the dead replica's shards");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_games_end_by_timeout_once_each() {
    // Five times what is promised: other tests run beside this one.
    measure(Bounds { live: 5_000, dead: 10_000 }).await;
}

/// What is promised, on a machine with nothing else to do:
/// `cargo test --release --test timeouts -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement: cargo test --release --test timeouts -- --ignored --nocapture"]
async fn how_late_a_thousand_games_end() {
    measure(Bounds { live: 1_000, dead: 2_000 }).await;
}
