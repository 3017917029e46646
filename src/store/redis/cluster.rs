//! The nodes of a cluster, and who of them has which slots.
//!
//! Kept apart from the client's own cluster support for the same reasons as `link.rs`: that one
//! sends a command again whose answer was lost.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use rand::seq::SliceRandom as _;
use redis::{ErrorKind, RedisError, ServerErrorKind, Value, cmd};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use super::access::{Access, HostPort};
use super::address::host_port;
use super::connection::connect;
use super::deadline::Deadline;
use super::failure::Trouble;
use super::link::{Link, Target};
use super::map::SlotMap;
use super::pause::Pause;
use super::remedy::Unreached;
use super::shared::Shared;
use super::slot::Slot;
use crate::store::StoreError;

/// How often the map is asked for when nobody doubts it, and how seldom when everybody does.
const MAP_EVERY: Duration = Duration::from_secs(10);
const MAP_PAUSE: Duration = Duration::from_millis(100);

/// How long one node may take to tell the map.
const MAP_LIMIT: Duration = Duration::from_millis(500);

/// A cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    nodes: Arc<Nodes>,
    map: watch::Receiver<Arc<SlotMap>>,
    doubted: Arc<Notify>,
    /// Why the map was not told when it was asked for last, if it was not.
    trouble: Arc<Mutex<Option<StoreError>>>,
    /// What the primaries said when they were asked last.
    votes: Shared<Arc<Votes>>,
    _mapper: AbortOnDropHandle<()>,
}

/// A server, and how it is to be asked.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) link: Arc<Link>,
    /// Whether it only takes in the slot, and answers for it only when told so.
    pub(super) asking: bool,
}

/// The way of a command that was sent on.
#[derive(Debug, Default)]
pub(super) struct Detour {
    redirected: bool,
    /// Whether a node is asked only once most say that it has the slot.
    confirmed: bool,
    pause: Pause,
}

impl Detour {
    /// The way of a command that only a node runs of which most say that it has the slot.
    pub(super) fn confirmed() -> Self {
        Self { confirmed: true, ..Self::default() }
    }
}

/// What the primaries of a cluster say of its slots.
#[derive(Debug)]
struct Votes {
    /// How many primaries there are.
    of: usize,
    maps: Vec<SlotMap>,
}

impl Votes {
    /// The server that more than half of the primaries say has a slot.
    fn most(&self, slot: Slot) -> Option<&HostPort> {
        let servers = || self.maps.iter().filter_map(|map| map.server(slot));
        servers().find(|it| 2 * servers().filter(|other| other == it).count() > self.of)
    }
}

impl Cluster {
    /// How long a command waits for a connection to a node before it looks whether another node
    /// has taken over.
    pub(super) const CONNECTION_PATIENCE: Duration = Duration::from_millis(100);

    /// The cluster to which these nodes belong; writes wait for so many replicas.
    pub(super) fn new(
        seeds: Vec<HostPort>,
        access: Arc<Access>,
        replicas: Option<NonZeroU32>,
    ) -> Self {
        let nodes = Arc::new(Nodes { access, replicas, links: Mutex::default() });
        let (publish, map) = watch::channel(Arc::default());
        let doubted = Arc::new(Notify::new());
        let trouble = Arc::default();
        let mapper = Mapper {
            seeds,
            nodes: Arc::clone(&nodes),
            publish,
            doubted: Arc::clone(&doubted),
            trouble: Arc::clone(&trouble),
        };
        let mapper = AbortOnDropHandle::new(tokio::spawn(mapper.keep_mapped()));
        Self { nodes, map, doubted, trouble, votes: Shared::default(), _mapper: mapper }
    }

    pub(super) fn map(&self) -> watch::Receiver<Arc<SlotMap>> {
        self.map.clone()
    }

    /// Says that the map may be out of date.
    pub(super) fn doubt_map(&self) {
        self.doubted.notify_one();
    }

    /// The node that has a slot.
    pub(super) async fn node(&self, slot: Slot, deadline: Deadline) -> Result<Node, StoreError> {
        let server = self.once_known(deadline, |map| map.server(slot).cloned()).await?;
        Ok(self.nodes.node(&server, false))
    }

    /// The node of which more than half of the primaries say since this was called that it has a
    /// slot: so many must have let it take the slot over.
    pub(super) async fn confirmed(
        &self,
        slot: Slot,
        deadline: Deadline,
    ) -> Result<Node, StoreError> {
        let mut pause = Pause::default();
        loop {
            let votes = self.votes.since(Instant::now(), self.poll(deadline));
            let votes = timeout_at(deadline.at(), votes).await;
            let votes = votes.map_err(|_| deadline.no_confirmation())??;
            if let Some(server) = votes.most(slot) {
                return Ok(self.nodes.node(server, false));
            }
            self.doubt_map();
            sleep_until(deadline.within(pause.next())).await;
            if deadline.has_passed() {
                return Err(deadline.no_confirmation());
            }
        }
    }

