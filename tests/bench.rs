//! `banqi bench`: its figures make sense, and what goes wrong is told.

mod support;

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use serde_json::Value;
use support::replica::Replica;
use support::{PATIENCE, signal};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

fn bench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
    command.arg("bench").args(arguments).env_remove("BANQI_API_KEY");
    command
}

fn output(arguments: &[&str]) -> Output {
    bench(arguments).output().expect("the command runs")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The document that a run tells on standard output.
fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// The document of a run in which nothing went wrong.
fn report(arguments: &[&str]) -> Value {
    let output = output(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", told(&output));
    assert_eq!(told(&output), "", "nothing but the report where there is no terminal");
    document(&output)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Checks that percentiles are there and in order.
fn assert_ordered(percentiles: &Value) {
    let figures = ["p50", "p90", "p99", "p99_9", "max"].map(|name| number(&percentiles[name]));
    assert!(figures.is_sorted(), "{percentiles}");
    assert!(figures[4] > 0.0, "{percentiles}");
}

/// Checks what every load should come to that went well.
fn assert_sane(report: &Value) {
    assert_eq!(report["failed"], 0, "{report}");
    let mut calls = 0;
    for method in ["PlayAction", "GetGame"] {
        let method = &report["methods"][method];
        assert!(method["calls"].as_u64() > Some(0), "{report}");
        assert!(number(&method["answer_bytes"]) > 100.0, "{report}");
        assert_ordered(&method["latency_ms"]);
        calls += method["calls"].as_u64().expect("a number");
    }
    calls += report["methods"]["CreateGame"]["calls"].as_u64().unwrap_or(0);
    assert_eq!(report["calls"], calls, "{report}");
    assert!(number(&report["service"]["cpu_us_per_call"]) > 1.0, "{report}");
    assert!(number(&report["service"]["resident_bytes"]) > 1e6, "{report}");
}

#[test]
fn a_service_in_memory_is_started_played_and_watched() {
    let report = report(&[
        "load",
        "--store=memory:",
        "--warm-up=0.5",
        "--duration=1",
        "--in-flight=8",
        "--watchers=16",
        "--seed=7",
    ]);
    assert_sane(&report);
    assert_eq!(report["seed"], 7);
    assert_eq!(report["store"]["processes"], 0);
    let watch = &report["watch"];
    assert!(watch["events"].as_u64() > Some(0), "{report}");
    assert_eq!(watch["undelivered"], 0, "{report}");
    assert_ordered(&watch["after_call_ms"]);
}

#[test]
fn replicas_on_a_redis_of_their_own_are_played_by_turns() {
    let report = report(&[
        "load",
        "--replicas=2",
        "--routing=round-robin",
        "--warm-up=0.5",
        "--duration=1",
        "--in-flight=8",
        "--mix=play=50,read=50",
    ]);
    assert_sane(&report);
    assert_eq!(report["service"]["processes"], 2);
    assert_eq!(report["store"]["processes"], 1);
    assert!(number(&report["store"]["cpu_us_per_call"]) > 1.0, "{report}");
}

#[test]
fn a_fixed_rate_is_kept() {
    let report =
        report(&["load", "--store=memory:", "--warm-up=0.5", "--duration=2", "--rate=100"]);
    assert_sane(&report);
    // Nothing that was to begin is lost: it was made, or is told not to have begun.
    let begun = number(&report["calls"]) + number(&report["not_begun"]);
    assert!((195.0..=205.0).contains(&begun), "{report}");
    assert!(number(&report["not_begun"]) < 20.0, "{report}");
}

#[test]
fn an_address_where_nobody_listens_is_told() {
    let output = output(&["load", "--address=127.0.0.1:1"]);
    assert_eq!(output.status.code(), Some(1));
    let told = told(&output);
    assert!(told.contains("127.0.0.1:1: cannot be reached"), "{told}");
    assert!(told.contains("refused"), "{told}");
    assert!(output.stdout.is_empty(), "{output:?}");
}

#[test]
fn replicas_that_could_not_share_their_games_are_refused() {
    let output = output(&["load", "--store=memory:", "--replicas=2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("games of its own"), "{output:?}");
}

#[test]
fn failures_are_counted_by_reason() {
    let directory = TempDir::new().expect("a directory");
    let made = Command::new(env!("CARGO_BIN_EXE_banqi"))
        .args(["key", "--role=player", "--name=load"])
        .output()
        .expect("the command runs");
    assert!(made.status.success(), "{made:?}");
    let file = directory.path().join("keys");
    fs::write(&file, &made.stdout).expect("a file");
    let key = String::from_utf8(made.stderr).expect("text").trim().to_owned();
    let service = Replica::start(&[&format!("--auth={}", file.display())]);
    let address = format!("--address={}", service.address());
    let run = ["load", &address, "--warm-up=0", "--duration=0.5", "--in-flight=4", "--json"];

    let refused = output(&run);
    assert_eq!(refused.status.code(), Some(1));
    assert!(told(&refused).contains("CreateGame API_KEY_MISSING: "), "{refused:?}");
    let report = document(&refused);
    assert_eq!(report["calls"], 0);
    let failures = &report["methods"]["CreateGame"]["failures"];
    assert_eq!(failures["API_KEY_MISSING"], report["failed"], "{report}");
    assert!(report["failed"].as_u64() > Some(3), "{report}");

    let expected = output(&[&run[..], &["--expect=API_KEY_MISSING"]].concat());
    assert!(expected.status.success(), "{expected:?}");

    let pid = format!("--pid={}", service.id());
    let allowed = output(&[&run[..], &[&pid, &format!("--api-key={key}")]].concat());
    assert!(allowed.status.success(), "{allowed:?}");
    assert_sane(&document(&allowed));
}

#[test]
fn a_table_is_told_where_no_json_is_asked_for() {
    let output =
        output(&["load", "--store=memory:", "--warm-up=0", "--duration=0.5", "--in-flight=4"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    for line in ["seed ", "PlayAction ", "GetGame ", "service ", "no call failed"] {
        assert!(text.lines().any(|told| told.starts_with(line)), "no line {line}: {text}");
    }
    assert!(!text.contains('\x1b'), "{text}");
}

#[test]
fn many_watches_are_spread_over_connections_and_all_are_told() {
    let report = report(&["watch", "--store=memory:", "--watchers=1100", "--actions=3"]);
    // The service lets a connection have 1,024 streams.
    assert_eq!(report["connections"], 2, "{report}");
    assert_eq!(report["actions"], 3, "{report}");
    assert_ordered(&report["reached_all_ms"]);
    assert_eq!(report["events"]["events"], 3300, "{report}");
    assert_eq!(report["events"]["undelivered"], 0, "{report}");
    assert!(number(&report["memory"]["bytes_per_watch"]) > 100.0, "{report}");
}

#[test]
fn games_are_stored_and_measured_beside() {
    let report = report(&["fill", "--games=200", "--duration=0.3", "--in-flight=8"]);
    let levels = report["levels"].as_array().expect("a list");
    assert_eq!(levels.len(), 1, "{report}");
    assert_eq!(levels[0]["games"], 200);
    for figure in ["filled_per_second", "calls_per_second"] {
        assert!(number(&levels[0][figure]) > 1.0, "{figure}: {report}");
    }
    assert!(number(&levels[0]["store"]["resident_bytes"]) > 1e6, "{report}");
}

#[test]
fn service_and_floor_are_measured_in_turns() {
    let report = report(&[
        "floor",
        "--arrangement=one",
        "--rounds=1",
        "--duration=0.3",
        "--in-flight=8",
        "--connections=2",
    ]);
    let lines = report["lines"].as_array().expect("a list");
    let methods: Vec<_> = lines.iter().map(|line| line["method"].as_str()).collect();
    assert_eq!(methods, [Some("PlayAction"), Some("GetGame")], "{report}");
    for line in lines {
        assert!(number(&line["cpu_ratio"]["median"]) > 0.1, "{report}");
        let sizes = ["service", "floor"].map(|side| number(&line[side]["answer_bytes"]["median"]));
        let difference = sizes[0] / sizes[1];
        assert!((0.8..1.25).contains(&difference), "the floor answers as much: {report}");
    }
}

#[tokio::test]
async fn an_interrupted_run_tells_what_it_has() {
    let service = Replica::start(&["--dev-platform"]);
    let address = format!("--address={}", service.address());
    let run = bench(&["load", &address, "--warm-up=0", "--duration=600", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let uri = format!("http://{}", service.address());
    let mut games = GameServiceClient::connect(uri).await.expect("a connection");
    let played = async {
        loop {
            let listed = games.list_games(v1::ListGamesRequest::default()).await.expect("a list");
            if listed.into_inner().games.iter().any(|game| game.revision > 1) {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, played).await.expect("something is played");
    signal(run.id(), "INT");
    let output = run.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    let report = document(&output);
    assert_eq!(report["interrupted"], true);
    assert!(report["calls"].as_u64() > Some(0), "{report}");
    assert!(number(&report["seconds"]) < 60.0, "{report}");
}
