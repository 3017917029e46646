//! The servers of a store: one, the primary that sentinels name, or the nodes of a cluster. What
//! is the same for all of them is here; what is not stands in `link.rs` and `cluster.rs`.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{select_ok, try_join_all};
use redis::{
    Client, Cmd, ErrorKind, FromRedisValue, Pipeline, RedisError, RedisResult, ServerErrorKind,
    Value, cmd,
};
use tokio::sync::watch;
use tokio::time::Instant;

use super::access::{Access, HostPort};
use super::address::{Address, Kind};
use super::answer::unintelligible;
use super::cluster::{Cluster, Detour, Node};
use super::deadline::Deadline;
use super::failure::Trouble;
use super::link::{Link, Target};
use super::map::SlotMap;
use super::scripts::Script;
use super::sentinel::Sentinels;
use super::slot::Slot;
use super::tls::Tls;
use crate::store::open::bad_address;
use crate::store::{Misconfiguration, StoreError};

/// Where commands go. Each fails within the deadline.
///
/// A command is sent again only where the server has said that it did not run it: to another node
/// that the cluster names, or once the server knows the script. When an answer is lost, whoever
/// asked is told that the effect is unknown: compare-and-set and request ids are his.
#[derive(Debug)]
pub(super) struct Servers {
    access: Arc<Access>,
    pub(super) layout: Layout,
    pub(super) deadline: Duration,
}

/// Which servers there are.
#[derive(Debug)]
pub(super) enum Layout {
    /// One server has everything.
    Whole(Arc<Link>),
    /// Each node has some slots.
    Cluster(Cluster),
}

/// Whether a command waits for replicas, where writes do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    No,
    ForReplicas,
}

impl Servers {
    /// The servers at an address. Writes wait for so many replicas of theirs.
    ///
    /// # Errors
    /// When the certificates or the key that it names cannot be used.
    pub(super) fn at(
        address: Address,
        deadline: Duration,
        replicas: Option<NonZeroU32>,
    ) -> Result<Self, Misconfiguration> {
        let Address { kind, mut hosts, access } = address;
        let certificates = access.tls.as_ref().map(Tls::read).transpose()?;
        access
            .client_with(&hosts[0], certificates)
            .map_err(|_| bad_address("a file of `ca`, `cert` or `key` is not PEM of its kind, or `cert` and `key` do not belong together"))?;
        let servers = Arc::new(access);
        let whole =
            |target| Layout::Whole(Arc::new(Link::new(target, Arc::clone(&servers), replicas)));
        let layout = match kind {
            Kind::Server => whole(Target::Server(hosts.swap_remove(0))),
            Kind::Sentinels { service, access } => {
                whole(Target::Primary(Sentinels { hosts, access, service }))
            }
            Kind::Cluster => Layout::Cluster(Cluster::new(hosts, Arc::clone(&servers), replicas)),
        };
        Ok(Self { access: servers, layout, deadline })
    }

    /// Whether they are reached over TLS.
    pub(super) fn are_encrypted(&self) -> bool {
        self.access.tls.is_some()
    }

    /// A client for one of the servers.
    pub(super) async fn client(&self, server: &HostPort) -> RedisResult<Client> {
        self.access.client(server).await
    }

    /// Sends a command about keys of a slot.
    pub(super) async fn query<T: FromRedisValue>(
        &self,
        slot: Slot,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        read(self.ask(slot, command, None, Deadline::after(self.deadline)).await?)
    }

    /// Sends a command about keys of a slot to a server that is sure to be the one to ask since this
    /// was called, which one that was replaced may take itself to be.
    pub(super) async fn query_confirmed<T: FromRedisValue>(
        &self,
        slot: Slot,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        let deadline = Deadline::after(self.deadline);
        let cluster = match &self.layout {
            Layout::Whole(link) => return Ok(link.send_confirmed(command, deadline).await?),
            Layout::Cluster(cluster) => cluster,
        };
        let mut node = cluster.confirmed(slot, deadline).await?;
        let mut detour = Detour::confirmed();
        loop {
            match self.send(&node, command, deadline).await {
                Ok(answer) => return read(answer),
                Err(trouble) => {
                    node = cluster.after(trouble, slot, &node, deadline, &mut detour).await?;
                }
            }
        }
    }

