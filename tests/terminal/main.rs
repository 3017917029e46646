//! `banqi play` and `banqi watch`, by what people see of them: through pipes, and on a terminal (tmux).

#![expect(clippy::disallowed_methods, reason = "how long to wait for real processes")]

mod process;
#[path = "../support/mod.rs"]
mod support;
mod table;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use banqi::api::proto::v1;
use process::{Terminal, come_back};
use support::PATIENCE;
use support::replica::Replica;
use table::Table;

/// What somebody would do who wants it over: captures before anything else.
fn choose(game: &v1::Game) -> &str {
    let legal = &game.legal_actions;
    let captures = legal.iter().find(|action| action.kind() == v1::ActionKind::Capture);
    let turn = usize::try_from(game.revision).expect("a small number");
    &captures.unwrap_or(&legal[turn * 7 % legal.len()]).text
}

fn is_over(game: &v1::Game) -> bool {
    game.result.is_some()
}

#[tokio::test]
async fn a_whole_game_against_a_bot() {
    let replica = Replica::start(&[]);
    let mut terminal = Terminal::start(&[
        "play",
        "--server",
        replica.address(),
        "--name=ann",
        "--first=me",
        "--preset=TCGA",
    ]);
    let table = Table::at(&replica, &terminal.told("game ")).await;
    let mut watcher =
        Terminal::start(&["watch", "--server", replica.address(), "--json", &table.game_id]);
    loop {
        let game = table
            .until(|game| is_over(game) || game.position.as_ref().is_some_and(|at| at.to_move == 1))
            .await;
        if is_over(&game) {
            break;
        }
        terminal.told("you are to move");
        terminal.types(choose(&game));
        table.until(|now| now.revision > game.revision).await;
    }
    terminal.told("over: rematch, record, or quit");
    terminal.types("record");
    assert_eq!(terminal.told("[RuleSet "), "\"TCGA\"]");
    terminal.types("rematch");
    assert_ne!(terminal.told("game "), table.game_id);
    terminal.types("quit");
    let written = terminal.ends();
    // What is to be copied as one line is one.
    let shown = written.lines().filter(|line| !line.starts_with("BANQI_SEAT_TOKEN="));
    let widest = shown.max_by_key(|line| line.chars().count()).expect("lines");
    assert!(widest.chars().count() <= 80, "{widest}");
    assert!(!written.contains('\x1b'), "codes of terminals where there is none");

    watcher.told("{");
    let log = watcher.ends();
    let changes: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let last = changes.last().expect("the end");
    assert!(last["result"]["reason"].is_string(), "{last}");
    let revisions: Vec<u64> =
        changes.iter().filter_map(|change| change["revision"].as_u64()).collect();
    assert!(revisions.windows(2).all(|pair| pair[1] == pair[0] + 1), "{revisions:?}");
}

#[tokio::test]
async fn two_friends_of_whom_one_leaves_and_comes_back() {
    let replica = Replica::start(&[]);
    let server = ["--server", replica.address()];
    let mut ann = Terminal::start(
        &[&["play", "--against=friend", "--name=ann", "--first=me"][..], &server].concat(),
    );
    let invitation = ann.told("banqi ");
    let arguments: Vec<&str> = invitation.split(' ').chain(["--name=bob"]).collect();
    let mut bob = Terminal::start(&arguments);
    let table = Table::at(&replica, arguments[arguments.len() - 2]).await;
    table.until(|game| game.state() == v1::GameState::Active).await;
    ann.told("you are to move");
    ann.types("i9");
    assert!(ann.told("`i9`").contains("help"));
    ann.types("b3");
    bob.told("you are to move");
    bob.types("draw");
    ann.told("bob offers a draw");
    ann.types("no");
    bob.told("ann declines the draw");

    bob.types("quit");
    let (mut again, _) = come_back(&bob.ends());
    again.types("resign");
    let game = table.until(is_over).await;
    assert_eq!(game.result.expect("a result").winners, [1]);
    again.ends();
    ann.told("ann (you) has won: by resignation (RESIGNATION)");
}

