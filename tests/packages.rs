//! The clients' packages, as `clients/package` makes and installs them: what their READMEs have one type,
//! their bots, what they promise of calls and watches, the arena, and engines of tournaments.

#[path = "balancer/balancer.rs"]
#[allow(dead_code)]
mod balancer;
#[path = "balancer/network.rs"]
#[allow(dead_code)]
mod network;
mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use balancer::{Balancer, Kind};
use network::Network;
use rstest::rstest;
use support::authority::{Authority, Validity};
use support::python::{ROOT, environment};
use support::redis_server::RedisServer;
use support::replica::Replica;
use tempfile::TempDir;

/// Where `clients/package` has installed a package.
fn installed(name: &str) -> PathBuf {
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../packages").join(name);
    packages.canonicalize().unwrap_or_else(|error| {
        panic!("{}: {error}; run `./test` once, which makes it", packages.display())
    })
}

fn clients() -> PathBuf {
    Path::new(ROOT).join("clients")
}

/// A run of a file of `clients/` with the Python that has nothing but the package, from the wheel or
/// from the source distribution.
fn python_of(package: &str, file: &str) -> Command {
    let mut python = Command::new(installed(package).join("bin/python"));
    python.arg(clients().join(file)).env("PYTHONDONTWRITEBYTECODE", "1");
    python
}

fn python(file: &str) -> Command {
    python_of("python", file)
}

/// A directory in which Node finds the package, and files of `clients/typescript` in it.
fn beside_the_package(directories: &[&str]) -> TempDir {
    let place = TempDir::new().expect("a directory");
    let modules = installed("typescript").join("node_modules");
    std::os::unix::fs::symlink(modules, place.path().join("node_modules")).expect("a link");
    for directory in directories {
        for file in fs::read_dir(clients().join("typescript").join(directory)).expect("it is there")
        {
            let file = file.expect("a file");
            fs::copy(file.path(), place.path().join(file.file_name())).expect("copied");
        }
    }
    place
}

fn node(place: &TempDir, file: &str) -> Command {
    let mut node = Command::new(environment().join("bin/node"));
    node.arg(place.path().join(file));
    node
}

/// What a run tells that succeeds.
fn told(command: &mut Command) -> String {
    succeeded(&command.output().expect("it runs"))
}

fn succeeded(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{told}");
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    told
}

/// The blocks of a language in a README.
fn blocks(readme: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(clients().join(readme)).expect("a README");
    let start = format!("```{language}\n");
    let blocks: Vec<String> = text
        .split(&start)
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("```")?.0.to_owned()))
        .collect();
    assert!(!blocks.is_empty(), "no block of {language} in {readme}");
    blocks
}

#[rstest]
#[case::wheel("python")]
#[case::source_distribution("sdist")]
fn the_quick_start_of_the_python_package_works_as_it_stands(#[case] package: &str) {
    let service = Replica::start(&[]);
    let runs: Vec<String> = blocks("python/README.md", "python")
        .iter()
        .map(|block| {
            let program = block
                .replace("127.0.0.1:50051", service.address())
                .replace("127.0.0.1:50052", service.address());
            let python = installed(package).join("bin/python");
            // From a directory in which there is nothing else, and nothing of the user's.
            let elsewhere = TempDir::new().expect("a directory");
            told(Command::new(python).args(["-I", "-c", &program]).current_dir(&elsewhere))
        })
        .collect();
    let [with_threads, with_asyncio] = &runs[..] else { panic!("two programs: {runs:?}") };
    let events: Vec<&str> =
        with_threads.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(events, ["played", "aborted"], "{with_threads}");
    assert_eq!(with_asyncio, "GAME_NOT_FOUND nobodys\n");
}

#[test]
fn the_quick_start_of_the_typescript_package_works_as_it_stands() {
    let service = Replica::start(&[]);
    let place = beside_the_package(&[]);
    for block in blocks("typescript/README.md", "js") {
        // The game goes on, and Node with the connection.
        let program = block.replace("127.0.0.1:50051", service.address()) + "process.exit(0);\n";
        fs::write(place.path().join("quick_start.mjs"), program).expect("written");
        let told = told(&mut node(&place, "quick_start.mjs"));
        // Seat 2 is to move, after b3 was turned up.
        assert!(told.starts_with("XXXXXXXX/X") && told.contains(" 2 "), "{told}");
        assert!(!told.starts_with("XXXXXXXX/XX"), "{told}");
    }
}

/// Starts a bot that creates a game, and gives the game's id.
fn create(mut bot: Command) -> (Child, String) {
    let mut child = bot.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("it starts");
    let mut output = BufReader::new(child.stdout.take().expect("its output"));
    let mut game = String::new();
    output.read_line(&mut game).expect("text");
    // What it tells at the end is read too, so that it never waits for a reader.
    std::thread::spawn(move || {
        output.lines().for_each(|line| println!("{}", line.unwrap_or_default()))
    });
    (child, game.trim().to_owned())
}

