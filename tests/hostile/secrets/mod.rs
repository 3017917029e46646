//! Nothing that replicas log, measure, answer as an error or print has a secret in it, though they log
//! all that they can while the store fails them and callers make every mistake.

mod scanner;

use std::fs::{File, read};
use std::process::Command;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use banqi::api::proto::v1::platform_service_client::PlatformServiceClient;
use banqi::game::{DealSource, GameId};
use banqi::store::codec::{RecordCodec, RecordFormat, SealKeys};
use banqi::store::{Options, ShardCount, open};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rand::RngExt as _;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use uuid::Uuid;

use self::scanner::{Secret, scan};
use crate::support::exchange;
use crate::support::redis_server::RedisServer;
use crate::support::replica::Replica;

/// How long games are played while the store's connections are cut.
const PLAY: Duration = Duration::from_secs(5);

/// Everything that our own code has to say.
const LOG: &str = "--log=banqi=trace,tower_http=trace,warn";

/// Replicas with every kind of secret, and what they have told.
struct World {
    directory: TempDir,
    redis: RedisServer,
    store: String,
    api_key: String,
    replicas: Vec<Replica>,
    secrets: Vec<Secret>,
    /// What callers were told that something is wrong.
    errors: Vec<u8>,
    random: rand::rngs::ThreadRng,
}

/// Runs our command; answers all that it prints.
fn printed(arguments: &[&str], environment: &[(&str, &str)]) -> (Vec<u8>, Vec<u8>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
    let output = command.args(arguments).envs(environment.iter().copied()).output();
    let output = output.expect("the command runs");
    (output.stdout, output.stderr)
}

fn as_caller<T>(message: T, key: &str) -> Request<T> {
    let mut request = Request::new(message);
    let value: MetadataValue<_> = key.parse().expect("a value");
    request.metadata_mut().insert("x-api-key", value);
    request
}

fn with_token<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    let value: MetadataValue<_> = format!("Bearer {token}").parse().expect("a value");
    request.metadata_mut().insert("authorization", value);
    request
}