/// Who watches or waits is told once that the service is away, and once that it is back.
#[tokio::test]
async fn a_service_that_goes_away_and_comes_back_is_told_of() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = format!("--store=file:{}", directory.path().join("games").display());
    let mut replica = Replica::start(&[&store]);
    let (calls, probes) = (replica.address().parse().expect("an address"), replica.probes());
    let server = replica.address().to_owned();
    let mut ann = Terminal::start(&["play", "--against=here", "--first=me", "--server", &server]);
    let table = Table::at(&replica, &ann.told("game ")).await;
    ann.told("seat 1 is to move");
    let watching = ["watch", "--server", &server, &table.game_id];
    let mut json = Terminal::start(&[&watching[..], &["--json"]].concat());
    let mut bare = Terminal::start_telling(&watching);
    json.told("{");
    bare.told("game ");

    replica.kill();
    ann.told("the service does not answer; trying again");
    bare.told("the service does not answer; trying again");
    let told = |line: String| -> serde_json::Value {
        serde_json::from_str(&format!("{{{line}")).expect("a line of JSON")
    };
    let lost = serde_json::json!({ "game_id": table.game_id, "connection": "lost" });
    assert_eq!(told(json.told("{")), lost);

    let _back = Replica::start_on(calls, probes, &[&store]);
    ann.told("the service is back again");
    bare.told("the service is back again");
    assert_eq!(told(json.told("{"))["connection"], "back");
    ann.types("a1");
    bare.told("1. seat 1: a1(");
    let change = told(json.told("{"));
    assert!(change["record"].is_string() && change.get("connection").is_none(), "{change}");
    ann.types("resign");
    for seen in [ann.ends(), bare.ends(), json.ends()] {
        let tellings = |text| seen.matches(text).count();
        let plain = (tellings("does not answer"), tellings("is back again"));
        let as_json = (tellings("\"lost\""), tellings("\"back\""));
        assert!(plain == (1, 1) || as_json == (1, 1), "{seen}");
    }
}

#[test]
fn lines_that_come_all_at_once_are_each_answered_by_a_board() {
    let mut terminal = Terminal::start(&["play", "--against=here"]);
    for line in ["a1", "b1", "c1", "resign"] {
        terminal.types(line);
    }
    let written = terminal.ends();
    let told = [
        "\nseat 1 is to move",
        "\n1. seat 1: a1(",
        "\n2. seat 2: b1(",
        "\n3. seat 1: c1(",
        "over: ",
    ];
    let places: Vec<usize> =
        told.map(|text| written.find(text).unwrap_or_else(|| panic!("{text}:\n{written}"))).into();
    assert!(places.is_sorted(), "{written}");
    assert_eq!(written.matches("captured:").count(), 5, "{written}");
    for (board, record) in written.split("\ngame ").skip(2).zip(["a1(", "b1(", "c1(", "resigned"]) {
        assert!(board.contains(record), "{record}:\n{board}");
    }
}

/// The bot has its turn before the next line is read.
#[test]
fn a_bot_has_its_turn_also_where_lines_come_all_at_once() {
    let mut terminal = Terminal::start(&["play", "--first=me"]);
    terminal.types("a1");
    terminal.types("resign");
    let written = terminal.ends();
    assert!(written.contains("\n2. bot: "), "{written}");
    assert!(written.contains("bot has won: by resignation (RESIGNATION)"), "{written}");
}

#[tokio::test]
async fn who_finds_no_seat_is_told_of_other_ways_in() {
    let replica = Replica::start(&[]);
    let server = replica.address();
    let mut ann = Terminal::start(&["play", "--server", server]);
    let game = ann.told("game ");
    ann.types("quit");
    let written = ann.ends();
    assert!(written.contains("the bot plays from here and leaves with you"), "{written}");
    let told = refused(&["play", "--server", server, "--game", &game], 1);
    for expected in
        ["--token TOKEN", "BANQI_SEAT_TOKEN", &format!("banqi watch --server {server} {game}")]
    {
        assert!(told.contains(expected), "{expected}: {told}");
    }
}

/// What a command that fails says.
fn refused(arguments: &[&str], code: i32) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
    let run = command.args(arguments).stdin(Stdio::null()).output().expect("it runs");
    let told = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(code), "{arguments:?}: {told}");
    told
}

#[tokio::test]
async fn the_exit_codes_of_verify_are_each_of_one_thing() {
    let replica = Replica::start(&[]);
    let server = ["--server", replica.address()];
    let mut ann = Terminal::start(&[&["play", "--against=here"][..], &server].concat());
    let game = ann.told("game ");
    let unproven = [&["verify", "--game", &game][..], &server].concat();
    assert_eq!(refused(&unproven, 3), "", "the verdict is no error");
    refused(&["verify"], 2);
    let told = refused(&[&["verify", "--game", "no game"][..], &server].concat(), 1);
    assert!(told.contains("--game: ") && told.contains("no game"), "{told}");
}

#[tokio::test]
async fn who_presses_ctrl_c_is_told_how_to_come_back_also_while_the_service_is_away() {
    let mut replica = Replica::start(&[]);
    let mut ann =
        Terminal::start(&["play", "--against=here", "--first=me", "--server", replica.address()]);
    ann.told("seat 1 is to move");
    replica.kill();
    ann.types("a1");
    ann.told("the service does not answer; trying again");
    support::signal(ann.child.id(), "INT");
    ann.told("BANQI_SEAT_TOKEN=");
    ann.ends();
}

#[tokio::test]
async fn two_at_one_terminal_come_back_to_it() {
    let replica = Replica::start(&[]);
    let mut both =
        Terminal::start(&["play", "--against=here", "--first=me", "--server", replica.address()]);
    both.told("seat 1 is to move");
    both.types("a1");
    both.told("seat 2 is to move");
    both.types("quit");
    let (mut again, game_id) = come_back(&both.ends());
    again.told("seat 2 is to move");
    again.types("b1");
    again.told("seat 1 is to move");
    again.types("resign");
    again.told("over:");
    again.ends();
    assert!(is_over(&Table::at(&replica, &game_id).await.game().await));
}

