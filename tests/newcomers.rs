//! Who has just taken a seat watches from it at once, also where the replica has not heard of that yet.

// It is made for other tests as well.
#[allow(dead_code)]
#[path = "hosting/meddling.rs"]
mod meddling;
mod support;

use std::sync::Arc;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use banqi::api::proto::v1::watch_game_response::Message;
use banqi::server::Config;
use banqi::store::Options;
use meddling::{Meddling, Trouble};
use support::{PATIENCE, TestServer};
use tokio::time::timeout;
use tonic::Streaming;
use tonic::transport::Channel;

async fn games(server: &TestServer) -> GameServiceClient<Channel> {
    GameServiceClient::new(server.channel().await)
}

async fn next(watch: &mut Streaming<v1::WatchGameResponse>) -> Message {
    let message = timeout(PATIENCE, watch.message()).await.expect("a message in time");
    message.expect("no error").expect("no end").message.expect("a message says something")
}

#[tokio::test]
async fn a_seat_that_was_just_taken_is_watched_from_over_a_replica_that_has_not_heard_of_it() {
    let store = banqi::store::open("memory:", Options::default()).await.expect("a store");
    let here = TestServer::on(Arc::clone(&store), Config::default()).await;
    let meddling = Meddling::with(store);
    meddling.make(Trouble::Deaf);
    let mut config = Config::default();
    // Nothing is found by comparing, either.
    config.watching.recheck = Duration::from_secs(600);
    let afar = TestServer::on(meddling, config).await;

    let created = games(&here).await.create_game(v1::CreateGameRequest::default()).await;
    let game_id = created.expect("a game").into_inner().game.expect("it").game_id;
    let request = v1::WatchGameRequest { game_id: game_id.clone(), ..Default::default() };
    let spectator = games(&afar).await.watch_game(request.clone()).await;
    let mut spectator = spectator.expect("a watch").into_inner();
    assert!(matches!(next(&mut spectator).await, Message::Snapshot(_)));

    let join = v1::JoinGameRequest { game_id, ..Default::default() };
    let joined = games(&here).await.join_game(join).await.expect("a seat").into_inner();
    let request = v1::WatchGameRequest { seat_token: joined.seat_token, ..request };
    let player = games(&afar).await.watch_game(request).await;
    let mut player = player.expect("a watch").into_inner();
    let Message::Snapshot(first) = next(&mut player).await else { panic!("a snapshot") };
    assert_eq!(first.game.expect("it").revision, 2);
    let Message::Presence(presence) = next(&mut player).await else { panic!("who is present") };
    assert!(presence.seats[0].present);
}
