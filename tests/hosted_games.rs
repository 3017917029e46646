//! A client in another language plays hosted games over two replicas on one real Redis, while
//! replicas and the store are killed: `tests/python/play_hosted.py` says what happens in each
//! scenario, and this file owns the processes.

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use support::python::Stubs;
use support::redis_server::RedisServer;
use support::replica::Replica;

/// What a game's random choices are drawn from, unless `BANQI_SEED` says otherwise. The deals are
/// the service's own and differ each time.
const SEED: &str = "1";

/// The processes that a scenario is played on.
struct Stage {
    store: RedisServer,
    replicas: Vec<Replica>,
    options: &'static [&'static str],
}

impl Stage {
    /// Two replicas on one store, with these options besides those that say where all is.
    fn new(options: &'static [&'static str]) -> Self {
        let store = RedisServer::start_durable();
        let replicas = (0..2).map(|_| start_replica(&store, options)).collect();
        Self { store, replicas, options }
    }

    /// Does what the client asks for; answers what it waits for.
    fn do_as_asked(&mut self, wish: &str) -> String {
        let words: Vec<&str> = wish.split(' ').collect();
        match words[..] {
            ["kill", "store"] => self.store.kill(),
            ["start", "store"] => self.store.restart(),
            ["kill", "replica", index] => self.replicas[number(index)].kill(),
            ["start", "replica", index] => {
                let replica = start_replica(&self.store, self.options);
                let address = replica.address().to_owned();
                self.replicas[number(index)] = replica;
                return address;
            }
            _ => panic!("the client asks for what nobody knows: {wish}"),
        }
        "done".to_owned()
    }
}

fn start_replica(store: &RedisServer, options: &[&str]) -> Replica {
    let url = store.url();
    Replica::start(&[&["--store", &url, "--log", "error"], options].concat())
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Plays a scenario with so many games; where it says by itself how many, the number does not count.
fn play(scenario: &str, games: u32) {
    play_on(Stage::new(&[]), scenario, games);
}

fn play_on(mut stage: Stage, scenario: &str, games: u32) {
    let stubs = Stubs::make();
    let seed = std::env::var("BANQI_SEED").unwrap_or_else(|_| SEED.to_owned());
    let mut client = stubs.script("play_hosted.py");
    client.args([scenario, &seed, &games.to_string()]);
    client.args(stage.replicas.iter().map(Replica::address));
    let mut client =
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python runs");
    let mut answers = client.stdin.take().expect("its input");
    for line in BufReader::new(client.stdout.take().expect("its output")).lines() {
        let line = line.expect("text");
        println!("{line}");
        if let Some(wish) = line.strip_prefix("launcher: ") {
            let answer = stage.do_as_asked(wish);
            writeln!(answers, "{answer}").expect("the client waits for an answer");
        }
    }
    let status = client.wait().expect("the client ends");
    assert!(status.success(), "{scenario} with BANQI_SEED={seed} failed: see the output above");
}

#[test]
fn two_hundred_random_games_are_the_same_everywhere() {
    play("random_games", 200);
}

#[test]
fn every_preset_is_played_to_its_end() {
    play("presets", 10);
}

#[test]
fn a_killed_replica_loses_nothing() {
    play("replica_killed", 40);
}

#[test]
fn a_killed_store_loses_nothing_and_comes_back() {
    play("store_restarted", 40);
}

#[test]
fn of_many_calls_at_one_etag_one_has_an_effect() {
    play("races", 1);
}

#[test]
fn clocks_are_what_a_client_reckons_them_to_be() {
    play("clocks", 0);
}

#[test]
fn draws_takebacks_and_aborts_come_to_what_they_should() {
    play("offers", 0);
}

#[test]
fn whatever_seats_ask_for_a_client_knows_what_comes_of_it() {
    play("wishes", 40);
}

#[test]
fn a_series_of_rematches_keeps_its_score() {
    play("series", 0);
}

#[test]
fn four_seats_go_on_without_those_who_are_out() {
    play("four_seats", 0);
}

#[test]
fn a_token_that_was_replaced_is_dead() {
    play_on(Stage::new(&["--dev-platform"]), "reissued_tokens", 0);
}

/// Kills replicas and the store in turns while games are played:
/// `BANQI_SOAK_GAMES=5000 cargo test --test hosted_games -- --ignored --nocapture`.
#[test]
#[ignore = "a soak: BANQI_SOAK_GAMES=5000 cargo test --test hosted_games -- --ignored"]
fn a_soak_with_failures_loses_nothing() {
    let games = std::env::var("BANQI_SOAK_GAMES").map_or(1000, |games| {
        games.parse().unwrap_or_else(|error| panic!("BANQI_SOAK_GAMES={games}: {error}"))
    });
    play("soak", games);
}
