//! One node of a cluster is away, and nobody takes over: the games on all others go on.

use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::stream_lifecycle_response::Message as Told;
use banqi::api::proto::v1::watch_game_response::Message;
use banqi::game::GameId;
use banqi::store::{Shard, ShardCount};
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use rstest::rstest;
use tokio::task::block_in_place;
use tokio::time::{Instant, sleep, timeout};
use tonic::{Code, Streaming};

use crate::SHARDS;
use crate::deployment::{Cluster, ask, restrict, until_says};
use crate::players::{self, Played};
use crate::replicas::{COUNT, Replicas, in_time};
use crate::support::signal;

/// How long a call may take: the 2 s of the store's limit, and as much as a busy machine adds.
const CALL_LIMIT: Duration = Duration::from_secs(4);

/// Within which time a game must have ended whose players have so much time, after the node went away.
const PLAYERS_TIME: i64 = 5;
const END_LIMIT: Duration = Duration::from_secs(12);

/// Watched games are compared with the store every 10 seconds.
const RECHECK_LIMIT: Duration = Duration::from_secs(20);

/// How a node goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Away {
    Killed,
    Frozen,
}

fn shard_of(id: &str) -> Shard {
    let id: GameId = id.parse().expect("an id");
    shards().shard_of(&id)
}

fn shards() -> ShardCount {
    ShardCount::new(SHARDS as u16).expect("a number of shards")
}

/// Creates games until one is in a shard of these.
async fn create(replicas: &Replicas, wanted: &[Shard], seconds: Option<i64>) -> v1::Game {
    let control = seconds.map(|seconds| v1::TimeControl {
        clock: Some(v1::time_control::Clock::SuddenDeath(v1::time_control::SuddenDeath {
            main_time: Some(prost_types::Duration { seconds, nanos: 0 }),
        })),
        ..Default::default()
    });
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let seat = v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..Default::default() };
        let request = v1::CreateGameRequest {
            seats: vec![seat; 2],
            time_control: control,
            ..Default::default()
        };
        // Those in shards that are away cannot be created.
        if let Ok(answer) = in_time(replicas.games(0).create_game(request)).await {
            let game = answer.into_inner().game.expect("a game");
            if wanted.contains(&shard_of(&game.game_id)) {
                return game;
            }
        }
        assert!(Instant::now() < deadline, "no game in {wanted:?}");
    }
}

async fn watch(replicas: &Replicas, id: &str) -> Streaming<v1::WatchGameResponse> {
    let request = v1::WatchGameRequest { game_id: id.to_owned(), ..Default::default() };
    let stream = in_time(replicas.games(0).watch_game(request)).await.expect("a stream");
    let mut stream = stream.into_inner();
    let first = in_time(stream.message()).await.expect("a message").expect("one");
    assert!(matches!(first.message, Some(Message::Snapshot(_))), "{first:?}");
    stream
}

/// Waits until a watcher is told of an event of which this holds.
async fn until_told(
    stream: &mut Streaming<v1::WatchGameResponse>,
    limit: Duration,
    holds: impl Fn(&v1::Game) -> bool,
) {
    let told = async {
        loop {
            let message = stream.message().await.expect("a message").expect("one more");
            if let Some(Message::Event(event)) = message.message
                && holds(event.game.as_ref().expect("a game"))
            {
                return;
            }
        }
    };
    timeout(limit, told).await.expect("it is told in time");
}

async fn lives(
    replicas: &Replicas,
    shard: Option<Shard>,
) -> Result<Streaming<v1::StreamLifecycleResponse>, tonic::Status> {
    let shard = shard.map(|shard| u32::from(shard.number()));
    let request = v1::StreamLifecycleRequest { shard, ..Default::default() };
    Ok(replicas.platform(1).stream_lifecycle(request).await?.into_inner())
}

/// Waits until a reader is told that a game has ended.
async fn until_ended(mut stream: Streaming<v1::StreamLifecycleResponse>, id: &str) {
    let told = async {
        loop {
            let message = stream.message().await.expect("a message").expect("one more");
            if let Some(Told::Event(event)) = message.message
                && event.game_id == id
                && event.kind() == v1::LifecycleKind::Ended
            {
                return;
            }
        }
    };
    timeout(END_LIMIT, told).await.expect("it is told in time");
}

