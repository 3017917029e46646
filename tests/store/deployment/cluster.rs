//! A cluster of three primaries with a replica each.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{OPTIONS, START_LIMIT, USER, ask, restrict, try_ask, until_says};
use crate::support::redis_server::{RedisServer, free_port};

/// How long a primary may say nothing before its replica takes over, in milliseconds.
const NODE_TIMEOUT: &str = "1000";

/// The slots of each primary.
const RANGES: [(&str, &str); 3] = [("0", "5460"), ("5461", "10922"), ("10923", "16383")];

pub(crate) struct Cluster {
    /// Primaries, then the replica of each in the same order.
    pub(crate) nodes: Vec<RedisServer>,
}

impl Cluster {
    pub(crate) async fn start() -> Self {
        let (nodes, buses): (Vec<_>, Vec<_>) = (0..6).map(|_| start_node()).unzip();
        for (place, node) in nodes.iter().enumerate() {
            let epoch = (place + 1).to_string();
            ask::<()>(node, &["CLUSTER", "SET-CONFIG-EPOCH", &epoch]).await;
            if let Some((first, last)) = RANGES.get(place) {
                ask::<()>(node, &["CLUSTER", "ADDSLOTSRANGE", first, last]).await;
            }
            restrict(node).await;
        }
        // Each with each, rather than wait until they have told each other.
        for node in &nodes {
            for (other, bus) in nodes.iter().zip(&buses) {
                let (port, bus) = (other.port().to_string(), bus.to_string());
                ask::<()>(node, &["CLUSTER", "MEET", "127.0.0.1", &port, &bus]).await;
            }
        }
        for node in &nodes {
            until_says(node, &["CLUSTER", "INFO"], "cluster_known_nodes:6").await;
        }
        for (primary, replica) in nodes.iter().zip(&nodes[3..]) {
            let id: String = ask(primary, &["CLUSTER", "MYID"]).await;
            until_does(replica, &["CLUSTER", "REPLICATE", &id]).await;
        }
        for node in &nodes {
            until_says(node, &["CLUSTER", "INFO"], "cluster_state:ok").await;
        }
        for replica in &nodes[3..] {
            until_says(replica, &["INFO", "replication"], "master_link_status:up").await;
        }
        Self { nodes }
    }

    pub(crate) fn url(&self) -> String {
        // Some nodes are enough, and replicas tell the map as well.
        let hosts = [&self.nodes[4], &self.nodes[0]].map(|it| format!("127.0.0.1:{}", it.port()));
        format!("redis+cluster://{USER}@{}", hosts.join(","))
    }

    /// The node that has a key.
    pub(crate) async fn holder(&self, key: &str) -> &RedisServer {
        let deadline = Instant::now() + START_LIMIT;
        loop {
            for node in &self.nodes {
                // Only the primary of the slot runs it rather than send it on.
                if try_ask::<redis::Value>(node, &["EXISTS", key]).await.is_ok() {
                    return node;
                }
            }
            assert!(Instant::now() < deadline, "no node has {key}");
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Moves the slot of a key, with all that is in it, to another primary.
    pub(crate) async fn move_slot(&self, key: &str, to: usize) {
        let (from, to) = (self.holder(key).await, &self.nodes[to]);
        let slot = self.begin_move(key, from, to).await;
        self.end_move(slot, from, to).await;
    }

    /// Begins to move the slot of a key; and says which it is.
    pub(crate) async fn begin_move(
        &self,
        key: &str,
        from: &RedisServer,
        to: &RedisServer,
    ) -> String {
        let slot = ask::<u16>(from, &["CLUSTER", "KEYSLOT", key]).await.to_string();
        let from_id: String = ask(from, &["CLUSTER", "MYID"]).await;
        let to_id: String = ask(to, &["CLUSTER", "MYID"]).await;
        ask::<()>(to, &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id]).await;
        ask::<()>(from, &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id]).await;
        slot
    }

    /// Moves what is left of a slot, and says so to both nodes.
    pub(crate) async fn end_move(&self, slot: String, from: &RedisServer, to: &RedisServer) {
        loop {
            let keys: Vec<String> = ask(from, &["CLUSTER", "GETKEYSINSLOT", &slot, "1"]).await;
            let Some(key) = keys.first() else { break };
            let port = to.port().to_string();
            // One at a time, with a pause, so that calls meet a slot that is half here, half there.
            ask::<()>(from, &["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]).await;
            sleep(Duration::from_millis(10)).await;
        }
        let to_id: String = ask(to, &["CLUSTER", "MYID"]).await;
        for node in [to, from] {
            ask::<()>(node, &["CLUSTER", "SETSLOT", &slot, "NODE", &to_id]).await;
        }
    }
}

fn start_node() -> (RedisServer, u16) {
    let bus = free_port();
    let port = bus.to_string();
    let options = [
        "--cluster-enabled",
        "yes",
        "--cluster-port",
        &port,
        "--cluster-node-timeout",
        NODE_TIMEOUT,
        "--cluster-replica-validity-factor",
        "0",
    ];
    (RedisServer::start_with(&[&OPTIONS[..], &options].concat()), bus)
}

/// Tells a node something until it does it, which it may have to learn more for first.
async fn until_does(node: &RedisServer, command: &[&str]) {
    let deadline = Instant::now() + START_LIMIT;
    while let Err(error) = try_ask::<()>(node, command).await {
        assert!(Instant::now() < deadline, "{command:?}: {error}");
        sleep(Duration::from_millis(20)).await;
    }
}
