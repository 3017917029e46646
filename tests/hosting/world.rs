//! Replicas of the service over one store, and how tests call them.

use std::sync::Arc;
use std::time::Duration;

use banqi::api::WatchPace;
use banqi::api::callers::CallerOptions;
use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use banqi::api::proto::v1::platform_service_client::PlatformServiceClient;
use banqi::api::proto::v1::rules_service_client::RulesServiceClient;
use banqi::server::Config;
use banqi::store::{Options, ShardCount, Store, open};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::support::redis_server::RedisServer;
use crate::support::{PATIENCE, TestServer};

/// Where the games of a test are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Backing {
    /// In this process; the replicas share it.
    Memory,
    /// On a server of the test's own; each replica has its own connections.
    Redis,
}

/// One replica, and a connection to it.
pub(crate) struct Replica {
    pub(crate) server: TestServer,
    pub(crate) channel: Channel,
}

impl Replica {
    /// A replica on a store.
    pub(crate) async fn on(store: Arc<dyn Store>, config: Config) -> Self {
        let server = TestServer::on(store, config).await;
        let channel = server.channel().await;
        Self { server, channel }
    }

    /// Stops it, and waits until it has.
    pub(crate) async fn stop(mut self) {
        drop(self.channel);
        self.server.ask_to_stop();
        self.server.stopped().await;
    }

    pub(crate) fn games(&self) -> GameServiceClient<Channel> {
        GameServiceClient::new(self.channel.clone())
    }

    pub(crate) fn platform(&self) -> PlatformServiceClient<Channel> {
        PlatformServiceClient::new(self.channel.clone())
    }

    pub(crate) fn rules(&self) -> RulesServiceClient<Channel> {
        RulesServiceClient::new(self.channel.clone())
    }

    /// The game as it stands, with its log.
    pub(crate) async fn try_get(&self, id: &str) -> Result<v1::Game, Status> {
        let request =
            v1::GetGameRequest { game_id: id.to_owned(), view: v1::GameView::Full.into() };
        let answer = self.games().get_game(request).await?.into_inner();
        Ok(answer.game.expect("a game"))
    }

    /// The game as it stands, with its log.
    pub(crate) async fn get(&self, id: &str) -> v1::Game {
        self.try_get(id).await.expect("the game is there")
    }

    /// A spectator's watch of a game.
    pub(crate) async fn watch(
        &self,
        id: &str,
        after_etag: &str,
    ) -> Result<tonic::Streaming<v1::WatchGameResponse>, Status> {
        let request = v1::WatchGameRequest {
            game_id: id.to_owned(),
            after_etag: after_etag.to_owned(),
            ..Default::default()
        };
        Ok(self.games().watch_game(request).await?.into_inner())
    }
}

/// Some replicas over one store.
pub(crate) struct World {
    pub(crate) replicas: Vec<Replica>,
    /// The store, to look behind the service's back.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) redis: Option<RedisServer>,
    config: Config,
}

impl World {
    /// Replicas whose callers are trusted.
    pub(crate) async fn start(backing: Backing, replicas: usize) -> Self {
        Self::with(backing, replicas, trusting()).await
    }

    pub(crate) async fn with(backing: Backing, replicas: usize, config: Config) -> Self {
        let (redis, store) = match backing {
            Backing::Memory => (None, open("memory:", options()).await),
            Backing::Redis => {
                let redis = RedisServer::start();
                let store = open(&redis.url(), options()).await;
                (Some(redis), store)
            }
        };
        let store = store.expect("a store");
        let mut world = Self { replicas: Vec::new(), store, redis, config };
        for _ in 0..replicas {
            world.add_replica().await;
        }
        world
    }

    /// One replica more, which has seen nothing yet.
    pub(crate) async fn add_replica(&mut self) -> &Replica {
        let store = match &self.redis {
            None => Arc::clone(&self.store),
            Some(redis) => open(&redis.url(), options()).await.expect("a store"),
        };
        self.replicas.push(Replica::on(store, self.config.clone()).await);
        self.replicas.last().expect("just added")
    }

    /// The first replica.
    pub(crate) fn any(&self) -> &Replica {
        &self.replicas[0]
    }
}

/// Few shards, so that many replicas in one process have little to sweep.
pub(crate) fn options() -> Options {
    Options { shards: ShardCount::new(8).expect("a count of shards"), ..Options::default() }
}

/// A service that trusts its callers, and whose watches are soon over.
pub(crate) fn trusting() -> Config {
    Config {
        callers: CallerOptions { dev_platform: true, ..CallerOptions::default() },
        watching: WatchPace {
            keep_alive: Duration::from_millis(500),
            linger: Duration::from_millis(500),
            recheck: Duration::from_secs(10),
            presence_lifetime: Duration::from_secs(10),
        },
        ..Config::default()
    }
}

/// A random UUID, as creations and joins want it.
pub(crate) fn request_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Asks until the answer is as wanted, and fails when it never is.
pub(crate) async fn eventually<T: std::fmt::Debug, F: Future<Output = T>>(
    what: &str,
    mut ask: impl FnMut() -> F,
    wanted: impl Fn(&T) -> bool,
) -> T {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let answer = ask().await;
        if wanted(&answer) {
            return answer;
        }
        assert!(tokio::time::Instant::now() < deadline, "never {what}: still {answer:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The reason of a refusal, after a look at what every refusal has.
pub(crate) fn reason(status: &Status) -> String {
    let (code, reason, _) = crate::support::refusal(status);
    assert_ne!(code, Code::Ok);
    reason
}
