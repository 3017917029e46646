//! The replica that is flooded, and how it is.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use tokio::time::{sleep, timeout};
use tonic::transport::{Channel, Endpoint};

use crate::support::redis_server::RedisServer;
use crate::support::replica::Replica;
use crate::support::{exchange, memory};

/// How long the replica may take, once a flood is over, to be as it was before.
const CALM: Duration = Duration::from_secs(10);

/// A replica on a store of its own.
pub(crate) struct Target {
    pub(crate) replica: Replica,
    _redis: RedisServer,
}

/// How a replica is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// Bytes of memory that are resident.
    pub(crate) memory: u64,
    /// Files and connections that are open.
    pub(crate) files: usize,
    /// Connections of callers that are open.
    pub(crate) connections: f64,
    /// Calls that have begun and are not over.
    pub(crate) calls: f64,
}

impl Target {
    /// Starts it with these options besides.
    pub(crate) async fn start(options: &[&str]) -> Self {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        let start = move || {
            let redis = RedisServer::start();
            let store = format!("--store={}", redis.url());
            let mut all = vec![store.as_str(), "--shards=16", "--dev-platform", "--log=warn"];
            all.extend(options.iter().map(String::as_str));
            Self { replica: Replica::start(&all), _redis: redis }
        };
        tokio::task::spawn_blocking(start).await.expect("it starts")
    }

    pub(crate) fn address(&self) -> &str {
        self.replica.address()
    }

    /// What a path of the probes answers: its status line and what follows.
    pub(crate) async fn probe(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nhost: probes\r\nconnection: close\r\n\r\n");
        exchange(self.replica.probes(), request.as_bytes()).await
    }

    /// Every sample of `/metrics` by its name and labels.
    pub(crate) async fn metrics(&self) -> BTreeMap<String, f64> {
        let answer = self.probe("/metrics").await;
        let (_, text) = answer.split_once("\r\n\r\n").expect("a body");
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        let read = |line: &str| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        samples.map(|line| read(line).unwrap_or_else(|| panic!("no sample: {line}"))).collect()
    }

    /// The sum of the samples whose names begin so and hold this.
    pub(crate) async fn sum(&self, name: &str, with: &str) -> f64 {
        let metrics = self.metrics().await;
        let chosen = metrics.iter().filter(|(it, _)| it.starts_with(name) && it.contains(with));
        chosen.map(|(_, value)| value).sum()
    }

    pub(crate) async fn state(&self) -> State {
        let process = self.replica.id();
        let begun = self.sum("grpc_server_started_total", "").await;
        State {
            memory: memory(process),
            files: fs::read_dir(format!("/proc/{process}/fd")).expect("it runs").count(),
            connections: self.metrics().await["banqi_connections"],
            calls: begun - self.sum("grpc_server_handled_total", "").await,
        }
    }

    /// Waits until nothing of a flood is left, which the service never took for a fault of its own.
    pub(crate) async fn until_calm(&self, before: State) -> State {
        let faults = self.sum("banqi_refused_calls_total", "reason=\"INTERNAL\"").await;
        assert_eq!(faults, 0.0, "calls were answered with INTERNAL");
        self.until("nothing is left of it", CALM, async || {
            let state = self.state().await;
            let is_calm = state.connections <= before.connections
                && state.calls <= before.calls
                // The store's connections, and those of a probe that is closing.
                && state.files <= before.files + 4;
            is_calm.then_some(state).ok_or_else(|| format!("{state:?}, before {before:?}"))
        })
        .await
    }

    /// Waits until something holds.
    pub(crate) async fn until<T>(
        &self,
        what: &str,
        limit: Duration,
        holds: impl AsyncFn() -> Result<T, String>,
    ) -> T {
        let mut last = String::new();
        let poll = async {
            loop {
                match holds().await {
                    Ok(value) => break value,
                    Err(told) => last = told,
                }
                sleep(Duration::from_millis(50)).await;
            }
        };
        match timeout(limit, poll).await {
            Ok(value) => value,
            Err(_) => panic!("{what} within {limit:?}: {last}"),
        }
    }

    /// A connection of a client that keeps to the rules.
    pub(crate) async fn channel(&self) -> Channel {
        let uri = format!("http://{}", self.address());
        Endpoint::from_shared(uri).expect("a URI").connect().await.expect("a connection")
    }

    /// A game of two seats.
    pub(crate) async fn create(&self) -> v1::Game {
        create(&mut GameServiceClient::new(self.channel().await)).await
    }
}

/// A game of two seats.
pub(crate) async fn create(games: &mut GameServiceClient<Channel>) -> v1::Game {
    let seat = v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..Default::default() };
    let request = v1::CreateGameRequest { seats: vec![seat; 2], ..Default::default() };
    let answer = games.create_game(request).await.expect("created");
    answer.into_inner().game.expect("a game")
}