    /// Asks all primaries who has which slots.
    async fn poll(&self, deadline: Deadline) -> Result<Arc<Votes>, StoreError> {
        let find = |map: &SlotMap| Some(map.servers().to_vec()).filter(|all| !all.is_empty());
        let servers = self.once_known(deadline, find).await?;
        let maps = servers.iter().map(|server| self.nodes.map_of(server));
        let maps = join_all(maps).await.into_iter().flatten().collect();
        Ok(Arc::new(Votes { of: servers.len(), maps }))
    }

    /// All nodes that have slots.
    pub(super) async fn nodes(&self, deadline: Deadline) -> Result<Vec<Node>, StoreError> {
        let servers = |map: &SlotMap| Some(map.servers().to_vec()).filter(|all| !all.is_empty());
        let servers = self.once_known(deadline, servers).await?;
        Ok(servers.iter().map(|server| self.nodes.node(server, false)).collect())
    }

    /// What the map says, waiting until it says something.
    async fn once_known<T>(
        &self,
        deadline: Deadline,
        find: impl Fn(&SlotMap) -> Option<T>,
    ) -> Result<T, StoreError> {
        let mut map = self.map.clone();
        loop {
            if let Some(found) = find(&map.borrow_and_update()) {
                return Ok(found);
            }
            self.doubt_map();
            if timeout_at(deadline.at(), map.changed()).await.is_err() {
                let what = "no node of the cluster that can be reached says who has the slot";
                let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
                return Err(match trouble {
                    Some(error) if !error.is_transient() => error,
                    Some(StoreError::Unavailable { reason, .. }) => {
                        StoreError::not_applied(format_args!("{what}: {reason}"))
                    }
                    _ => StoreError::not_applied(what),
                });
            }
        }
    }

    /// Where a command goes next that a node has not run.
    ///
    /// # Errors
    /// When it may have run it, or would not run elsewhere either, or when the time is over.
    pub(super) async fn after(
        &self,
        trouble: Trouble,
        slot: Slot,
        node: &Node,
        deadline: Deadline,
        detour: &mut Detour,
    ) -> Result<Node, StoreError> {
        let redirection = match &trouble {
            Trouble::Refused(error) => match redirection(error, node) {
                Some(redirection) => Some(redirection),
                None if will_pass(error) => None,
                None => return Err(trouble.into()),
            },
            Trouble::NotSent(error) if error.is_transient() => None,
            Trouble::NotSent(_) | Trouble::Unknown(_) => return Err(trouble.into()),
        };
        if !redirection.as_ref().is_some_and(|node| node.asking) {
            self.doubt_map();
        }
        if matches!(trouble, Trouble::NotSent(_)) && node.link.is_gone() && self.is_at(slot, node) {
            return Err(trouble.into());
        }
        // Nodes may disagree for a moment, and send a command to and fro.
        if redirection.is_none() || std::mem::replace(&mut detour.redirected, true) {
            sleep_until(deadline.within(detour.pause.next())).await;
        }
        if deadline.has_passed() {
            return Err(trouble.into());
        }
        match redirection {
            Some(Redirection { server, asking }) => Ok(self.nodes.node(&server, asking)),
            None if detour.confirmed => self.confirmed(slot, deadline).await,
            None => self.node(slot, deadline).await,
        }
    }

    /// Whether the map says that a node has a slot.
    fn is_at(&self, slot: Slot, node: &Node) -> bool {
        let server = self.map.borrow().server(slot).cloned();
        server.is_some_and(|server| Arc::ptr_eq(&self.nodes.node(&server, false).link, &node.link))
    }
}

/// To whom a node sends a command on.
struct Redirection {
    server: HostPort,
    asking: bool,
}

fn redirection(error: &RedisError, node: &Node) -> Option<Redirection> {
    let (server, _) = error.redirect_node()?;
    let asking = error.kind() == ErrorKind::Server(ServerErrorKind::Ask);
    // A node that does not know its own address names only a port.
    let server = match server.strip_prefix(':') {
        Some(port) => {
            let asked = node.link.map().borrow().servers().first()?.host.clone();
            HostPort { host: asked, port: port.parse().ok()? }
        }
        None => {
            // Without brackets, even where the host is an IPv6 address.
            let (host, port) = server.rsplit_once(':')?;
            let port = port.parse().ok()?;
            host_port(host, port).unwrap_or(HostPort { host: host.into(), port })
        }
    };
    Some(Redirection { server, asking })
}

