//! A primary with two replicas, and three sentinels that watch over them.

use super::{OPTIONS, USER, restrict, start_replica, try_ask, until_says};
use crate::support::redis_server::RedisServer;

pub(crate) struct Sentinels {
    pub(crate) servers: Vec<RedisServer>,
    pub(crate) sentinels: Vec<RedisServer>,
}

impl Sentinels {
    pub(crate) async fn start() -> Self {
        Self::start_with(500).await
    }

    /// Sentinels that take a server for dead after these milliseconds of silence.
    pub(crate) async fn start_with(down_after: u32) -> Self {
        let primary = RedisServer::start_with(&OPTIONS);
        let replicas = [start_replica(&primary, &[]), start_replica(&primary, &[])];
        for replica in &replicas {
            until_says(replica, &["INFO", "replication"], "master_link_status:up").await;
        }
        let configuration = format!(
            "sentinel monitor games 127.0.0.1 {} 2\n\
             sentinel down-after-milliseconds games {down_after}\n\
             sentinel failover-timeout games 3000\n",
            primary.port()
        );
        let sentinels: Vec<_> =
            (0..3).map(|_| RedisServer::start_sentinel(configuration.clone(), &[])).collect();
        for sentinel in &sentinels {
            let names = "slaves=2,sentinels=3";
            until_says(sentinel, &["INFO", "sentinel"], names).await;
        }
        let mut servers = vec![primary];
        servers.extend(replicas);
        for server in &servers {
            restrict(server).await;
        }
        Self { servers, sentinels }
    }

    pub(crate) fn url(&self) -> String {
        let hosts: Vec<String> =
            self.sentinels.iter().map(|it| format!("127.0.0.1:{}", it.port())).collect();
        format!("redis+sentinel://{USER}@{}/games", hosts.join(","))
    }

    pub(crate) fn primary(&self) -> &RedisServer {
        &self.servers[0]
    }

    /// The port of the server that a sentinel says is the primary.
    pub(crate) async fn named(&self) -> Option<u16> {
        let command = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "games"];
        let answer: redis::RedisResult<(String, u16)> = try_ask(&self.sentinels[0], &command).await;
        answer.ok().map(|(_, port)| port)
    }
}
