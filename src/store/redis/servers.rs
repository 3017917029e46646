//! The servers of a store: one, the primary that sentinels name, or the nodes of a cluster. What
//! is the same for all of them is here; what is not stands in `link.rs` and `cluster.rs`.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join_all, select_ok, try_join_all};
use redis::{
    Client, Cmd, ErrorKind, FromRedisValue, Pipeline, RedisError, RedisResult, ServerErrorKind,
    Value, cmd,
};
use tokio::sync::watch;

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
    layout: Layout,
    deadline: Duration,
}

#[derive(Debug)]
enum Layout {
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

/// Several commands for one server.
struct Batch {
    node: Node,
    /// Their places in what is asked.
    places: Vec<usize>,
    slots: Vec<Slot>,
    pipeline: Pipeline,
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
        let usable = |access: &Access| {
            let unusable =
                |_| bad_address("a file of `ca`, `cert` or `key` is not PEM of its kind");
            access.client(&hosts[0]).map(|_| ()).map_err(unusable)
        };
        usable(&access)?;
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

    /// A client for one of the servers.
    pub(super) fn client(&self, server: &HostPort) -> RedisResult<Client> {
        self.access.client(server)
    }

    /// Sends a command about keys of a slot.
    pub(super) async fn query<T: FromRedisValue>(
        &self,
        slot: Slot,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        read(self.ask(slot, command, None, Deadline::after(self.deadline)).await?)
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

    /// Sends several commands at once; answers in their order.
    pub(super) async fn query_all<T: FromRedisValue>(
        &self,
        commands: Vec<(Slot, Cmd)>,
    ) -> Result<Vec<T>, StoreError> {
        self.ask_all(commands, None).await?.into_iter().map(read).collect()
    }

    /// Runs a script for each of several commands at once; answers in their order.
    pub(super) async fn run_all<T: FromRedisValue>(
        &self,
        script: &Script,
        commands: Vec<(Slot, Cmd)>,
    ) -> Result<Vec<T>, StoreError> {
        self.ask_all(commands, Some(script)).await?.into_iter().map(read).collect()
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

    async fn ask(
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

    async fn node(&self, slot: Slot, deadline: Deadline) -> Result<Node, StoreError> {
        match &self.layout {
            Layout::Whole(link) => Ok(Node::of(link)),
            Layout::Cluster(cluster) => cluster.node(slot, deadline).await,
        }
    }

    /// Sends a command to a node, unless that stays away for so long that another may have taken
    /// over.
    async fn send(&self, node: &Node, command: &Cmd, deadline: Deadline) -> Result<Value, Trouble> {
        let connected_by = self.connected_by(deadline);
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

    fn connected_by(&self, deadline: Deadline) -> tokio::time::Instant {
        match &self.layout {
            Layout::Whole(_) => deadline.at(),
            Layout::Cluster(_) => deadline.within(Cluster::CONNECTION_PATIENCE),
        }
    }

    async fn ask_all(
        &self,
        commands: Vec<(Slot, Cmd)>,
        script: Option<&Script>,
    ) -> Result<Vec<Value>, StoreError> {
        let deadline = Deadline::after(self.deadline);
        let mut answers = vec![Value::Nil; commands.len()];
        let batches = self.batches(commands, deadline).await?;
        let sent = batches.iter().map(|batch| self.send_batch(batch, script, deadline));
        for (batch, sent) in batches.iter().zip(join_all(sent).await) {
            for (place, answer) in batch.places.iter().zip(sent?) {
                answers[*place] = answer;
            }
        }
        Ok(answers)
    }

    /// Sorts commands by the servers that have their slots.
    async fn batches(
        &self,
        commands: Vec<(Slot, Cmd)>,
        deadline: Deadline,
    ) -> Result<Vec<Batch>, StoreError> {
        let mut batches: Vec<Batch> = Vec::new();
        for (place, (slot, command)) in commands.into_iter().enumerate() {
            let node = self.node(slot, deadline).await?;
            let same = |batch: &&mut Batch| Arc::ptr_eq(&batch.node.link, &node.link);
            let batch = match batches.iter_mut().find(same) {
                Some(batch) => batch,
                None => {
                    let (places, slots, mut pipeline) = (vec![], vec![], Pipeline::new());
                    pipeline.ignore_errors();
                    batches.push(Batch { node, places, slots, pipeline });
                    batches.last_mut().expect("just put there")
                }
            };
            batch.places.push(place);
            batch.slots.push(slot);
            batch.pipeline.add_command(command);
        }
        Ok(batches)
    }

    /// Sends commands together, and each that the server refuses again alone.
    async fn send_batch(
        &self,
        batch: &Batch,
        script: Option<&Script>,
        deadline: Deadline,
    ) -> Result<Vec<Value>, StoreError> {
        let link = &batch.node.link;
        let sent = link.send_all(&batch.pipeline, self.connected_by(deadline), deadline).await;
        let answers = match (sent, &self.layout) {
            (Ok(answers), _) => answers.into_iter().map(|answer| answer.map_err(Some)).collect(),
            // It has not been sent, and another node may have taken over.
            (Err(Trouble::NotSent(_)), Layout::Cluster(cluster)) => {
                cluster.doubt_map();
                vec![Err(None); batch.places.len()]
            }
            (Err(trouble), _) => return Err(trouble.into()),
        };
        // Almost always: then there is nothing to ask again, and no future a command to set up for it.
        if answers.iter().all(Result::is_ok) {
            return Ok(answers.into_iter().flatten().collect());
        }
        let unknown = |error: &Option<RedisError>| error.as_ref().is_some_and(is_no_script);
        if let Some(script) = script
            && answers.iter().any(|answer| answer.as_ref().is_err_and(unknown))
        {
            load(&batch.node, script, deadline).await?;
        }
        let commands = batch.pipeline.cmd_iter().zip(&batch.slots);
        try_join_all(answers.into_iter().zip(commands).map(async |(answer, (command, slot))| {
            match answer {
                Ok(answer) => Ok(answer),
                Err(None) => self.ask(*slot, command, script, deadline).await,
                Err(Some(error)) if is_no_script(&error) || error.is_cluster_error() => {
                    self.ask(*slot, command, script, deadline).await
                }
                Err(Some(error)) => Err(Trouble::Refused(error).into()),
            }
        }))
        .await
    }
}

/// Gives a server a script.
async fn load(node: &Node, script: &Script, deadline: Deadline) -> Result<(), StoreError> {
    Ok(node.link.send::<()>(script.loading(), deadline.at(), deadline).await?)
}

fn is_no_script(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

fn read<T: FromRedisValue>(answer: Value) -> Result<T, StoreError> {
    T::from_redis_value(answer).map_err(unintelligible)
}

impl Node {
    /// A server that has everything.
    fn of(link: &Arc<Link>) -> Self {
        Self { link: Arc::clone(link), asking: false }
    }
}