/// Makes sure that a call is answered in time that the store is away.
async fn is_unavailable<T>(call: impl Future<Output = Result<T, tonic::Status>>) {
    let status = timeout(CALL_LIMIT, call).await.expect("an answer in time");
    assert_eq!(status.map(|_| ()).expect_err("it is away").code(), Code::Unavailable);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_of_other_nodes_go_on_while_one_is_away(
    #[values(Away::Killed, Away::Frozen)] away: Away,
) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut cluster = Cluster::start().await;
    for node in &cluster.nodes {
        ask::<()>(node, &["CONFIG", "SET", "cluster-require-full-coverage", "no"]).await;
    }
    let options = vec![format!("--store={}", cluster.url()), "--namespace=t".into()];
    let replicas = Replicas::start_with([(); COUNT].map(|()| options.clone())).await;
    let (mut there, mut not_there) = (Vec::new(), Vec::new());
    let mut lost_port = None;
    for shard in shards().iter() {
        let port = cluster.holder(&format!("t:banqi:{{{shard}}}:clock")).await.port();
        let of_lost = *lost_port.get_or_insert(port) == port;
        if of_lost { &mut not_there } else { &mut there }.push(shard);
    }
    assert!(!there.is_empty() && !not_there.is_empty());
    let lost = cluster.nodes.iter().position(|node| Some(node.port()) == lost_port);
    let lost = lost.expect("one of them");
    assert!(lost < 3, "a primary as the cluster began");

    let dead = create(&replicas, &not_there, None).await;
    let live = create(&replicas, &there, None).await;
    let vanishing = create(&replicas, &there, None).await;
    let timed = create(&replicas, &there, Some(PLAYERS_TIME)).await;
    let mut on_live = watch(&replicas, &live.game_id).await;
    let mut on_vanishing = watch(&replicas, &vanishing.game_id).await;
    let mut on_timed = watch(&replicas, &timed.game_id).await;
    let of_all = lives(&replicas, None).await.expect("a stream");
    let of_one = lives(&replicas, Some(shard_of(&timed.game_id))).await.expect("a stream");
    for place in [lost, lost + 3] {
        match away {
            Away::Killed => cluster.nodes[place].kill(),
            Away::Frozen => signal(cluster.nodes[place].id(), "STOP"),
        }
    }

    // Played, and watched by an event.
    let mut played = Played::default();
    let current = get(&replicas, &live.game_id).await.expect("it is there");
    let next = players::act(&replicas, &current, &mut played, &mut random).await;
    let next = next.expect("nobody else plays");
    until_told(&mut on_live, CALL_LIMIT, |game| game.etag == next.etag).await;
    // What is on the dead node is away, and nothing waits for long.
    is_unavailable(get(&replicas, &dead.game_id)).await;
    is_unavailable(async {
        let mut stream = lives(&replicas, Some(shard_of(&dead.game_id))).await?;
        stream.message().await
    })
    .await;
    is_unavailable(async {
        let request = v1::ListGamesRequest::default();
        in_time(replicas.games(0).list_games(request)).await
    })
    .await;
    // A deadline runs out, and both readers are told.
    until_told(&mut on_timed, END_LIMIT, |game| game.state() == v1::GameState::Finished).await;
    until_ended(of_one, &timed.game_id).await;
    until_ended(of_all, &timed.game_id).await;
    // Changed without a hint: found by the comparison.
    let key = format!("t:banqi:{{{}}}:game:{}", shard_of(&vanishing.game_id), vanishing.game_id);
    let deleted: u64 = ask(cluster.holder(&key).await, &["DEL", &key]).await;
    assert_eq!(deleted, 1);
    let ended = async {
        loop {
            if let Err(status) = on_vanishing.message().await {
                return status;
            }
        }
    };
    let status = timeout(RECHECK_LIMIT, ended).await.expect("it is compared in time");
    assert_eq!(status.code(), Code::NotFound, "{status:?}");

    for place in [lost, lost + 3] {
        match away {
            Away::Killed => {
                block_in_place(|| cluster.nodes[place].restart());
                restrict(&cluster.nodes[place]).await;
            }
            Away::Frozen => signal(cluster.nodes[place].id(), "CONT"),
        }
    }
    let back = Instant::now() + Duration::from_secs(30);
    if away == Away::Frozen {
        // Killed ones kept nothing on disk.
        loop {
            match get(&replicas, &dead.game_id).await {
                Ok(game) => break assert_eq!(game.etag, dead.etag),
                Err(status) => assert_eq!(status.code(), Code::Unavailable, "{status:?}"),
            }
            assert!(Instant::now() < back, "it is away for ever");
            sleep(Duration::from_millis(100)).await;
        }
    }
    until_says(&cluster.nodes[lost], &["CLUSTER", "INFO"], "cluster_state:ok").await;
    let created = create(&replicas, &not_there, None).await;
    let current = get(&replicas, &created.game_id).await.expect("it is there");
    players::act(&replicas, &current, &mut played, &mut random).await.expect("it goes on");
    let request = v1::ListGamesRequest::default();
    in_time(replicas.games(0).list_games(request)).await.expect("all shards answer");
}

async fn get(replicas: &Replicas, id: &str) -> Result<v1::Game, tonic::Status> {
    let request = v1::GetGameRequest { game_id: id.to_owned(), ..Default::default() };
    let answer = replicas.games(2).get_game(request).await?;
    Ok(answer.into_inner().game.expect("a game"))
}
