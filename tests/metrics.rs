//! What is told of a running replica, as Prometheus reads it.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use banqi::api::callers::CallerOptions;
use banqi::api::error::Reason;
use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use banqi::server::Config;
use support::{PATIENCE, TestServer, exchange};
use tokio::time::{sleep, timeout};

/// Every sample by its name and labels.
async fn read(server: &TestServer) -> BTreeMap<String, f64> {
    let request = b"GET /metrics HTTP/1.1\r\nhost: probes\r\nconnection: close\r\n\r\n";
    let answer = exchange(server.http, request).await;
    let (head, text) = answer.split_once("\r\n\r\n").expect("a body");
    assert!(head.contains("content-type: application/openmetrics-text"), "{head}");
    assert!(text.ends_with("# EOF\n"), "{text}");
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').expect("a value");
            (name.to_owned(), value.parse().expect("a number"))
        })
        .collect()
}

fn seat() -> v1::NewSeat {
    v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..Default::default() }
}

const GAMES: &str = r#"grpc_service="banqi.v1.GameService""#;

#[tokio::test]
async fn calls_games_and_the_store_are_counted() {
    let callers = CallerOptions { dev_platform: true, ..CallerOptions::default() };
    let server = TestServer::with(Config { callers, ..Config::default() }).await;
    let mut games = GameServiceClient::new(server.channel().await);
    let create = v1::CreateGameRequest {
        preset: "TAIWANESE".into(),
        seats: vec![seat(), seat()],
        ..Default::default()
    };
    let game = games.create_game(create).await.expect("a game").into_inner().game;
    let game_id = game.expect("a game").game_id;
    let watch = v1::WatchGameRequest { game_id: game_id.clone(), ..Default::default() };
    let mut watch = games.watch_game(watch).await.expect("a watch").into_inner();
    watch.message().await.expect("a message").expect("a snapshot");
    let act = |seat| v1::PlayActionRequest {
        game_id: game_id.clone(),
        seat,
        action: "a1".into(),
        ..Default::default()
    };
    games.play_action(act(2)).await.expect_err("not its turn");
    games.play_action(act(1)).await.expect("played");
    watch.message().await.expect("a message").expect("an event");
    let resign = v1::ResignGameRequest { game_id: game_id.clone(), seat: 1, ..Default::default() };
    games.resign_game(resign).await.expect("resigned");

    let told = read(&server).await;
    let expect =
        |name: &str, value: f64| assert_eq!(told.get(name), Some(&value), "{name}: {told:#?}");
    let method = |method: &str| format!(r#"{GAMES},grpc_method="{method}""#);
    let handled = |name, code: &str| {
        format!(r#"grpc_server_handled_total{{{},grpc_code="{code}"}}"#, method(name))
    };
    expect(&format!("grpc_server_started_total{{{}}}", method("PlayAction")), 2.0);
    expect(&handled("PlayAction", "OK"), 1.0);
    expect(&handled("PlayAction", "FAILED_PRECONDITION"), 1.0);
    expect(&format!("grpc_server_handling_seconds_count{{{}}}", method("PlayAction")), 2.0);
    expect(&format!("grpc_server_started_total{{{}}}", method("WatchGame")), 1.0);
    expect(&handled("WatchGame", "OK"), 0.0);
    expect(r#"banqi_refused_calls_total{reason="NOT_YOUR_TURN"}"#, 1.0);
    for milestone in ["created", "started", "ended"] {
        expect(&format!(r#"banqi_games_total{{milestone="{milestone}"}}"#), 1.0);
    }
    expect("banqi_watchers", 1.0);
    expect(r#"banqi_places_taken{kind="stream"}"#, 1.0);
    expect(r#"banqi_places_taken{kind="call"}"#, 0.0);
    expect(r#"banqi_places{kind="call"}"#, 4096.0);
    expect("banqi_ready", 1.0);
    expect(&format!(r#"banqi_build_info{{version="{}"}}"#, env!("CARGO_PKG_VERSION")), 1.0);
    expect(r#"banqi_store_call_seconds_count{operation="commit"}"#, 3.0);
    assert!(told["banqi_event_lag_seconds_count"] >= 1.0, "{told:#?}");
    #[cfg(target_os = "linux")]
    {
        // Counted in steps of a hundredth of a second, of which so short a run may not have one.
        assert!(told.contains_key("process_cpu_seconds_total"), "{told:#?}");
        for name in ["process_resident_memory_bytes", "process_open_fds"] {
            assert!(told[name] > 0.0, "{name}: {told:#?}");
        }
    }

    // A watch that nobody reads any more was cancelled.
    drop(watch);
    let cancelled = handled("WatchGame", "CANCELLED");
    let gone = async {
        loop {
            let told = read(&server).await;
            if told.get(&cancelled) == Some(&1.0) && told["banqi_watchers"] == 0.0 {
                break;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, gone).await.expect("it is counted as cancelled");
}

/// A scrape of what nobody has done anything with. A counter that is first seen at 1 has not
/// increased for Prometheus, so those that alerts look at are there before.
#[tokio::test]
async fn what_alerts_look_at_is_told_from_the_start() {
    let server = TestServer::start().await;
    let told = read(&server).await;
    let mut expected = Vec::new();
    for method in ["CreateGame", "WatchPlayer", "ExportGame"] {
        for code in ["OK", "UNKNOWN", "INTERNAL", "DATA_LOSS"] {
            let labels = format!(r#"{GAMES},grpc_method="{method}",grpc_code="{code}""#);
            expected.push(format!("grpc_server_handled_total{{{labels}}}"));
        }
    }
    for reason in Reason::ALL {
        expected.push(format!(r#"banqi_refused_calls_total{{reason="{reason}"}}"#));
    }
    for error in ["unavailable", "corrupt", "unintelligible", "misconfigured"] {
        let labels = format!(r#"operation="commit",error="{error}""#);
        expected.push(format!("banqi_store_call_failures_total{{{labels}}}"));
    }
    for result in ["hit", "caught_up", "replayed"] {
        expected.push(format!(r#"banqi_game_readings_total{{result="{result}"}}"#));
    }
    for milestone in ["created", "started", "ended"] {
        expected.push(format!(r#"banqi_games_total{{milestone="{milestone}"}}"#));
    }
    expected.push("banqi_losses_told_total".to_owned());
    for name in expected {
        assert_eq!(told.get(&name), Some(&0.0), "{name}: {told:#?}");
    }
}
