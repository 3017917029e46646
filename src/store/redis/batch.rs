//! Several commands at once, sorted by the servers that have their slots.

use std::sync::Arc;

use futures_util::future::{join_all, try_join_all};
use redis::{Cmd, FromRedisValue, Pipeline, RedisError, Value};

use super::cluster::Node;
use super::deadline::Deadline;
use super::failure::Trouble;
use super::scripts::Script;
use super::servers::{Layout, Servers, is_no_script, load, read};
use super::slot::Slot;
use crate::store::StoreError;

/// Several commands for one server.
struct Batch {
    node: Node,
    /// Their places in what is asked.
    places: Vec<usize>,
    slots: Vec<Slot>,
    pipeline: Pipeline,
}

impl Servers {
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
        let sent =
            link.send_all(&batch.pipeline, self.connected_by(link, deadline), deadline).await;
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