#[test]
fn the_bots_of_the_packages_play_games_to_their_ends() {
    let service = Replica::start(&[]);
    let place = beside_the_package(&["examples"]);
    let python =
        ["python/examples/random_bot.py", "python/examples/greedy_bot.py"].map(self::python);
    let node = ["random_bot.mjs", "greedy_bot.mjs"].map(|file| self::node(&place, file));
    for [mut first, mut second] in [python, node] {
        first.arg(service.address());
        let (mut creator, game) = create(first);
        let end = told(second.arg(service.address()).args(["--game", &game]));
        assert!(end.starts_with("seat 2 winners "), "{end}");
        assert!(creator.wait().expect("it ends").success());
    }
}

/// Runs a script that says `kill` when something is to be done, and waits until it is.
fn while_running(mut script: Command, halfway: impl FnOnce()) -> String {
    let mut child = script
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let first = lines.next().expect("it says when").expect("text");
    assert_eq!(first, "kill");
    halfway();
    writeln!(child.stdin.take().expect("its input"), "killed").expect("it waits");
    let told: Vec<String> = lines.map(|line| line.expect("text")).collect();
    println!("{told:?}");
    assert!(child.wait().expect("it ends").success(), "what did not hold stands above");
    told.join("\n")
}

fn two_replicas(redis: &RedisServer) -> [Replica; 2] {
    [(); 2].map(|()| Replica::start(&["--store", &redis.url()]))
}

#[rstest]
#[case::threads("threads")]
#[case::asyncio("asyncio")]
fn nobody_notices_a_replica_that_dies_under_a_watch_of_the_python_client(#[case] kind: &str) {
    let redis = RedisServer::start();
    let [mut first, second] = two_replicas(&redis);
    let mut script = python("python/tests/watching.py");
    script.arg(kind).args([first.address(), second.address()]);
    let told = while_running(script, || first.kill());
    assert!(told.starts_with("12 watches, "), "{told}");
}

#[test]
fn nobody_notices_a_replica_that_dies_under_a_watch_of_the_typescript_client() {
    let redis = RedisServer::start();
    let network = Network::new();
    let arguments = ["--store", &redis.url()];
    let mut replicas = [0, 1]
        .map(|number| Replica::start_on(network.calls(number), network.probes(number), &arguments));
    // Connect has one address for a service.
    let balancer = Balancer::start(Kind::HaProxy, network, 2, 2);
    balancer.wait_until_it_is_answered();
    let place = beside_the_package(&["tests"]);
    let mut script = node(&place, "watching.mjs");
    script.arg(format!("http://{}", network.balancer()));
    let told = while_running(script, || replicas[0].kill());
    assert!(told.starts_with("12 watches, "), "{told}");
}

#[test]
fn a_call_of_the_python_client_whose_answer_is_lost_has_one_effect() {
    let service = Replica::start(&["--dev-platform"]);
    let told = told(python("python/tests/calls.py").arg(service.address()));
    assert_eq!(told.lines().count(), 2, "{told}");
}

#[test]
fn the_python_client_trusts_whom_it_is_told_to_and_shows_its_key() {
    let directory = TempDir::new().expect("a directory");
    let file = |name: &str, content: &str| {
        let path = directory.path().join(name);
        fs::write(&path, content).expect("written");
        path.display().to_string()
    };
    let authority = Authority::new();
    let identity = authority.issue(&["localhost", "127.0.0.1"], Validity::Now);
    let made = Command::new(env!("CARGO_BIN_EXE_banqi"))
        .args(["key", "--name=bots", "--role=player"])
        .output()
        .expect("it runs");
    let line = succeeded(&made);
    let key = String::from_utf8(made.stderr).expect("text");
    let service = Replica::start(&[
        &format!("--tls-cert={}", file("server.pem", &identity.certificate)),
        &format!("--tls-key={}", file("server.key", &identity.key)),
        &format!("--auth={}", file("keys", &line)),
    ]);
    let mut script = python("python/tests/secured.py");
    script.arg(format!("https://{}", service.address())).arg(file("ca.pem", &authority.pem()));
    assert_eq!(told(script.arg(key.trim())), "TLS and keys\n");
}

#[test]
fn the_deal_vectors_pass_in_the_verifiers_of_the_packages() {
    let vectors = Path::new(ROOT).join("tests/vectors/deals.jsonl");
    let place = beside_the_package(&["tests"]);
    let count = fs::read_to_string(&vectors).expect("vectors").lines().count();
    for mut script in [python("python/tests/deals.py"), node(&place, "deals.mjs")] {
        assert_eq!(told(script.arg(&vectors)), format!("{count} deals\n"));
    }
}