impl World {
    async fn start() -> Self {
        let directory = TempDir::new().expect("a directory");
        let password = Uuid::new_v4().simple().to_string();
        let redis = RedisServer::start();
        let mut connection = redis.connection().await;
        let set = redis::cmd("CONFIG").arg("SET").arg("requirepass").arg(&password).to_owned();
        set.query_async::<()>(&mut connection).await.expect("set");
        let store = format!("redis://:{password}@127.0.0.1:{}", redis.port());

        let (entry, key) = printed(&["key", "--name", "lobby", "--role", "platform"], &[]);
        let api_key = String::from_utf8(key).expect("text").trim().to_owned();
        let (service_key, seal_key): ([u8; 32], [u8; 32]) = (rand::random(), rand::random());
        for (name, content) in [
            ("keys", entry),
            ("service-key", STANDARD.encode(service_key).into_bytes()),
            ("seal-keys", STANDARD.encode(seal_key).into_bytes()),
        ] {
            std::fs::write(directory.path().join(name), content).expect("written");
        }
        let secrets = vec![
            Secret::text("the password of Redis", &password),
            Secret::text("the API key", &api_key),
            Secret::text("the service key", &STANDARD.encode(service_key)),
            Secret::text("the sealing key", &STANDARD.encode(seal_key)),
        ];
        let mut world = Self {
            directory,
            redis,
            store,
            api_key,
            replicas: Vec::new(),
            secrets,
            errors: Vec::new(),
            random: rand::rng(),
        };
        for number in 0..2 {
            world.replicas.push(world.replica(&format!("log-{number}")));
        }
        world
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    /// Another replica, which logs to a file of this name.
    fn replica(&self, log: &str) -> Replica {
        let [keys, service_key, seal_keys] =
            [("auth", "keys"), ("service-key", "service-key"), ("seal-keys", "seal-keys")]
                .map(|(option, file)| format!("--{option}={}", self.path(file)));
        let options = ["--shards=16", "--record-format=2", LOG, &keys, &service_key, &seal_keys];
        let log = File::create(self.path(log)).expect("a file");
        Replica::start_logging(log, &[("BANQI_STORE", &self.store)], &options)
    }

    fn channel(&mut self) -> Channel {
        let number = self.random.random_range(0..self.replicas.len());
        let uri = format!("http://{}", self.replicas[number].address());
        Endpoint::from_shared(uri).expect("a URI").connect_lazy()
    }

    fn games(&mut self) -> GameServiceClient<Channel> {
        GameServiceClient::new(self.channel())
    }

    fn keep<T>(&mut self, answer: Result<T, Status>) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(status) => {
                self.errors.extend(format!("{status:?}\n{}\n", status.message()).into_bytes());
                self.errors.extend(status.details());
                None
            }
        }
    }

    /// A game, and the tokens of its seats; its seats are assigned or joined.
    async fn create(&mut self, is_open: bool) -> (String, Vec<String>) {
        let request_id = Uuid::new_v4().to_string();
        self.secrets.push(Secret::text("the request id of a creation", &request_id));
        let claim = if is_open { v1::SeatClaim::Open } else { v1::SeatClaim::Assigned };
        let seat = v1::NewSeat { claim: claim.into(), ..Default::default() };
        let request =
            v1::CreateGameRequest { seats: vec![seat; 2], request_id, ..Default::default() };
        let request = as_caller(request, &self.api_key);
        let created = self.games().create_game(request).await.expect("created").into_inner();
        let id = created.game.expect("a game").game_id;
        let mut tokens: Vec<_> = created.seat_tokens.into_iter().map(|it| it.token).collect();
        for seat in 1..=if is_open { 2 } else { 0 } {
            let request_id = Uuid::new_v4().to_string();
            self.secrets.push(Secret::text("the request id of a join", &request_id));
            let request =
                v1::JoinGameRequest { game_id: id.clone(), seat, request_id, ..Default::default() };
            let request = as_caller(request, &self.api_key);
            let joined = self.games().join_game(request).await.expect("joined").into_inner();
            tokens.push(joined.seat_token);
        }
        let secrets = tokens.iter().map(|token| Secret::text("a seat token", token));
        self.secrets.extend(secrets);
        (id, tokens)
    }

    /// Plays an action, or tries to.
    async fn play(&mut self, id: &str, tokens: &[String]) -> bool {
        let get = v1::GetGameRequest { game_id: id.to_owned(), ..Default::default() };
        let answer = self.games().get_game(with_token(get, &tokens[0])).await;
        let Some(answer) = self.keep(answer) else { return false };
        let game = answer.into_inner().game.expect("a game");
        let Some(action) = game.legal_actions.first() else { return false };
        let seat = game.position.as_ref().expect("a position").to_move;
        let token = tokens[seat as usize - 1].clone();
        let mut request = v1::PlayActionRequest {
            game_id: id.to_owned(),
            action: action.text.clone(),
            request_id: Uuid::new_v4().to_string(),
            ..Default::default()
        };
        let answer = if self.random.random() {
            self.games().play_action(with_token(request, &token)).await
        } else {
            request.seat_token = token;
            self.games().play_action(request).await
        };
        self.keep(answer).is_some()
    }

    /// Makes mistakes with credentials that are right elsewhere, or nearly right.
    async fn err(&mut self, id: &str, tokens: &[String], others: &[String]) {
        let play = |action: &str, seat_token: &str| v1::PlayActionRequest {
            game_id: id.to_owned(),
            action: action.to_owned(),
            seat_token: seat_token.to_owned(),
            request_id: "936da01f-9abd-4d9d-80c7-02af85c822a8".to_owned(),
            ..Default::default()
        };
        let nearly = format!("{}A", tokens[0]);
        for token in [&tokens[0], &tokens[1], &others[0], &nearly, &self.api_key.clone()] {
            for action in ["a1-a1", "zz", "h4-a1"] {
                let answer = self.games().play_action(play(action, token)).await;
                self.keep(answer);
                let answer = self.games().play_action(with_token(play(action, ""), token)).await;
                self.keep(answer);
            }
            let list = v1::ListGamesRequest { player_id: "anna".to_owned(), ..Default::default() };
            let answer = self.games().list_games(with_token(list.clone(), token)).await;
            self.keep(answer);
            let answer = self.games().list_games(as_caller(list, &format!("{token}x"))).await;
            self.keep(answer);
        }
    }
}

