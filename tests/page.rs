//! The page: what is served of it, and that people can play on it.
//!
//! `clients/web/tests/run.mjs` plays in Chromium, as people with browsers of their own would.

mod support;

use std::path::Path;
use std::process::Command;

use banqi::server::Config;
use rstest::rstest;
use support::python::{ROOT, environment};
use support::replica::Replica;
use support::{TestServer, exchange};

/// Asks for a path over HTTP/1.1; answers the whole answer.
async fn ask(server: &TestServer, method: &str, path: &str, header: &str) -> String {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {}\r\n{header}connection: close\r\n\r\n",
        server.grpc
    );
    exchange(server.grpc, request.as_bytes()).await
}

/// The value of a header in an answer.
fn header<'a>(answer: &'a str, name: &str) -> &'a str {
    let line = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("no {name} in {answer}"))
}

#[rstest]
#[case("/", "text/html")]
#[case("/app.js", "text/javascript")]
#[case("/style.css", "text/css")]
#[case("/icon.svg", "image/svg+xml")]
#[case("/pieces.woff2", "font/woff2")]
#[case("/LICENCES.txt", "text/plain")]
#[tokio::test]
async fn each_file_is_served_and_may_load_nothing_from_elsewhere(
    #[case] path: &str,
    #[case] kind: &str,
) {
    let server = TestServer::start().await;
    let answer = ask(&server, "GET", path, "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(header(&answer, "content-type").starts_with(kind), "{answer}");
    assert!(header(&answer, "content-security-policy").starts_with("default-src 'self';"));
    assert_eq!(header(&answer, "x-content-type-options"), "nosniff");

    let head = ask(&server, "HEAD", path, "").await;
    assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{head}");
    let known = format!("if-none-match: \"another\", {}\r\n", header(&answer, "etag"));
    let unchanged = ask(&server, "GET", path, &known).await;
    assert!(
        unchanged.starts_with("HTTP/1.1 304") && unchanged.ends_with("\r\n\r\n"),
        "{unchanged}"
    );
}

#[rstest]
#[case::another_path("/app.js/")]
#[case::no_file("/../Cargo.toml")]
#[case::a_method_of_a_service("/banqi.v1.GameService/GetGame")]
#[tokio::test]
async fn where_there_is_nothing_a_browser_is_shown_the_way_home(#[case] path: &str) {
    let server = TestServer::start().await;
    let answer = ask(&server, "GET", path, "").await;
    assert!(answer.starts_with("HTTP/1.1 404") && answer.contains("href=\"/\""), "{answer}");
    assert_eq!(header(&answer, "content-type"), "text/html; charset=utf-8");
    assert!(header(&answer, "content-security-policy").starts_with("default-src 'self';"));
    let head = ask(&server, "HEAD", path, "").await;
    assert!(head.starts_with("HTTP/1.1 404") && head.ends_with("\r\n\r\n"), "{head}");
}

#[rstest]
#[case::another_method(true, "POST", "/", "")]
#[case::a_client_of_grpc(true, "GET", "/app.js", "content-type: application/grpc\r\n")]
#[case::switched_off(false, "GET", "/", "")]
#[case::switched_off_elsewhere(false, "GET", "/app.js/", "")]
#[tokio::test]
async fn nothing_else_is_a_page(
    #[case] page: bool,
    #[case] method: &str,
    #[case] path: &str,
    #[case] more: &str,
) {
    let server = TestServer::with(Config { page, ..Config::default() }).await;
    let answer = ask(&server, method, path, &format!("content-length: 0\r\n{more}")).await;
    assert!(!answer.starts_with("HTTP/1.1 200") && !answer.contains("<html"), "{answer}");
    assert!(!answer.starts_with("HTTP/1.1 404"), "{answer}");
}

/// With `UPDATE_PICTURES=1` the documentation's pictures are taken anew.
#[rstest]
#[case::two_and_a_watcher("wholeGame")]
#[case::four_on_the_double_board("fourSeats")]
#[case::without_a_mouse("byKeyboard")]
#[case::clocks_draws_and_takebacks("bargains")]
#[case::on_one_device("sameDevice")]
#[case::a_rematch_declined("declined")]
#[case::in_every_language("languages")]
fn people_play(#[case] scene: &str) {
    let replica = Replica::start(&[]);
    let pictures = match std::env::var_os("UPDATE_PICTURES") {
        Some(_) => Path::new(ROOT).join("docs/pictures"),
        None => Path::new("").to_owned(),
    };
    let status = Command::new(environment().join("bin/node"))
        .arg(Path::new(ROOT).join("clients/web/tests/run.mjs"))
        .arg(format!("http://{}", replica.address()))
        .arg(pictures)
        .arg(scene)
        .status()
        .expect("node runs; `./test` installs it");
    assert!(status.success(), "{status}: what did not hold stands above");
}

/// What the page never asks for, or deals with without a word; the rest of these it names in a sentence.
const NOT_ON_THE_PAGE: [&str; 20] = [
    "INVALID_FIELDS",
    "MALFORMED_MESSAGE",
    "MESSAGE_TOO_LARGE",
    "UNIMPLEMENTED",
    "SERVICE_NOT_FOUND",
    "STREAM_EXPIRED",
    "INTERNAL",
    "PLAYER_TOKEN_WRONG",
    "PLAYER_TOKEN_EXPIRED",
    "OTHER_PLAYER",
    "NO_SERVICE_KEY",
    "PLATFORM_ONLY",
    "GAME_ID_TAKEN",
    "REQUEST_ID_REUSED",
    "CURSOR_EXPIRED",
    "NO_SUCH_SEAT",
    "ENTROPY_ADDED",
    "DEAL_GIVEN",
    "PLACEMENTS_WRONG",
    "NO_TOURNAMENT_RECORD",
];

#[test]
fn every_reason_that_a_player_can_meet_has_words_on_the_page() {
    let words = include_str!("../clients/web/src/notices.ts");
    let catalogue = include_str!("../docs/errors.md").lines();
    let reasons = catalogue.filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let (unspoken, spoken): (Vec<&str>, Vec<&str>) =
        reasons.partition(|reason| !words.contains(&format!("\"{reason}\"")));
    assert!(!spoken.is_empty());
    assert_eq!(unspoken, NOT_ON_THE_PAGE);
}
