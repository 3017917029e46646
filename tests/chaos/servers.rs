//! The servers that a store is on, and what befalls them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use tokio::task::block_in_place;
use tokio::time::{Instant, sleep};

use crate::deployment::{Cluster, Sentinels, ask, restrict, try_ask, until_says};
use crate::network::{Network, Weather};
use crate::plan::{Case, Fault, millis};
use crate::replicas::COUNT;
use crate::support::redis_server::RedisServer;
use crate::support::signal;

/// How long an election may take, and all sentinels to hear of it: the last of three has taken more than
/// half a minute on a machine with much else to do.
const ELECTION: Duration = Duration::from_mins(2);

/// After how long a sentinel that does not follow the others is set right.
const LAGGARD: Duration = Duration::from_secs(20);

/// After how many milliseconds of silence sentinels take a server for dead: a busy machine must not
/// look like one.
const DOWN_AFTER: u32 = 2_000;

const NAMED: [&str; 3] = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "games"];

/// What is behind the store of all replicas.
pub(crate) enum Servers {
    /// One server that writes to disk before it answers, reached by each replica over its own network.
    One {
        server: Box<RedisServer>,
        networks: Arc<[Network; COUNT]>,
    },
    Sentinels(Sentinels),
    Cluster(Cluster),
}

impl Servers {
    pub(crate) async fn start(case: Case) -> Self {
        match case {
            Case::OneServer => {
                let server = Box::new(RedisServer::start_durable());
                let port = server.port();
                let networks =
                    [Network::to(port).await, Network::to(port).await, Network::to(port).await];
                Self::One { server, networks: Arc::new(networks) }
            }
            Case::Sentinels => Self::Sentinels(Sentinels::start_with(DOWN_AFTER).await),
            Case::Cluster => Self::Cluster(Cluster::start().await),
        }
    }

    /// The options with which each replica reaches its store.
    pub(crate) fn options(&self) -> [Vec<String>; COUNT] {
        std::array::from_fn(|replica| match self {
            Self::One { networks, .. } => vec![format!("--store={}", networks[replica].url())],
            Self::Sentinels(servers) => durable(servers.url()),
            Self::Cluster(cluster) => durable(cluster.url()),
        })
    }

    /// Lets a fault happen, and waits until it is over: nothing is left of it but what it has done.
    /// Answers when a primary that had been replaced went on without knowing, if one did.
    pub(crate) async fn suffer(
        &mut self,
        fault: Fault,
        random: &mut Xoshiro256PlusPlus,
    ) -> Option<Instant> {
        match self {
            Self::One { server, networks } => one(server, networks, fault, random).await,
            Self::Sentinels(servers) => return sentinels(servers, fault, random).await,
            Self::Cluster(servers) => cluster(servers, fault, random).await,
        }
        None
    }
}

fn durable(url: String) -> Vec<String> {
    vec![format!("--store={url}"), "--namespace=t".into(), "--durability=1".into()]
}

async fn one(
    server: &mut RedisServer,
    networks: &[Network; COUNT],
    fault: Fault,
    random: &mut Xoshiro256PlusPlus,
) {
    let (weather, length) = match fault {
        Fault::RestartServer => {
            server.kill();
            sleep(millis(random, 100..800)).await;
            return block_in_place(|| server.restart());
        }
        Fault::Cut => (Weather::Cut, millis(random, 200..1_000)),
        Fault::Slow => (Weather::Slow(millis(random, 20..150)), millis(random, 500..1_500)),
        Fault::HalfClose => (Weather::HalfClosed, millis(random, 200..1_500)),
        Fault::Silence => (Weather::Silent, millis(random, 1_000..2_500)),
        other => panic!("{other:?} does not befall one server"),
    };
    // One replica, or all of them.
    let whom = random.random_range(0..=COUNT);
    let befallen = networks.iter().enumerate().filter(|(at, _)| whom == COUNT || *at == whom);
    let befallen: Vec<&Network> = befallen.map(|(_, network)| network).collect();
    befallen.iter().for_each(|network| network.turn(weather));
    sleep(length).await;
    befallen.iter().for_each(|network| network.turn(Weather::Fair));
}

async fn sentinels(
    servers: &mut Sentinels,
    fault: Fault,
    random: &mut Xoshiro256PlusPlus,
) -> Option<Instant> {
    let mut went_on = None;
    let port = servers.named().await.expect("the sentinels name a primary");
    let at = servers.servers.iter().position(|server| server.port() == port).expect("one of them");
    match fault {
        Fault::CutConnections => {
            cut_connections(&servers.servers[at]).await;
            return None;
        }
        Fault::Failover => {
            servers.servers[at].kill();
            until_another(servers, port).await;
            block_in_place(|| servers.servers[at].restart());
            restrict(&servers.servers[at]).await;
        }
        Fault::Freeze => {
            let process = servers.servers[at].id();
            signal(process, "STOP");
            until_another(servers, port).await;
            went_on = Some(Instant::now());
            signal(process, "CONT");
            // It does not know yet, and takes what it is still asked to write.
            sleep(millis(random, 200..1_000)).await;
        }
        other => panic!("{other:?} does not befall servers under sentinels"),
    }
    follow(servers).await;
    went_on
}

