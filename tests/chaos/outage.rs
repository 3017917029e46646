//! The store is away for long, and everybody goes on calling: each call is answered in time, the
//! service stays alive, says that it is not ready, does not grow, and goes on by itself when the
//! store is back.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use banqi::api::proto::v1;
use futures_util::future::join_all;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rstest::rstest;
use tokio::join;
use tokio::sync::watch;
use tokio::task::block_in_place;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt as _;

use crate::players::{self, Table};
use crate::replicas::{COUNT, Replicas, in_time};
use crate::support::redis_server::RedisServer;
use crate::support::{exchange, memory, signal};
use crate::watchers::watch_to_the_end;
use crate::{GAMES, RECOVERY, WATCHERS, outcome};

/// How many call at once.
const CALLERS: usize = 48;

/// How long a call may take: the 2 s of the store's limit, and as much as a busy machine adds.
const CALL_LIMIT: Duration = Duration::from_secs(4);

/// Within which time of the store's going a replica is no longer ready: two questions of 2 s with a
/// second between them, less the 3 s that have passed, and as much as a busy machine adds.
const NOTICED: Duration = Duration::from_secs(7);

/// By how much a replica may grow meanwhile, in bytes.
const MOST: u64 = 16 * 1024 * 1024;

/// How the store goes away.
#[derive(Clone, Copy, Debug)]
enum Outage {
    /// The server is killed, and started again with what it has on disk.
    Killed,
    /// The server stands still.
    Frozen,
}

/// What one caller was answered.
#[derive(Debug, Default)]
struct Answers {
    answered: usize,
    unavailable: usize,
    /// How long the longest call took.
    longest: Duration,
}

/// Reads and plays at any replica until it is told to stop.
async fn call(
    replicas: Arc<Replicas>,
    id: String,
    stop: watch::Receiver<bool>,
    mut random: Xoshiro256PlusPlus,
) -> Answers {
    let mut answers = Answers::default();
    let mut known: Option<v1::Game> = None;
    while !*stop.borrow() {
        let mut games = replicas.any(&mut random);
        let begun = Instant::now();
        let known_actions = known.as_ref().filter(|_| random.random_ratio(1, 2));
        let action = known_actions.and_then(|game| game.legal_actions.choose(&mut random));
        let answer = match (action, &known) {
            (Some(action), Some(game)) => {
                let request = v1::PlayActionRequest {
                    game_id: id.clone(),
                    seat: game.position.as_ref().expect("a position").to_move,
                    action: action.text.clone(),
                    ..Default::default()
                };
                in_time(games.play_action(request)).await.map(|answer| answer.into_inner().game)
            }
            _ => {
                let request = v1::GetGameRequest { game_id: id.clone(), ..Default::default() };
                in_time(games.get_game(request)).await.map(|answer| answer.into_inner().game)
            }
        };
        answers.longest = answers.longest.max(begun.elapsed());
        match answer {
            Ok(game) => {
                known = game;
                answers.answered += 1;
            }
            Err(status) if status.code() == Code::Unavailable => {
                let details = status.get_error_details();
                let reason = details.error_info().map(|info| info.reason.as_str());
                assert_eq!(reason, Some("STORE_UNAVAILABLE"), "{status:?}");
                answers.unavailable += 1;
            }
            // Others were faster.
            Err(status) => {
                let refused = matches!(status.code(), Code::FailedPrecondition | Code::Aborted);
                assert!(refused, "{status:?}");
                known = None;
            }
        }
        sleep(Duration::from_millis(random.random_range(10..50))).await;
    }
    answers
}

/// Whether a replica says yes, over HTTP.
async fn says(probes: SocketAddr, path: &str) -> bool {
    let request = format!("GET {path} HTTP/1.1\r\nhost: probes\r\nconnection: close\r\n\r\n");
    exchange(probes, request.as_bytes()).await.starts_with("HTTP/1.1 200 ")
}

/// Whether the services that need the store, and the one that needs none, are served, as gRPC tells.
async fn health(replicas: &Replicas, replica: usize) -> [bool; 3] {
    let ask = |service: &'static str| {
        let mut client = HealthClient::new(replicas.channel(replica));
        let request = HealthCheckRequest { service: service.to_owned() };
        async move {
            let answer = client.check(request).await.expect("a status").into_inner();
            answer.status() == ServingStatus::Serving
        }
    };
    join!(
        ask("banqi.v1.GameService"),
        ask("banqi.v1.PlatformService"),
        ask("banqi.v1.RulesService")
    )
    .into()
}