    /// Runs a script on keys of a slot; `command` is its `EVALSHA`. The server is given the
    /// script when it does not know it yet.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        slot: Slot,
        script: &Script,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        read(self.ask(slot, command, Some(script), Deadline::after(self.deadline)).await?)
    }

    /// Runs a script that writes, and waits for as many replicas as writes shall wait for; and how
    /// many have it, where they wait.
    pub(super) async fn write(
        &self,
        slot: Slot,
        script: &Script,
        command: &Cmd,
    ) -> Result<(Value, Option<u32>), StoreError> {
        let deadline = Deadline::after(self.deadline);
        self.follow(slot, command, Some(script), Waits::ForReplicas, deadline).await
    }

    /// Waits until one of the servers that have keys answers, whichever it is.
    pub(super) async fn ping(&self) -> Result<(), StoreError> {
        let deadline = Deadline::after(self.deadline);
        let ping = cmd("PING");
        let nodes = self.nodes(deadline).await?;
        let answers = nodes.iter().map(|node| {
            Box::pin(async { node.link.send::<Value>(&ping, deadline.at(), deadline).await })
        });
        select_ok(answers).await?;
        Ok(())
    }

    /// Asks every server that has keys.
    pub(super) async fn query_each<T: FromRedisValue>(
        &self,
        command: &Cmd,
    ) -> Result<Vec<T>, StoreError> {
        let deadline = Deadline::after(self.deadline);
        let nodes = self.nodes(deadline).await?;
        let answers = nodes.iter().map(async |node| {
            Ok::<T, StoreError>(node.link.send(command, deadline.at(), deadline).await?)
        });
        try_join_all(answers).await
    }

    async fn nodes(&self, deadline: Deadline) -> Result<Vec<Node>, StoreError> {
        match &self.layout {
            Layout::Whole(link) => Ok(vec![Node::of(link)]),
            Layout::Cluster(cluster) => cluster.nodes(deadline).await,
        }
    }

    /// Which server has which slots, as it changes.
    pub(super) fn map(&self) -> watch::Receiver<Arc<SlotMap>> {
        match &self.layout {
            Layout::Whole(link) => link.map(),
            Layout::Cluster(cluster) => cluster.map(),
        }
    }

    /// Says that the map may be out of date.
    pub(super) fn doubt_map(&self) {
        if let Layout::Cluster(cluster) = &self.layout {
            cluster.doubt_map();
        }
    }

    pub(super) async fn ask(
        &self,
        slot: Slot,
        command: &Cmd,
        script: Option<&Script>,
        deadline: Deadline,
    ) -> Result<Value, StoreError> {
        self.follow(slot, command, script, Waits::No, deadline).await.map(|(answer, _)| answer)
    }

    /// Sends a command to the node that has a slot, and on to where that says; and how many
    /// replicas have what it wrote, where it waits for them.
    async fn follow(
        &self,
        slot: Slot,
        command: &Cmd,
        script: Option<&Script>,
        waits: Waits,
        deadline: Deadline,
    ) -> Result<(Value, Option<u32>), StoreError> {
        let mut node = self.node(slot, deadline).await?;
        let mut detour = Detour::default();
        loop {
            let trouble = match self.send_or_write(&node, command, waits, deadline).await {
                Ok(answer) => return Ok(answer),
                Err(trouble) => trouble,
            };
            match (&trouble, script, &self.layout) {
                (Trouble::Refused(error), Some(script), _) if is_no_script(error) => {
                    load(&node, script, deadline).await?;
                    if deadline.has_passed() {
                        return Err(trouble.into());
                    }
                }
                (_, _, Layout::Whole(_)) => return Err(trouble.into()),
                (_, _, Layout::Cluster(cluster)) => {
                    node = cluster.after(trouble, slot, &node, deadline, &mut detour).await?;
                }
            }
        }
    }

    async fn send_or_write(
        &self,
        node: &Node,
        command: &Cmd,
        waits: Waits,
        deadline: Deadline,
    ) -> Result<(Value, Option<u32>), Trouble> {
        let group = node.link.group().filter(|_| waits == Waits::ForReplicas);
        match group {
            Some(group) if !node.asking => {
                let (answer, replicas) = group.send(command, deadline).await?;
                Ok((answer.map_err(Trouble::Refused)?, Some(replicas)))
            }
            // A node that only takes in the slot is asked for each command alone; nobody waits then.
            _ => Ok((self.send(node, command, deadline).await?, group.map(|_| 0))),
        }
    }

    pub(super) async fn node(&self, slot: Slot, deadline: Deadline) -> Result<Node, StoreError> {
        match &self.layout {
            Layout::Whole(link) => Ok(Node::of(link)),
            Layout::Cluster(cluster) => cluster.node(slot, deadline).await,
        }
    }

    /// Sends a command to a node, unless that stays away for so long that another may have taken
    /// over.
    async fn send(&self, node: &Node, command: &Cmd, deadline: Deadline) -> Result<Value, Trouble> {
        let connected_by = self.connected_by(&node.link, deadline);
        if !node.asking {
            return node.link.send(command, connected_by, deadline).await;
        }
        let mut pipeline = Pipeline::with_capacity(2);
        pipeline.cmd("ASKING").add_command(command.clone()).ignore_errors();
        let mut answers = node.link.send_all(&pipeline, connected_by, deadline).await?;
        answers
            .pop()
            .unwrap_or_else(|| Err((ErrorKind::UnexpectedReturnType, "no answer").into()))
            .map_err(Trouble::Refused)
    }

    pub(super) fn connected_by(&self, link: &Link, deadline: Deadline) -> Instant {
        match &self.layout {
            Layout::Whole(_) => deadline.at(),
            Layout::Cluster(_) if link.is_gone() => Instant::now(),
            Layout::Cluster(_) => deadline.within(Cluster::CONNECTION_PATIENCE),
        }
    }
}

/// Gives a server a script.
pub(super) async fn load(
    node: &Node,
    script: &Script,
    deadline: Deadline,
) -> Result<(), StoreError> {
    Ok(node.link.send::<()>(script.loading(), deadline.at(), deadline).await?)
}

pub(super) fn is_no_script(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

pub(super) fn read<T: FromRedisValue>(answer: Value) -> Result<T, StoreError> {
    T::from_redis_value(answer).map_err(unintelligible)
}

impl Node {
    /// A server that has everything.
    fn of(link: &Arc<Link>) -> Self {
        Self { link: Arc::clone(link), asking: false }
    }
}
