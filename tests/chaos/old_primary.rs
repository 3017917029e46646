//! A replica of the service still asks a primary that was replaced, while another one asks the new
//! one: nobody is told that anything was lost.

use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_game_response::Message;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;

use crate::deployment::{ask, start_replica, until_says};
use crate::players::{self, Played};
use crate::replicas::{COUNT, Replicas, in_time};
use crate::support::redis_server::RedisServer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_has_seen_more_at_another_replica_is_not_told_of_a_loss() {
    let seed: u64 = rand::random();
    println!("seed {seed}");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let old = RedisServer::start();
    let new = start_replica(&old, &[]);
    until_says(&new, &["INFO", "replication"], "master_link_status:up").await;
    let monitor = |server: &RedisServer| format!("games 127.0.0.1 {} 1", server.port());
    let sentinel =
        RedisServer::start_sentinel(format!("sentinel monitor {}\n", monitor(&old)), &[]);
    let store = format!("--store=redis+sentinel://127.0.0.1:{}/games", sentinel.port());
    let replicas = Replicas::start_with([(); COUNT].map(|()| vec![store.clone()])).await;
    let table = players::create(&replicas, &mut random).await;
    let replicated: u64 = ask(&old, &["WAIT", "1", "5000"]).await;
    assert_eq!(replicated, 1);

    // As after a failover of which the old primary, cut off from the sentinels, knows nothing.
    replicas.kill(1);
    ask::<()>(&sentinel, &["SENTINEL", "REMOVE", "games"]).await;
    ask::<()>(&new, &["REPLICAOF", "NO", "ONE"]).await;
    let command = format!("SENTINEL MONITOR {}", monitor(&new));
    ask::<()>(&sentinel, &command.split(' ').collect::<Vec<_>>()).await;
    // One that starts asks the new one. The others still ask the old one, for up to two seconds.
    replicas.restart(1).await;
    let request = v1::GetGameRequest { game_id: table.id.clone(), view: v1::GameView::Full.into() };
    let answer = in_time(replicas.games(1).get_game(request)).await.expect("the game");
    let before = answer.into_inner().game.expect("a game");
    let request = v1::PlayActionRequest {
        game_id: table.id.clone(),
        seat: before.position.as_ref().expect("a position").to_move,
        action: before.legal_actions[0].text.clone(),
        ..Default::default()
    };
    let answer = in_time(replicas.games(1).play_action(request)).await.expect("played");
    let seen = answer.into_inner().game.expect("a game");

    let request = v1::WatchGameRequest {
        game_id: table.id.clone(),
        after_etag: seen.etag.clone(),
        ..Default::default()
    };
    let mut stream =
        in_time(replicas.games(0).watch_game(request)).await.expect("a stream").into_inner();
    let first = in_time(stream.message()).await.expect("a message").expect("one");
    let told = first.message.expect("it says something");
    assert!(!matches!(told, Message::Snapshot(_)), "told of a loss: {told:?}");
    // The one that has not been asked to be sure yet is the last one that may err.
    let mut played = Played::default();
    let game = v1::Game { etag: seen.etag.clone(), ..seen };
    let request = v1::PlayActionRequest {
        game_id: table.id.clone(),
        seat: game.position.as_ref().expect("a position").to_move,
        action: game.legal_actions[0].text.clone(),
        etag: game.etag.clone(),
        ..Default::default()
    };
    let answer = in_time(replicas.games(2).play_action(request)).await.expect("no loss");
    assert_eq!(answer.into_inner().game.expect("a game").revision, game.revision + 1);
    let game = players::get(&replicas, &table.id, &mut random).await;
    players::act(&replicas, &game, &mut played, &mut random).await.expect("it goes on");
}