/// Waits until all replicas are ready, or none is.
async fn until_ready(replicas: &Replicas, ready: bool) {
    for replica in 0..COUNT {
        while says(replicas.probes(replica), "/readyz").await != ready
            || health(replicas, replica).await != [ready, ready, true]
        {
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Waits until a replica shows a game.
async fn until_shown(replicas: &Replicas, replica: usize, table: &Table) {
    let request = v1::GetGameRequest { game_id: table.id.clone(), ..Default::default() };
    while in_time(replicas.games(replica).get_game(request.clone())).await.is_err() {
        sleep(Duration::from_millis(20)).await;
    }
}

async fn survive(outage: Outage, away: Duration) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut fork = || Xoshiro256PlusPlus::seed_from_u64(random.random());
    let mut server = RedisServer::start_durable();
    let replicas = Replicas::start(&server.url(), 4).await;
    let mut calm = fork();
    let mut tables = Vec::new();
    for _ in 0..GAMES {
        tables.push(players::create(&replicas, &mut calm).await);
    }
    let (tell_logs, logs) = watch::channel(None);
    let watching = (0..WATCHERS).map(|number| {
        let id = tables[number % GAMES].id.clone();
        tokio::spawn(watch_to_the_end(Arc::clone(&replicas), id, logs.clone(), fork()))
    });
    let watching: Vec<_> = watching.map(AbortOnDropHandle::new).collect();
    let (stop, is_stopped) = watch::channel(false);
    let calling = (0..CALLERS).map(|number| {
        let id = tables[number % GAMES].id.clone();
        tokio::spawn(call(Arc::clone(&replicas), id, is_stopped.clone(), fork()))
    });
    let calling: Vec<_> = calling.map(AbortOnDropHandle::new).collect();
    sleep(Duration::from_secs(1)).await;

    match outage {
        Outage::Killed => server.kill(),
        Outage::Frozen => signal(server.id(), "STOP"),
    }
    // What is grown by the load itself, and by the first failures, is no growth of the outage.
    sleep(Duration::from_secs(3)).await;
    let size = |replica| memory(replicas.process(replica));
    let before: [u64; COUNT] = std::array::from_fn(size);
    let gone = Instant::now();
    timeout(NOTICED, until_ready(&replicas, false)).await.expect("readiness goes off");
    while gone.elapsed() < away {
        for replica in 0..COUNT {
            let probes = replicas.probes(replica);
            assert!(says(probes, "/livez").await, "{outage:?}");
            assert!(!says(probes, "/readyz").await, "{outage:?}");
        }
        sleep(Duration::from_millis(500)).await;
    }
    let after: [u64; COUNT] = std::array::from_fn(size);

    match outage {
        Outage::Killed => block_in_place(|| server.restart()),
        Outage::Frozen => signal(server.id(), "CONT"),
    }
    let back = Instant::now();
    let all = (0..COUNT).flat_map(|replica| tables.iter().map(move |table| (replica, table)));
    let shown = join_all(all.map(|(replica, table)| until_shown(&replicas, replica, table)));
    timeout(RECOVERY, shown).await.expect("all games are shown in time");
    stop.send_replace(true);
    let answers: Vec<Answers> =
        join_all(calling).await.into_iter().map(|caller| caller.expect("a caller holds")).collect();
    let ending = join_all(tables.iter().map(|table| {
        let (replicas, mut random) = (&replicas, fork());
        async move { players::end(replicas, &table.id, &mut random).await }
    }));
    let left = RECOVERY.saturating_sub(back.elapsed());
    timeout(left, ending).await.expect("all games go on in time");
    let left = RECOVERY.saturating_sub(back.elapsed());
    timeout(left, until_ready(&replicas, true)).await.expect("all are ready in time");
    let recovered = back.elapsed();

    let mut finals = std::collections::BTreeMap::new();
    for table in &tables {
        finals.insert(table.id.clone(), outcome::final_log(&replicas, table).await);
    }
    tell_logs.send_replace(Some(Arc::new(finals)));
    for watcher in join_all(watching).await {
        let lost = watcher.expect("a watcher holds");
        assert!(lost.is_empty(), "nothing may be lost here: {lost:?}");
    }
    let answered: usize = answers.iter().map(|it| it.answered).sum();
    let unavailable: usize = answers.iter().map(|it| it.unavailable).sum();
    let longest = answers.iter().map(|it| it.longest).max().expect("callers");
    println!(
        "{outage:?} for {away:?}: {answered} calls answered, {unavailable} UNAVAILABLE, the longest \
         after {longest:?}; {before:?} bytes before and {after:?} after; all went on {recovered:?} \
         after the store was back"
    );
    assert!(longest < CALL_LIMIT, "a call took {longest:?}");
    assert!(answered > CALLERS && unavailable > CALLERS, "there was load");
    for (before, after) in before.into_iter().zip(after) {
        assert!(after.saturating_sub(before) < MOST, "{before} bytes became {after}");
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_away_costs_calls_and_nothing_else(
    #[values(Outage::Killed, Outage::Frozen)] outage: Outage,
) {
    survive(outage, Duration::from_secs(7)).await;
}

#[rstest]
#[ignore = "takes two minutes: cargo test --test chaos two_minutes -- --ignored --nocapture"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_minutes_without_a_store_cost_calls_and_nothing_else(
    #[values(Outage::Killed, Outage::Frozen)] outage: Outage,
) {
    survive(outage, Duration::from_mins(2)).await;
}
