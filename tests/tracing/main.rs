//! Traces as a collector receives them, of a real service on a real Redis: whose they are, what they
//! tell, what they keep to themselves, and that nothing waits for them.

#[path = "../support/mod.rs"]
mod support;

mod caller;
mod collector;

use std::fs;
use std::process::Command;
use std::time::Duration;

use caller::{CALLERS_SPAN, Caller, Context};
use collector::{Collector, attribute};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use rstest::rstest;
use serde_json::Value;
use support::authority::{Authority, Validity};
use support::redis_server::RedisServer;
use support::replica::Replica;
use support::{PATIENCE, refusal, signal};
use tempfile::NamedTempFile;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};

/// A request id that a creation may have.
const CREATION: &str = "3f2b8c1e-7a4d-4e6f-9b0a-5c8d7e6f1a2b";

const ONE: u128 = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c;
const TWO: u128 = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736;
const THREE: u128 = 0x1111_2222_3333_4444_5555_6666_7777_8888;

/// A service that sends what it has ten times a second, and its log.
fn start(options: &[&str], environment: &[(&str, String)]) -> (Replica, NamedTempFile) {
    let file = NamedTempFile::new().expect("a file");
    let log = file.reopen().expect("a second handle");
    let mut all = vec![("OTEL_BSP_SCHEDULE_DELAY", "100")];
    all.extend(environment.iter().map(|(name, value)| (*name, value.as_str())));
    (Replica::start_logging(log, &all, options), file)
}

fn told(span: &Span, key: &str) -> Option<String> {
    attribute(&span.attributes, key)
}

fn status(span: &Span) -> StatusCode {
    span.status.as_ref().map_or(StatusCode::Unset, |status| status.code())
}