/// The key and the seed of a game, as they stand in the sealed record.
async fn stored_secrets(world: &World, id: &str) -> Vec<Secret> {
    let text = String::from_utf8(read(world.path("seal-keys")).expect("keys")).expect("text");
    let keys = SealKeys::read(&text).expect("keys");
    let records = RecordCodec::new(RecordFormat::Two, Some(keys)).expect("there are keys");
    let shards = ShardCount::new(16).expect("a count of shards");
    let options = Options { shards, records: records.clone(), ..Options::default() };
    let store = open(&world.store, options).await.expect("a store");
    let id: GameId = id.parse().expect("an id");
    let record = store.load(&id).await.expect("an answer").expect("a record");
    let facts = records.read(&id, &record).expect("a game").facts;
    let DealSource::Derived(seed) = &facts.deal else { panic!("{id} was dealt by the service") };
    vec![
        Secret::bytes("the key of a game", facts.key.expose()),
        Secret::bytes("the seed of a deal", seed.expose()),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_is_logged_measured_told_in_an_error_or_printed() {
    let mut world = World::start().await;
    let mut games = Vec::new();
    for number in 0..6 {
        games.push(world.create(number % 2 == 0).await);
    }
    let request =
        v1::IssuePlayerTokenRequest { player_id: "anna".to_owned(), ..Default::default() };
    let request = as_caller(request, &world.api_key);
    let mut platform = PlatformServiceClient::new(world.channel());
    let issued = platform.issue_player_token(request).await.expect("issued").into_inner();
    world.secrets.push(Secret::text("a player token", &issued.token));

    let client = redis::Client::open(world.store.clone()).expect("an address");
    let mut connection = client.get_multiplexed_async_connection().await.expect("it answers");
    let (begun, mut played, mut rounds) = (Instant::now(), 0, 0);
    while begun.elapsed() < PLAY || rounds < 12 {
        for (number, (id, tokens)) in games.iter().enumerate() {
            played += usize::from(world.play(id, tokens).await);
            if rounds % 4 == 0 {
                let (_, others) = &games[(number + 1) % games.len()];
                world.err(id, tokens, others).await;
            }
        }
        let list = v1::ListGamesRequest { player_id: "bert".to_owned(), ..Default::default() };
        let answer = world.games().list_games(with_token(list, &issued.token)).await;
        assert!(world.keep(answer).is_none(), "another player's list");
        let kill =
            redis::cmd("CLIENT").arg(&["KILL", "TYPE", "normal", "SKIPME", "yes"]).to_owned();
        kill.query_async::<u64>(&mut connection).await.expect("connections are cut");
        if rounds == 3 {
            // Longer than a call of the store may take.
            let pause = redis::cmd("CLIENT").arg(&["PAUSE", "2500", "ALL"]).to_owned();
            pause.query_async::<()>(&mut connection).await.expect("it pauses");
        }
        if rounds == 6 {
            world.replicas[1].kill();
            world.replicas[1] = world.replica("log-2");
        }
        rounds += 1;
        sleep(Duration::from_millis(50)).await;
    }
    for (id, _) in &games {
        let more = stored_secrets(&world, id).await;
        world.secrets.extend(more);
    }

    let mut told: Vec<(String, Vec<u8>)> = vec![("errors".to_owned(), world.errors.clone())];
    let request = b"GET /metrics HTTP/1.1\r\nhost: probes\r\nconnection: close\r\n\r\n";
    for replica in &world.replicas {
        let metrics = exchange(replica.probes(), request).await;
        told.push(("metrics".to_owned(), metrics.into_bytes()));
    }
    let environment = [("BANQI_STORE", world.store.as_str()), ("BANQI_API_KEY", &world.api_key)];
    let unreachable = world.store.replace(&world.redis.port().to_string(), "1");
    let wrong = world.store.replace("redis://", "redis+nonsense://");
    for arguments in [
        &["serve", "--help"][..],
        &["bench", "load", "--help"],
        &["verify", "--help"],
        &["serve", "--listen=127.0.0.1:0", "--store", &unreachable],
        &["serve", "--listen=127.0.0.1:0", "--store", &wrong],
        // A sealed store without keys is served, and a wrong option is told.
        &["serve", "--shards=0"],
    ] {
        let (out, err) = printed(arguments, &environment);
        assert!(!out.is_empty() || !err.is_empty(), "{arguments:?} says something");
        told.push((arguments[..2].join(" "), [out, err].concat()));
    }
    for replica in &mut world.replicas {
        replica.stop();
    }
    for number in 0..3 {
        let log = read(world.path(&format!("log-{number}"))).expect("a log");
        let lines = log.split(|byte| *byte == b'\n').count();
        assert!(lines > 50, "log {number} has {lines} lines");
        told.push((format!("log {number}"), log));
    }
    let bytes: usize = told.iter().map(|(_, it)| it.len()).sum();
    println!(
        "{played} actions, {} secrets looked for in {bytes} bytes of {} sources",
        world.secrets.len(),
        told.len()
    );
    assert!(played > 20 && !world.errors.is_empty(), "{played} actions");
    for (source, told) in &told {
        let found = scan(&world.secrets, told);
        assert!(found.is_empty(), "{source} tells: {found:#?}");
    }
    // The scan finds what a replica would have let slip.
    let slip = format!("a call with {} came in\n", games[0].1[0]);
    assert_eq!(scan(&world.secrets, slip.as_bytes())[0].0, "a seat token");
}