/// Whether a refusal ends by itself, as slots move or a replica takes over.
fn will_pass(error: &RedisError) -> bool {
    matches!(error.code(), Some("TRYAGAIN" | "CLUSTERDOWN" | "LOADING" | "MASTERDOWN" | "READONLY"))
}

/// A link to each node.
#[derive(Debug)]
struct Nodes {
    access: Arc<Access>,
    /// For how many replicas of a node its writes wait.
    replicas: Option<NonZeroU32>,
    links: Mutex<HashMap<HostPort, Arc<Link>>>,
}

impl Nodes {
    fn node(&self, server: &HostPort, asking: bool) -> Node {
        if let Some(link) = self.links().get(server) {
            return Node { link: Arc::clone(link), asking };
        }
        let target = Target::Server(server.clone());
        let link = Arc::new(Link::new(target, Arc::clone(&self.access), self.replicas));
        let mut links = self.links();
        let link = links.entry(server.clone()).or_insert(link);
        Node { link: Arc::clone(link), asking }
    }

    /// The map as a node tells it.
    async fn map_of(&self, server: &HostPort) -> Option<SlotMap> {
        let deadline = Deadline::after(MAP_LIMIT);
        let link = self.node(server, false).link;
        let answer = link.send(&slots_command(), deadline.at(), deadline).await.ok()?;
        SlotMap::parse(answer, server).ok().filter(|map| !map.servers().is_empty())
    }

    fn links(&self) -> MutexGuard<'_, HashMap<HostPort, Arc<Link>>> {
        // Nothing that holds the lock leaves it half-changed, whatever panics.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What keeps the map.
struct Mapper {
    seeds: Vec<HostPort>,
    nodes: Arc<Nodes>,
    publish: watch::Sender<Arc<SlotMap>>,
    doubted: Arc<Notify>,
    trouble: Arc<Mutex<Option<StoreError>>>,
}

impl Mapper {
    /// Asks for the map, waits until somebody doubts it, and begins again, for ever.
    async fn keep_mapped(self) {
        loop {
            let asked = self.ask_anyone().await;
            *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) =
                asked.as_ref().err().cloned();
            match asked {
                Ok(map) => {
                    // Calls that still use the link of a node that has left finish with it.
                    self.nodes.links().retain(|server, _| map.servers().contains(server));
                    self.publish.send_if_modified(|known| {
                        let news = **known != map;
                        *known = Arc::new(map);
                        news
                    });
                }
                Err(error) => tracing::warn!(%error, "no node of the store's cluster answers"),
            }
            let _ = timeout(MAP_EVERY, self.doubted.notified()).await;
            sleep(MAP_PAUSE.mul_f64(rand::random_range(0.5..=1.0))).await;
        }
    }

    /// The map as one node tells it: one that is connected, or else one of those that were given.
    /// At random, since one that is cut off from the others does not know better.
    async fn ask_anyone(&self) -> Result<SlotMap, StoreError> {
        let links = self.nodes.links().clone();
        let mut connected: Vec<_> =
            links.into_iter().filter(|(_, link)| link.is_connected()).collect();
        connected.shuffle(&mut rand::rng());
        for (server, _) in connected {
            if let Some(map) = self.nodes.map_of(&server).await {
                return Ok(map);
            }
        }
        let mut seeds = self.seeds.clone();
        seeds.shuffle(&mut rand::rng());
        let mut trouble = StoreError::not_applied(
            "no node of the cluster serves any slot; give them slots, as `redis-cli --cluster \
             create` does",
        );
        for seed in seeds {
            match timeout(MAP_LIMIT, self.ask_seed(&seed)).await {
                Ok(Ok(map)) if !map.servers().is_empty() => return Ok(map),
                Ok(Ok(_)) => {}
                Ok(Err(error)) => trouble = error,
                Err(_) => {
                    trouble =
                        StoreError::not_applied(format_args!("{seed} does not answer in time"));
                }
            }
        }
        Err(trouble)
    }

    async fn ask_seed(&self, seed: &HostPort) -> Result<SlotMap, StoreError> {
        let answer: Result<Value, RedisError> = async {
            let mut connection = connect(&self.nodes.access.client(seed).await?, |_| {}).await?;
            slots_command().query_async(&mut connection).await
        }
        .await;
        SlotMap::parse(answer.map_err(|error| Unreached::new(seed, error))?, seed)
    }
}

fn slots_command() -> redis::Cmd {
    let mut command = cmd("CLUSTER");
    command.arg("SLOTS");
    command
}
