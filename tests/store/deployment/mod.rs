//! Redis in every set-up that a store can be on, each reached by a user that has only the rights
//! that `docs/operations.md` lists.

mod certificates;
mod cluster;
mod sentinels;

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue, Value};
use tokio::time::{Instant, sleep};

pub(crate) use self::certificates::Certificates;
pub(crate) use self::cluster::Cluster;
pub(crate) use self::sentinels::Sentinels;
use crate::support::redis_server::RedisServer;

const OPERATIONS: &str = include_str!("../../../docs/operations.md");

/// Options of servers that keep nothing on disk, and whose replicas follow at once.
const OPTIONS: [&str; 6] = ["--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"];

/// How long servers may take to find each other.
const START_LIMIT: Duration = Duration::from_secs(30);

/// What is behind a store.
pub(crate) enum Deployment {
    Server(RedisServer),
    Restricted(RedisServer),
    Encrypted { server: RedisServer, certificates: Certificates, port: u16 },
    Sentinels(Sentinels),
    Cluster(Cluster),
}

impl Deployment {
    pub(crate) async fn server() -> Self {
        Self::Server(RedisServer::start())
    }

    pub(crate) async fn restricted() -> Self {
        let server = RedisServer::start();
        restrict(&server).await;
        Self::Restricted(server)
    }

    pub(crate) async fn encrypted() -> Self {
        let certificates = Certificates::make();
        let (server, port) = certificates.start_server(&OPTIONS);
        Self::Encrypted { server, certificates, port }
    }

    pub(crate) async fn sentinels() -> Self {
        Self::Sentinels(Sentinels::start().await)
    }

    pub(crate) async fn cluster() -> Self {
        Self::Cluster(Cluster::start().await)
    }

    /// The address for a store.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Server(server) => server.url(),
            Self::Restricted(server) => format!("redis://{USER}@127.0.0.1:{}", server.port()),
            Self::Encrypted { certificates, port, .. } => {
                format!("rediss://localhost:{port}?{}", certificates.options())
            }
            Self::Sentinels(sentinels) => sentinels.url(),
            Self::Cluster(cluster) => cluster.url(),
        }
    }

    /// A plain connection to the server that has a key, to look behind the store's back.
    pub(crate) async fn holder(&self, key: &str) -> MultiplexedConnection {
        match self {
            Self::Server(server) | Self::Restricted(server) | Self::Encrypted { server, .. } => {
                server.connection().await
            }
            Self::Sentinels(sentinels) => sentinels.primary().connection().await,
            Self::Cluster(cluster) => cluster.holder(key).await.connection().await,
        }
    }
}

/// The credentials of the user that [`restrict`] makes.
pub(crate) const USER: &str = "banqi:s%3Ecret";

/// Gives a server a user that may do what the documentation says it must, and no more.
pub(crate) async fn restrict(server: &RedisServer) {
    let (_, rest) = OPERATIONS.split_once("\nACL SETUSER banqi ").expect("it is documented");
    let rule: Vec<String> = rest
        .lines()
        .take_while(|line| !line.starts_with("```"))
        .flat_map(str::split_whitespace)
        .map(|rule| match rule {
            ">PASSWORD" => ">s>cret".into(),
            // Tests share a server by namespaces.
            "~banqi:*" => "~*:banqi:*".into(),
            "&banqi:*" => "&*:banqi:*".into(),
            rule => rule.into(),
        })
        .collect();
    let mut command = vec!["ACL", "SETUSER", "banqi"];
    command.extend(rule.iter().map(String::as_str));
    ask::<()>(server, &command).await;
}

/// What a server answers.
pub(crate) async fn ask<T: FromRedisValue>(server: &RedisServer, command: &[&str]) -> T {
    try_ask(server, command).await.unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

pub(crate) async fn try_ask<T: FromRedisValue>(
    server: &RedisServer,
    command: &[&str],
) -> redis::RedisResult<T> {
    let mut connection = server.client().get_multiplexed_async_connection().await?;
    redis::cmd(command[0]).arg(&command[1..]).query_async(&mut connection).await
}

/// Waits until a server says something of itself.
pub(crate) async fn until_says(server: &RedisServer, command: &[&str], what: &str) {
    let deadline = Instant::now() + START_LIMIT;
    loop {
        let answer: redis::RedisResult<Value> = try_ask(server, command).await;
        let told = match &answer {
            Ok(Value::BulkString(text)) => String::from_utf8_lossy(text).into_owned(),
            answer => format!("{answer:?}"),
        };
        if told.contains(what) {
            return;
        }
        assert!(Instant::now() < deadline, "{command:?} never told {what}: {told}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Starts a replica of a server.
pub(crate) fn start_replica(of: &RedisServer, options: &[&str]) -> RedisServer {
    let port = of.port().to_string();
    RedisServer::start_with(&[&OPTIONS[..], options, &["--replicaof", "127.0.0.1", &port]].concat())
}
