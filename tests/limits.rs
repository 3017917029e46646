//! How much a replica takes on, and what it says to those over that.

mod support;

use std::num::NonZeroU32;
use std::time::Duration;

use banqi::api::callers::{CallerLimits, CallerOptions};
use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use banqi::server::{Config, Load};
use support::{PATIENCE, TestServer, refusal};
use tokio::time::{Instant, sleep, timeout};
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("not zero")
}

async fn create(games: &mut GameServiceClient<Channel>) -> Result<String, Status> {
    let request = v1::CreateGameRequest { preset: "TAIWANESE".into(), ..Default::default() };
    Ok(games.create_game(request).await?.into_inner().game.expect("a game").game_id)
}

async fn watch(
    games: &mut GameServiceClient<Channel>,
    id: &str,
) -> Result<Streaming<v1::WatchGameResponse>, Status> {
    let request = v1::WatchGameRequest { game_id: id.to_owned(), ..Default::default() };
    Ok(games.watch_game(request).await?.into_inner())
}

/// Waits until a stream can be watched again: its place is given back a moment after it is dropped.
async fn until_watched(games: &mut GameServiceClient<Channel>, id: &str) {
    let retry = async {
        while watch(games, id).await.is_err() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, retry).await.expect("there is a place again");
}

/// When a refused caller may come back.
fn delay(status: &Status, reason: &str) -> Duration {
    let (code, told, details) = refusal(status);
    assert_eq!((code, told.as_str()), (Code::ResourceExhausted, reason));
    details.retry_info().and_then(|info| info.retry_delay).expect("a delay")
}

#[tokio::test]
async fn a_replica_that_is_full_says_so_and_is_well() {
    let load = Load { streams: count(1), ..Load::default() };
    let server = TestServer::with(Config { load, ..Config::default() }).await;
    let mut games = GameServiceClient::new(server.channel().await);
    let id = create(&mut games).await.expect("a game");
    let stream = watch(&mut games, &id).await.expect("the one place");

    let status = watch(&mut games, &id).await.expect_err("no place");
    assert!(delay(&status, "OVERLOADED") > Duration::ZERO);
    let poll = v1::PollGameRequest { game_id: id.clone(), ..Default::default() };
    let status = games.poll_game(poll).await.expect_err("no place");
    assert!(delay(&status, "OVERLOADED") > Duration::ZERO);
    // Over another connection as well; and calls and health have nothing to do with it.
    let mut others = GameServiceClient::new(server.channel().await);
    watch(&mut others, &id).await.expect_err("no place");
    create(&mut games).await.expect("a game");
    let mut health = HealthClient::new(server.channel().await);
    health.check(HealthCheckRequest::default()).await.expect("a status");

    drop(stream);
    until_watched(&mut games, &id).await;
}

#[tokio::test]
async fn a_caller_has_so_many_streams_and_no_more() {
    let limits = CallerLimits { streams: Some(count(2)), ..CallerLimits::default() };
    let callers = CallerOptions { limits, ..CallerOptions::default() };
    let server = TestServer::with(Config { callers, ..Config::default() }).await;
    let mut games = GameServiceClient::new(server.channel().await);
    let id = create(&mut games).await.expect("a game");
    let _first = watch(&mut games, &id).await.expect("a place");
    let second = watch(&mut games, &id).await.expect("a place");
    let status = watch(&mut games, &id).await.expect_err("two are the most");
    let (code, reason, _) = refusal(&status);
    assert_eq!((code, reason.as_str()), (Code::ResourceExhausted, "TOO_MANY_STREAMS"));
    drop(second);
    until_watched(&mut games, &id).await;
}

#[tokio::test]
async fn a_caller_who_creates_too_fast_is_told_when_to_come_back() {
    let limits = CallerLimits { creations: Some(count(2)), ..CallerLimits::default() };
    let callers = CallerOptions { limits, ..CallerOptions::default() };
    let server = TestServer::with(Config { callers, ..Config::default() }).await;
    let mut games = GameServiceClient::new(server.channel().await);
    let begun = Instant::now();
    let mut created = 0;
    let status = loop {
        match create(&mut games).await {
            Ok(_) => created += 1,
            Err(status) => break status,
        }
    };
    let most = 3.0 + 2.0 * begun.elapsed().as_secs_f64();
    assert!(created >= 2 && f64::from(created) <= most, "{created} in {:?}", begun.elapsed());
    sleep(delay(&status, "RATE_LIMITED")).await;
    create(&mut games).await.expect("after the delay");
}
