//! What a running service logs: a line of JSON an event, which names the game and the request.

mod support;

use std::fs::File;
use std::os::fd::OwnedFd;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use rstest::rstest;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use support::redis_server::RedisServer;
use support::replica::Replica;
use support::{refusal, signal};
use tempfile::NamedTempFile;
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

type Client = GameServiceClient<Channel>;

/// Two seats of one who holds both tokens.
async fn create(client: &mut Client) -> (String, Vec<String>) {
    let seat = v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..Default::default() };
    let request = v1::CreateGameRequest {
        preset: "TAIWANESE".to_owned(),
        seats: vec![seat.clone(), seat],
        ..Default::default()
    };
    let created = client.create_game(request).await.expect("created").into_inner();
    let tokens = created.seat_tokens.into_iter().map(|token| token.token).collect();
    (created.game.expect("a game").game_id, tokens)
}

async fn flip(client: &mut Client, game: &str, token: &str, request_id: &str) -> Status {
    let request = v1::PlayActionRequest {
        game_id: game.to_owned(),
        seat_token: token.to_owned(),
        request_id: request_id.to_owned(),
        action: "a1".to_owned(),
        ..Default::default()
    };
    client.play_action(request).await.expect_err("it cannot be done")
}

#[tokio::test]
async fn a_failed_call_is_found_by_its_game_and_by_its_request() {
    let redis = RedisServer::start();
    let file = NamedTempFile::new().expect("a file");
    let log = file.reopen().expect("a second handle");
    let mut replica = Replica::start_logging(log, &[], &["--store", &redis.url(), "--log=info"]);
    let endpoint = Endpoint::from_shared(format!("http://{}", replica.address())).expect("a URI");
    let mut client = GameServiceClient::new(endpoint.connect().await.expect("a connection"));
    let (frozen, tokens) = create(&mut client).await;
    let (broken, broken_tokens) = create(&mut client).await;

    let key: Vec<String> = {
        let mut redis = redis.connection().await;
        let mut keys = redis::cmd("KEYS");
        keys.arg(format!("*:game:{broken}")).query_async(&mut redis).await.expect("an answer")
    };
    let mut set = redis::cmd("SET");
    set.arg(&key[0]).arg("no record").arg("KEEPTTL");
    set.exec_async(&mut redis.connection().await).await.expect("an answer");
    let request = v1::GetGameRequest { game_id: broken.clone(), ..Default::default() };
    let status = client.get_game(request).await.expect_err("broken");
    assert_eq!(status.code(), Code::DataLoss, "{status:?}");

    signal(redis.id(), "STOP");
    let status = flip(&mut client, &frozen, &tokens[0], "my-request").await;
    signal(redis.id(), "CONT");
    assert_eq!(refusal(&status).1, "STORE_UNAVAILABLE");

    // What waits to be written is written before it ends.
    assert!(replica.stop().success());
    let text = std::fs::read_to_string(file.path()).expect("the log");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    for line in &lines {
        for field in ["timestamp", "level", "message", "target"] {
            assert!(line[field].is_string(), "no {field} in {line}");
        }
    }
    let about = |message: &str, game: &str| {
        let line = lines.iter().find(|line| line["message"] == message && line["game"] == game);
        line.unwrap_or_else(|| panic!("no line `{message}` about {game}:\n{text}"))
    };
    let failed = about("the store failed", &broken);
    assert_eq!(failed["level"], "ERROR", "{failed}");
    about("the store is unavailable", &frozen);
    let undone = about("a write was not done", &frozen);
    assert_eq!(undone["reason"], "STORE_UNAVAILABLE", "{undone}");
    let hash: String =
        Sha256::digest("my-request")[..8].iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(undone["request"], Value::String(hash), "{undone}");
    // Whoever reads the log can neither repeat the request nor act for a seat.
    for secret in tokens.iter().chain(&broken_tokens).map(String::as_str).chain(["my-request"]) {
        assert!(!text.contains(secret), "{secret} is in the log:\n{text}");
    }
}

/// What may become of a log.
#[derive(Clone, Copy, Debug)]
enum Log {
    /// Its reader has stopped reading.
    Stalled,
    /// Its reader has gone.
    Gone,
    /// The disk is full.
    Full,
}

#[rstest]
#[tokio::test]
async fn a_log_that_cannot_be_written_holds_up_nobody(
    #[values(Log::Stalled, Log::Gone, Log::Full)] log: Log,
) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let (file, reader) = match log {
        Log::Stalled => (OwnedFd::from(writer).into(), Some(reader)),
        Log::Gone => (OwnedFd::from(writer).into(), None),
        Log::Full => (File::options().write(true).open("/dev/full").expect("it is there"), None),
    };
    let mut replica = Replica::start_logging(file, &[], &["--log=trace"]);
    let endpoint = Endpoint::from_shared(format!("http://{}", replica.address())).expect("a URI");
    let mut client = GameServiceClient::new(endpoint.connect().await.expect("a connection"));
    // A call logs much more than a hundredth of what a pipe holds.
    let calls = async {
        let (game, _) = create(&mut client).await;
        for _ in 0..300 {
            let request = v1::GetGameRequest { game_id: game.clone(), ..Default::default() };
            client.get_game(request).await.expect("a game");
        }
    };
    timeout(Duration::from_secs(60), calls).await.expect("all are answered in time");
    assert!(replica.stop().success());
    drop(reader);
}