#[test]
fn the_python_package_is_typed() {
    let types = |arguments: &[&str]| {
        let mut mypy = Command::new(installed("python").join("bin/mypy"));
        mypy.arg(format!("--config-file={}", clients().join("python/pyproject.toml").display()));
        // What it remembers is not for the tree.
        told(
            mypy.args(["--strict", "--cache-dir=/dev/null"]).args(arguments).current_dir(clients()),
        )
    };
    assert!(types(&["-p", "banqi_client"]).starts_with("Success"));
    for file in [
        "python/examples/random_bot.py",
        "python/examples/greedy_bot.py",
        "arena/arena.py",
        "arena/cdc_adapter.py",
    ] {
        assert!(types(&[file]).starts_with("Success"), "{file}");
    }
}

/// The score of a match: of each bot its name, points, wins, draws, losses and wins in the first seat.
fn score(told: &str) -> [Vec<String>; 2] {
    let lines: Vec<&str> = told.lines().skip_while(|line| !line.starts_with("bot")).collect();
    [1, 2].map(|line| lines[line].split_whitespace().map(str::to_owned).collect())
}

#[test]
fn the_arena_plays_a_match_of_a_hundred_games() {
    let service = Replica::start(&["--dev-platform"]);
    let mut arena = python("arena/arena.py");
    arena.arg(service.address()).args(["--games=100", "--seed=1"]);
    arena.args(
        ["random_bot.py", "greedy_bot.py"].map(|bot| clients().join("python/examples").join(bot)),
    );
    let told = told(&mut arena);
    let [random, greedy] = score(&told);
    assert_eq!((random[0].as_str(), greedy[0].as_str()), ("random_bot", "greedy_bot"));
    let number = |score: &[String], column: usize| score[column].parse::<f64>().expect("a number");
    assert!((number(&random, 1) + number(&greedy, 1) - 100.0).abs() < 0.1, "{told}");
    // Who takes what he can beats who does not, in either seat.
    assert!(number(&greedy, 2) > 60.0 && number(&greedy, 5) > 25.0, "{told}");
    assert!(number(&greedy, 2) - number(&greedy, 5) > 25.0, "{told}");
    assert_eq!((number(&random, 2), number(&random, 3)), (number(&greedy, 4), number(&greedy, 3)));
}

#[test]
fn in_the_arena_commands_and_engines_play_as_well() {
    let service = Replica::start(&["--dev-platform"]);
    let place = beside_the_package(&["examples"]);
    let python = installed("python").join("bin/python").display().to_string();
    let clients = clients().display().to_string();
    let engine = format!(
        "{python} {clients}/arena/cdc_adapter.py --engine '{python} {clients}/arena/tests/engine.py'"
    );
    let node = environment().join("bin/node").display().to_string();
    let bot = format!("{node} {}", place.path().join("random_bot.mjs").display());
    let mut arena = self::python("arena/arena.py");
    let told = told(arena.arg(service.address()).args([engine, bot]).arg("--games=4"));
    let [engine, bot] = score(&told);
    assert_eq!((engine[1].parse::<f64>().unwrap() + bot[1].parse::<f64>().unwrap()), 4.0, "{told}");
}

/// A game between an engine and a bot; what the adapter and the bot tell of its end.
fn engine_plays(options: &str) -> (Output, String) {
    let service = Replica::start(&[]);
    let mut bot = python("python/examples/random_bot.py");
    bot.arg(service.address());
    let (mut bot, game) = create(bot);
    let engine = clients().join("arena/tests/engine.py");
    let python = installed("python").join("bin/python");
    let output = self::python("arena/cdc_adapter.py")
        .args([service.address(), "--game", &game, "--engine"])
        .arg(format!("{} {} {options}", python.display(), engine.display()))
        .output()
        .expect("it runs");
    assert!(bot.wait().expect("it ends").success());
    let mut export = self::python("arena/tests/export.py");
    (output, told(export.args([service.address(), &game])))
}

#[test]
fn an_engine_of_tournaments_plays_a_whole_game() {
    let (output, record) = engine_plays("");
    assert!(succeeded(&output).contains("seat 2 winners "));
    assert!(record.contains("[Notation \"CDC\"]"), "{record}");
}

#[test]
fn an_engine_that_plays_what_is_forbidden_resigns() {
    let (output, record) = engine_plays("--stubborn");
    let fault = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{fault}");
    assert!(fault.contains("its action `a1 a1` is not allowed"), "{fault}");
    assert!(record.contains("[Reason \"RESIGNATION\"]"), "{record}");
}