#[test]
fn without_a_service_one_is_started_and_ends_with_the_game() {
    let mut terminal = Terminal::start(&["play", "--against=here"]);
    terminal.told("seat 1 is to move");
    terminal.types("a1");
    terminal.told("1. seat 1: a1(");
    terminal.types("resign");
    terminal.told("over:");
    terminal.ends();
}

#[test]
fn who_leaves_a_game_that_is_kept_here_alone_is_told_that_it_is_gone() {
    let mut terminal = Terminal::start(&["play", "--against=bot", "--first=me"]);
    terminal.told("you are to move");
    terminal.types("quit");
    assert!(terminal.ends().contains("is gone"));
}

#[test]
fn what_cannot_be_is_said_and_leaves_with_1() {
    for (arguments, expected) in [
        (&["play", "--against=friend"][..], "--server ADDRESS"),
        (&["play", "--server=127.0.0.1:1"], "is a service running there?"),
        (&["play", "--server=ftp://there"], "http://HOST:PORT"),
        (&["play", "--preset=CHESS"], "--preset: `CHESS` is no preset: send TAIWANESE"),
        (&["play", "--name=a\tb"], "--name: \"a\\tb\" is no player id"),
        (&["play", "--against=bot", "--server=127.0.0.1:1", "--game=g"], "leave out --against"),
        (&["watch", "--server=127.0.0.1:1", "g"], "127.0.0.1:1"),
        (&["man", "chess"], "serve"),
    ] {
        let told = refused(arguments, 1);
        assert!(told.contains(expected), "{arguments:?}: {told}");
    }
}

/// A session of tmux of its own, ended with this.
struct Tmux(String);

impl Tmux {
    fn run(&self, arguments: &[&str]) -> String {
        let run = Command::new("tmux").args(["-L", &self.0]).args(arguments).output();
        let run = run.expect("these tests need tmux in PATH");
        String::from_utf8(run.stdout).expect("text")
    }

    fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    fn until(&self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return screen;
            }
            assert!(Instant::now() < end, "no `{text}` on\n{screen}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.run(&["kill-server"]);
    }
}

#[rstest::rstest]
#[case::letters("letters", "TCGA", "")]
#[case::characters("characters", "TCGA", "")]
#[case::without_colour("letters", "TCGA", "NO_COLOR=1")]
#[tokio::test]
async fn a_whole_game_on_a_terminal_of_80_columns(
    #[case] pieces: &str,
    #[case] preset: &str,
    #[case] environment: &str,
) {
    let replica = Replica::start(&[]);
    let tmux = Tmux(format!("banqi-{}-{pieces}{environment}", std::process::id()));
    let command = format!(
        "{environment} {} play --server {} --against here --preset {preset} --pieces {pieces}",
        env!("CARGO_BIN_EXE_banqi"),
        replica.address(),
    );
    tmux.run(&["-u", "new-session", "-d", "-x", "80", "-y", "30", "sh"]);
    tmux.run(&["send-keys", command.trim(), "Enter"]);
    let screen = tmux.until("seat 1 is to move");
    let id = screen.lines().find_map(|line| line.strip_prefix("game ")).expect("an id");
    let table = Table::at(&replica, id).await;
    let mut game = table.game().await;
    while !is_over(&game) {
        // Literally, since f3 is a key of its own.
        tmux.run(&["send-keys", "-l", choose(&game)]);
        tmux.run(&["send-keys", "Enter"]);
        let revision = game.revision;
        game = table.until(|game| game.revision > revision).await;
        if !is_over(&game) {
            let seat = game.position.as_ref().expect("a position").to_move;
            let record = game.last_action.as_ref().expect("an action").text.clone();
            let screen = tmux.until(&format!("{record}\nseat {seat} is to move"));
            // All of it fits: the top and the bottom are seen at once.
            assert!(screen.contains("\n    a") && screen.contains("face down:"), "{screen}");
            let colour = tmux.run(&["capture-pane", "-p", "-e"]).contains("\x1b[");
            assert_eq!(colour, environment.is_empty(), "{screen}");
        }
    }
    tmux.until("over: rematch, record, or quit");
}

#[test]
fn shells_and_man_are_told_every_command() {
    let run = |arguments: &[&str]| {
        let run = Command::new(env!("CARGO_BIN_EXE_banqi")).args(arguments).output();
        let run = run.expect("it runs");
        assert!(run.status.success(), "{arguments:?}");
        String::from_utf8(run.stdout).expect("text")
    };
    let whole = run(&["man"]);
    let commands = ["serve", "doctor", "play", "watch", "key", "replay", "verify", "bench"];
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let completions = run(&["completions", shell]);
        for command in commands {
            assert!(completions.contains(command), "{command} in {shell}");
        }
    }
    for command in commands {
        assert!(whole.contains(command), "{command}");
        assert!(run(&["man", command]).starts_with(".ie"), "{command}");
    }
}
