//! Three replicas on one real Redis, and ways to them.

use banqi::api::callers::CallerOptions;
use banqi::server::Config;
use banqi::store::{Options, ShardCount, open};
use tonic::transport::Endpoint;

use crate::call::{Games, games};
use crate::lane::Lane;
use crate::proxy::Proxy;
use crate::support::TestServer;
use crate::support::redis_server::RedisServer;

/// How many replicas there are.
pub(crate) const REPLICAS: usize = 3;

/// Replicas that trust their callers, each with its own connections to the store.
pub(crate) struct World {
    servers: Vec<TestServer>,
    /// Held until the end.
    _redis: RedisServer,
}

impl World {
    pub(crate) async fn start() -> Self {
        let redis = RedisServer::start();
        let mut servers = Vec::new();
        for _ in 0..REPLICAS {
            let shards = ShardCount::new(8).expect("a count of shards");
            let options = Options { shards, ..Options::default() };
            let store = open(&redis.url(), options).await.expect("a store");
            let callers = CallerOptions { dev_platform: true, ..CallerOptions::default() };
            servers.push(TestServer::on(store, Config { callers, ..Config::default() }).await);
        }
        Self { servers, _redis: redis }
    }

    /// Connections that nothing cuts.
    pub(crate) async fn direct(&self) -> Vec<Games> {
        let mut clients = Vec::new();
        for server in &self.servers {
            clients.push(games(server.channel().await));
        }
        clients
    }

    /// Connections of one client through proxies of its own.
    pub(crate) async fn lanes(&self) -> Vec<Lane> {
        let mut lanes = Vec::new();
        for server in &self.servers {
            let proxy = Proxy::to(server.grpc).await;
            let endpoint = Endpoint::from_shared(format!("http://{}", proxy.address));
            let channel = endpoint.expect("a URI").connect_lazy();
            lanes.push(Lane { proxy, client: games(channel) });
        }
        lanes
    }
}