/// Waits until all servers follow the new primary itself, and not one another: whichever of them takes
/// over next has what it had told the primary it has.
async fn follow(servers: &Sentinels) {
    let port = servers.named().await.expect("a primary");
    let (primary, others): (Vec<_>, Vec<_>) =
        servers.servers.iter().partition(|server| server.port() == port);
    let port = port.to_string();
    for other in &others {
        // The sentinels would say so as well, but wait for 10 seconds.
        ask::<()>(other, &["REPLICAOF", "127.0.0.1", &port]).await;
    }
    for other in others {
        until_says(other, &["INFO", "replication"], "master_link_status:up").await;
        let online = format!("port={},state=online", other.port());
        until_says(primary[0], &["INFO", "replication"], &online).await;
    }
}

/// Waits until all sentinels name one and the same primary, another than this one, and it is one.
/// A sentinel that does not come to name what the two others do is set right, as whoever runs it would.
async fn until_another(servers: &Sentinels, than: u16) {
    let begun = Instant::now();
    let next = loop {
        let mut names = BTreeMap::<u16, usize>::new();
        let mut told = Vec::new();
        for sentinel in &servers.sentinels {
            let (_, port): (String, u16) = ask(sentinel, &NAMED).await;
            *names.entry(port).or_default() += 1;
            told.push((sentinel, port));
        }
        let (&next, &count) = names.iter().max_by_key(|(_, count)| **count).expect("three answers");
        if next != than && count == told.len() {
            break next;
        }
        assert!(begun.elapsed() < ELECTION, "{names:?} are named, after {than}");
        let laggard = told.iter().find(|(_, port)| *port != next);
        if let Some((sentinel, port)) = laggard
            && next != than
            && count > 1
            && begun.elapsed() > LAGGARD
        {
            let thought: redis::Value = ask(sentinel, &["SENTINEL", "MASTER", "games"]).await;
            println!("a sentinel that named {port} is told of {next}; it thought {thought:?}");
            set_right(sentinel, next).await;
        }
        sleep(Duration::from_millis(20)).await;
    };
    let next = servers.servers.iter().find(|server| server.port() == next).expect("one of them");
    until_says(next, &["INFO", "replication"], "role:master").await;
}

/// Makes a sentinel forget what it knows, and follow this primary.
async fn set_right(sentinel: &RedisServer, primary: u16) {
    let (primary, down_after) = (primary.to_string(), DOWN_AFTER.to_string());
    ask::<()>(sentinel, &["SENTINEL", "REMOVE", "games"]).await;
    ask::<()>(sentinel, &["SENTINEL", "MONITOR", "games", "127.0.0.1", &primary, "2"]).await;
    let set = ["SENTINEL", "SET", "games"];
    let options = ["down-after-milliseconds", &down_after, "failover-timeout", "3000"];
    ask::<()>(sentinel, &[&set[..], &options].concat()).await;
    until_says(sentinel, &["INFO", "sentinel"], "sentinels=3").await;
}

async fn cluster(cluster: &mut Cluster, fault: Fault, random: &mut Xoshiro256PlusPlus) {
    let key = format!("t:banqi:{{{:04}}}:clock", random.random_range(0..crate::SHARDS));
    let port = cluster.holder(&key).await.port();
    let at = cluster.nodes.iter().position(|node| node.port() == port).expect("one of them");
    match fault {
        Fault::CutConnections => cut_connections(&cluster.nodes[at]).await,
        Fault::Failover => {
            cluster.nodes[at].kill();
            // Its replica has taken over.
            cluster.holder(&key).await;
            block_in_place(|| cluster.nodes[at].restart());
            let node = &cluster.nodes[at];
            restrict(node).await;
            until_says(node, &["INFO", "replication"], "master_link_status:up").await;
            until_says(node, &["CLUSTER", "INFO"], "cluster_state:ok").await;
        }
        Fault::MoveSlot => {
            let mut others = Vec::new();
            for (place, node) in cluster.nodes.iter().enumerate().filter(|(it, _)| *it != at) {
                let told: redis::RedisResult<String> =
                    try_ask(node, &["INFO", "replication"]).await;
                if told.is_ok_and(|told| told.contains("role:master")) {
                    others.push(place);
                }
            }
            cluster.move_slot(&key, others[random.random_range(0..others.len())]).await;
        }
        other => panic!("{other:?} does not befall a cluster"),
    }
}

/// Ends all connections of the service to a server, again and again for a while. Those of sentinels
/// stay: without them they would let another server take over from one that is well.
async fn cut_connections(server: &RedisServer) {
    for _ in 0..10 {
        ask::<u64>(server, &["CLIENT", "KILL", "USER", "banqi"]).await;
        sleep(Duration::from_millis(50)).await;
    }
}