#[tokio::test]
async fn a_call_belongs_to_its_callers_trace_and_so_do_its_calls_of_the_store() {
    let (redis, collector) = (RedisServer::start(), Collector::start().await);
    let options = ["--store", &redis.url(), &collector.option(), "--trace-ratio=0"];
    let (replica, _log) = start(&options, &[]);
    let mut caller = Caller::of(&replica).await;
    let (game, tokens) = caller.create(Context::Sampled(ONE), "").await;
    caller.flip(Context::Sampled(TWO), (&game, &tokens[0]), "a1", "").await.expect("played");

    let create = collector.span(ONE, "banqi.v1.GameService/CreateGame").await;
    assert_eq!(told(&create, "banqi.game_id"), Some(game.clone()), "{create:?}");
    let play = collector.span(TWO, "banqi.v1.GameService/PlayAction").await;
    assert_eq!(play.kind(), SpanKind::Server);
    assert_eq!(play.parent_span_id, CALLERS_SPAN.to_be_bytes());
    assert_eq!(play.trace_state, "vendor=opaque");
    assert!(play.end_time_unix_nano >= play.start_time_unix_nano);
    for (key, value) in [
        ("rpc.system", "grpc"),
        ("rpc.service", "banqi.v1.GameService"),
        ("rpc.method", "PlayAction"),
        ("rpc.grpc.status_code", "0"),
        ("banqi.game_id", &game),
    ] {
        assert_eq!(told(&play, key).as_deref(), Some(value), "{key} of {play:?}");
    }
    assert_eq!((told(&play, "error.type"), status(&play)), (None, StatusCode::Unset));

    // A span of the store ends, and is sent, before that of its call.
    let children = collector.children(&play);
    let names: Vec<&str> = children.iter().map(|child| child.name.as_str()).collect();
    assert!(names.contains(&"commit"), "{names:?}");
    for child in &children {
        assert_eq!((child.kind(), &child.trace_id), (SpanKind::Client, &play.trace_id));
        assert_eq!(told(child, "db.system").as_deref(), Some("redis"), "{child:?}");
        assert_eq!(told(child, "db.operation").as_deref(), Some(child.name.as_str()), "{child:?}");
        assert_eq!(status(child), StatusCode::Unset, "{child:?}");
    }

    // What the service does of itself is no part of any trace.
    let traces = [ONE, TWO].map(u128::to_be_bytes);
    for span in collector.spans() {
        assert!(traces.iter().any(|trace| span.trace_id == trace), "{span:?}");
    }
    let resource = collector.resource();
    assert_eq!(attribute(&resource, "service.name").as_deref(), Some("banqi"));
    let version = attribute(&resource, "service.version");
    assert_eq!(version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn the_caller_decides_and_otherwise_the_ratio_does() {
    let (redis, none) = (RedisServer::start(), Collector::start().await);
    let (replica, _log) = start(&["--store", &redis.url(), &none.option(), "--trace-ratio=0"], &[]);
    let mut caller = Caller::of(&replica).await;
    let (game, _) = caller.create(Context::None, "").await;
    caller.get(Context::NotSampled(ONE), &game).await.expect("read");
    // Spans are sent in the order in which they end, so those before would be there by then.
    caller.get(Context::Sampled(TWO), &game).await.expect("read");
    none.span(TWO, "banqi.v1.GameService/GetGame").await;
    let others: Vec<Span> = none.spans();
    assert!(others.iter().all(|span| span.trace_id == TWO.to_be_bytes()), "{others:?}");

    let all = Collector::start().await;
    let named = [("OTEL_SERVICE_NAME", "tables".to_owned())];
    let (replica, _log) =
        start(&["--store", &redis.url(), &all.option(), "--trace-ratio=1"], &named);
    let mut caller = Caller::of(&replica).await;
    caller.get(Context::NotSampled(ONE), &game).await.expect("read");
    caller.get(Context::None, &game).await.expect("read");
    caller.get(Context::Sampled(TWO), &game).await.expect("read");
    all.span(TWO, "banqi.v1.GameService/GetGame").await;
    let spans = all.spans();
    assert!(spans.iter().all(|span| span.trace_id != ONE.to_be_bytes()), "{spans:?}");
    let roots: Vec<&Span> = spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
    let [root] = roots[..] else { panic!("one call had no caller's trace: {spans:?}") };
    assert_eq!(root.name, "banqi.v1.GameService/GetGame");
    assert_eq!(attribute(&all.resource(), "service.name").as_deref(), Some("tables"));
}

#[tokio::test]
async fn a_streams_span_lasts_as_long_as_the_stream() {
    let (redis, collector) = (RedisServer::start(), Collector::start().await);
    let (replica, _log) =
        start(&["--store", &redis.url(), &collector.option(), "--trace-ratio=0"], &[]);
    let mut caller = Caller::of(&replica).await;
    let (game, tokens) = caller.create(Context::None, "").await;
    let mut watch = caller.watch(Context::Sampled(ONE), &game).await;
    watch.message().await.expect("well").expect("a message");
    caller.flip(Context::Sampled(TWO), (&game, &tokens[0]), "a1", "").await.expect("played");
    watch.message().await.expect("well").expect("a message");
    collector.span(TWO, "banqi.v1.GameService/PlayAction").await;
    let watches = |spans: Vec<Span>| spans.into_iter().any(|span| span.name.ends_with("WatchGame"));
    assert!(!watches(collector.spans()), "it is not over");
    drop(watch);
    let span = collector.span(ONE, "banqi.v1.GameService/WatchGame").await;
    assert_eq!(told(&span, "rpc.grpc.status_code").as_deref(), Some("1"), "{span:?}");
    assert_eq!(told(&span, "banqi.game_id"), Some(game));
    assert_eq!(status(&span), StatusCode::Unset, "{span:?}");
    let children = collector.children(&span);
    assert!(children.iter().any(|child| child.name == "load"), "{children:?}");
}

#[tokio::test]
async fn failures_have_their_reason_and_are_found_in_the_log_by_their_trace() {
    let (redis, collector) = (RedisServer::start(), Collector::start().await);
    let (mut replica, log) =
        start(&["--store", &redis.url(), &collector.option(), "--trace-ratio=0"], &[]);
    let mut caller = Caller::of(&replica).await;
    let (game, tokens) = caller.create(Context::None, "").await;
    let refused = caller.flip(Context::Sampled(ONE), (&game, &tokens[1]), "a1", "").await;
    assert_eq!(refusal(&refused.expect_err("not its turn")).1, "NOT_YOUR_TURN");
    let span = collector.span(ONE, "banqi.v1.GameService/PlayAction").await;
    assert_eq!(told(&span, "error.type").as_deref(), Some("NOT_YOUR_TURN"), "{span:?}");
    assert_eq!(told(&span, "rpc.grpc.status_code").as_deref(), Some("9"), "{span:?}");
    assert_eq!(status(&span), StatusCode::Unset, "the caller's fault is no error of the service");

    signal(redis.id(), "STOP");
    let untraced = caller.flip(Context::NotSampled(THREE), (&game, &tokens[0]), "a1", "").await;
    let failed = caller.flip(Context::Sampled(TWO), (&game, &tokens[0]), "a1", "").await;
    signal(redis.id(), "CONT");
    for status in [untraced, failed] {
        assert_eq!(refusal(&status.expect_err("no store")).1, "STORE_UNAVAILABLE");
    }
    let span = collector.span(TWO, "banqi.v1.GameService/PlayAction").await;
    assert_eq!(told(&span, "error.type").as_deref(), Some("STORE_UNAVAILABLE"), "{span:?}");
    assert_eq!(status(&span), StatusCode::Error, "{span:?}");
    let children = collector.children(&span);
    let failed = children.iter().find(|child| status(child) == StatusCode::Error);
    let failed = failed.unwrap_or_else(|| panic!("none of {children:?} failed"));
    assert_eq!(told(failed, "error.type").as_deref(), Some("unavailable"));

    assert!(replica.stop().success());
    let text = fs::read_to_string(log.path()).expect("the log");
    let line = |line| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    let undone: Vec<Value> =
        text.lines().map(line).filter(|line| line["message"] == "a write was not done").collect();
    let traces: Vec<&Value> = undone.iter().map(|line| &line["trace_id"]).collect();
    assert_eq!(traces, [&Value::Null, &Value::String(format!("{TWO:032x}"))], "{text}");
}

#[tokio::test]
async fn no_secret_reaches_the_collector() {
    let (redis, collector) = (RedisServer::start(), Collector::start().await);
    let made = Command::new(env!("CARGO_BIN_EXE_banqi"))
        .args(["key", "--name", "a-shop", "--role", "player"])
        .output()
        .expect("the command runs");
    let key = String::from_utf8(made.stderr).expect("text").trim().to_owned();
    let keys = NamedTempFile::new().expect("a file");
    fs::write(keys.path(), made.stdout).expect("written");
    let auth = format!("--auth={}", keys.path().display());
    let (mut replica, log) =
        start(&["--store", &redis.url(), &collector.option(), "--trace-ratio=0", &auth], &[]);
    let mut caller = Caller::of(&replica).await;
    caller.key = Some(key.clone());
    let (game, tokens) = caller.create(Context::Sampled(ONE), CREATION).await;
    let seat = (game.as_str(), tokens[0].as_str());
    caller.flip(Context::Sampled(ONE), seat, "a1", "my-request").await.expect("played");
    caller.flip(Context::Sampled(ONE), seat, "a1", "my-failure").await.expect_err("not its turn");
    caller.get(Context::Sampled(TWO), &game).await.expect("read");
    collector.span(TWO, "banqi.v1.GameService/GetGame").await;

    assert!(replica.stop().success());
    let (bytes, text) = (collector.bytes(), fs::read(log.path()).expect("the log"));
    let holds =
        |place: &[u8], what: &str| place.windows(what.len()).any(|it| it == what.as_bytes());
    assert!(holds(&bytes, &game), "what is told would be found");
    let requests = [CREATION, "my-request", "my-failure"];
    let secrets = tokens.iter().map(String::as_str).chain(requests).chain([key.as_str()]);
    for secret in secrets {
        assert!(secret.len() > 8, "{secret} would be found anywhere");
        assert!(!holds(&bytes, secret) && !holds(&text, secret), "{secret}");
    }
}

/// Why a collector takes nothing.
#[derive(Clone, Copy, Debug)]
enum Away {
    /// Nobody listens.
    Refusing,
    /// It is connected to and never says anything.
    Silent,
}

#[rstest]
#[case(Away::Refusing)]
#[case(Away::Silent)]
#[tokio::test]
async fn a_collector_that_is_away_holds_nothing_up(#[case] away: Away) {
    let redis = RedisServer::start();
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let endpoint = format!("--otlp-endpoint=http://{}", silent.local_addr().expect("an address"));
    let silent = match away {
        Away::Refusing => None,
        Away::Silent => Some(silent),
    };
    // One thread, so that whatever held it up would hold up everything.
    let options = ["--store", &redis.url(), &endpoint, "--trace-ratio=1", "--threads=1"];
    let (mut replica, log) = start(&options, &[]);
    let mut caller = Caller::of(&replica).await;
    let (game, _) = caller.create(Context::None, "").await;
    // More than are kept for the collector at once.
    for _ in 0..2_500 {
        let read = timeout(PATIENCE, caller.get(Context::None, &game)).await;
        read.expect("in time").expect("read");
    }
    if matches!(away, Away::Refusing) {
        let warning = "the collector takes no traces";
        let told = || fs::read_to_string(log.path()).expect("the log").contains(warning);
        let deadline = Instant::now() + PATIENCE;
        while !told() {
            assert!(Instant::now() < deadline, "the log does not tell");
            sleep(Duration::from_millis(20)).await;
        }
    }
    drop(caller);
    let asked = Instant::now();
    signal(replica.id(), "TERM");
    while !replica.has_ended() {
        assert!(asked.elapsed() < PATIENCE, "it does not end");
        sleep(Duration::from_millis(20)).await;
    }
    // Two seconds for what is left, and as much for a busy machine.
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
    drop(silent);
}

#[tokio::test]
async fn what_is_left_is_sent_when_the_service_stops() {
    let (redis, collector) = (RedisServer::start(), Collector::start().await);
    // An hour from one sending to the next.
    let rarely = [("OTEL_BSP_SCHEDULE_DELAY", "3600000".to_owned())];
    let options = ["--store", &redis.url(), &collector.option(), "--trace-ratio=0"];
    let (mut replica, _log) = start(&options, &rarely);
    let mut caller = Caller::of(&replica).await;
    caller.create(Context::Sampled(ONE), "").await;
    drop(caller);
    assert_eq!(collector.spans(), []);
    signal(replica.id(), "TERM");
    collector.span(ONE, "banqi.v1.GameService/CreateGame").await;
    let deadline = Instant::now() + PATIENCE;
    while !replica.has_ended() {
        assert!(Instant::now() < deadline, "it does not end");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_collector_may_have_tls() {
    let (redis, authority) = (RedisServer::start(), Authority::new());
    let collector = Collector::start_secured(&authority.issue(&["localhost"], Validity::Now)).await;
    let trusted = NamedTempFile::new().expect("a file");
    fs::write(trusted.path(), authority.pem()).expect("written");
    let trusted = [("SSL_CERT_FILE", trusted.path().display().to_string())];
    let endpoint = format!("--otlp-endpoint=https://localhost:{}", collector.port());
    let options = ["--store", &redis.url(), &endpoint, "--trace-ratio=0"];
    let (replica, _log) = start(&options, &trusted);
    Caller::of(&replica).await.create(Context::Sampled(ONE), "").await;
    collector.span(ONE, "banqi.v1.GameService/CreateGame").await;
}

#[rstest]
#[case("collector:4317")]
#[case("http://collector:4318/v1/traces")]
fn an_address_that_is_none_is_refused_at_the_start(#[case] address: &str) {
    let option = format!("--otlp-endpoint={address}");
    let output = Command::new(env!("CARGO_BIN_EXE_banqi"))
        .args(["serve", "--listen=127.0.0.1:0", &option])
        .output()
        .expect("the command runs");
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    for part in ["--otlp-endpoint", address, "http://HOST:4317"] {
        assert!(told.contains(part), "no {part} in: {told}");
    }
}
