//! Every stream ends at some age, with a place to go on after and leave to come back.

use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_game_response::Message;
use banqi::api::{StreamAge, WatchPace};
use banqi::server::Config;
use tokio::time::{Instant, timeout};
use tonic::{Code, Status, Streaming};

use crate::support::{PATIENCE, refusal};
use crate::table::Table;
use crate::world::{Backing, World, trusting};

const AGE: Duration = Duration::from_millis(600);

/// A service whose streams become so old at most.
async fn start(age: Duration) -> World {
    let pace = WatchPace {
        stream_age: StreamAge::up_to(age),
        keep_alive: Duration::from_millis(50),
        ..trusting().watching
    };
    World::with(Backing::Memory, 1, Config { watching: pace, ..trusting() }).await
}

/// Reads a stream to its end: what it told, and how it ended.
async fn read<T>(mut stream: Streaming<T>) -> (Vec<T>, Status) {
    let mut told = Vec::new();
    let read = async {
        loop {
            match stream.message().await {
                Ok(Some(message)) => told.push(message),
                Ok(None) => panic!("the stream ends without a word"),
                Err(status) => break status,
            }
        }
    };
    let status = timeout(PATIENCE, read).await.expect("it ends in time");
    (told, status)
}

fn check_end(begun: Instant, status: &Status) {
    let (code, reason, details) = refusal(status);
    assert_eq!((code, reason.as_str()), (Code::Unavailable, "STREAM_EXPIRED"));
    let retry = details.retry_info().expect("a RetryInfo").retry_delay;
    assert_eq!(retry, Some(Duration::ZERO), "at once");
    assert!(begun.elapsed() >= AGE / 2, "it ended at {:?}", begun.elapsed());
}

#[tokio::test]
async fn every_kind_of_stream_ends_at_its_age_and_goes_on_where_it_ended() {
    let world = start(AGE).await;
    let table = Table::create(world.any(), "TAIWANESE").await;

    let begun = Instant::now();
    let (told, status) = read(world.any().watch(&table.id, "").await.expect("a watch")).await;
    check_end(begun, &status);
    let last = told.iter().rev().find_map(|response| match response.message.as_ref()? {
        Message::KeepAlive(alive) => Some(alive.etag.clone()),
        _ => None,
    });
    let last = last.expect("a place to go on after");
    table.play_on(world.any(), 1).await;
    let (told, _) = read(world.any().watch(&table.id, &last).await.expect("a watch")).await;
    let events: Vec<u64> = told
        .iter()
        .filter_map(|response| match response.message.as_ref()? {
            Message::Event(event) => Some(event.game.as_ref()?.revision),
            Message::Snapshot(snapshot) => panic!("a snapshot: {snapshot:?}"),
            Message::KeepAlive(_) | Message::Presence(_) => None,
        })
        .collect();
    assert_eq!(events, [2], "what happened since, and nothing else");

    let begun = Instant::now();
    let request = v1::WatchPlayerRequest { player_id: "anna".to_owned(), ..Default::default() };
    let stream = world.any().games().watch_player(request).await.expect("a stream").into_inner();
    let (told, status) = read(stream).await;
    check_end(begun, &status);
    assert!(!told.last().expect("a keep-alive").cursor.is_empty());

    let begun = Instant::now();
    let request = v1::StreamLifecycleRequest::default();
    let stream = world.any().platform().stream_lifecycle(request).await.expect("a stream");
    let (told, status) = read(stream.into_inner()).await;
    check_end(begun, &status);
    assert!(!told.last().expect("a message").cursor.is_empty(), "{told:?}");
}

#[tokio::test]
async fn without_an_age_a_stream_goes_on() {
    let world = start(Duration::ZERO).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let mut stream = world.any().watch(&table.id, "").await.expect("a watch");
    let begun = Instant::now();
    while begun.elapsed() < 2 * AGE {
        let message = timeout(PATIENCE, stream.message()).await.expect("a message in time");
        message.expect("no error").expect("no end");
    }
}
