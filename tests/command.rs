//! The `banqi` command: what it prints, what it refuses, how it ends.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rstest::rstest;

fn banqi(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
    command.args(arguments).env("NO_COLOR", "").env_remove("BANQI_LISTEN");
    command
}

fn output(arguments: &[&str]) -> Output {
    banqi(arguments).output().expect("the command runs")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn vectors(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    folder.join(name).to_str().expect("a path of text").to_owned()
}

/// A `banqi serve` on a free port, killed when dropped.
struct Served(Child);

impl Served {
    /// Starts it and reads what it says of itself, line by line.
    fn start() -> (Self, String) {
        let mut child = banqi(&["serve", "--listen=127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let mut first = String::new();
        let stdout = child.stdout.as_mut().expect("its output");
        BufReader::new(stdout).read_line(&mut first).expect("a line");
        (Self(child), first)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself, as the tests want.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[rstest]
#[case("TERM")]
#[case("INT")]
fn serving_says_where_and_stops_when_told(#[case] signal: &str) {
    let (mut served, first) = Served::start();
    let address = first.trim().strip_prefix("banqi is listening on ").expect(&first);
    std::net::TcpStream::connect(address).expect("a connection");
    let kill = Command::new("kill").args(["-s", signal, &served.0.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let status = served.0.wait().expect("it ends");
    assert!(status.success(), "{status}");
}

#[test]
fn a_port_in_use_is_told_with_its_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address");
    let output = output(&["serve", &format!("--listen={address}")]);
    assert_eq!(output.status.code(), Some(1));
    let told = told(&output);
    assert!(told.contains(&format!("--listen {address}: the port is in use")), "{told}");
    assert!(told.contains("--listen 127.0.0.1:0"), "{told}");
}

#[test]
fn an_open_address_is_refused_unless_asked_for() {
    let output = output(&["serve", "--listen=0.0.0.0:0"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("--insecure"), "{}", told(&output));
}

#[rstest]
#[case(&[])]
#[case(&["serve", "--listen=nowhere"])]
#[case(&["replay"])]
#[case(&["replay", "--line=0", "-"])]
fn a_wrong_command_line_is_code_2(#[case] arguments: &[&str]) {
    assert_eq!(output(arguments).status.code(), Some(2));
}

#[rstest]
#[case("games.jsonl", "TAIWANESE 1")]
#[case("positions.jsonl", "cannon takes the first piece beyond exactly one screen")]
#[case("endgames.jsonl", "endgame 1")]
fn written_games_are_replayed(#[case] file: &str, #[case] name: &str) {
    let output = output(&["replay", "--final", &vectors(file)]);
    assert!(output.status.success(), "{}", told(&output));
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.starts_with(name), "{shown}");
    assert!(!shown.contains('\x1b'), "no colours unless on a terminal: {shown}");
}

#[test]
fn a_line_beyond_the_end_is_told() {
    let file = vectors("games.jsonl");
    let output = output(&["replay", "--line=1000000", &file]);
    assert_eq!(output.status.code(), Some(1));
    let told = told(&output);
    assert!(told.contains(&format!("{file}: there is no line 1000000; it has ")), "{told}");
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let output = output(&["replay", "no/such/file"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("no/such/file: cannot be read: "), "{}", told(&output));
}
