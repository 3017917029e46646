//! Writes that wait until replicas of the server have them, many at a time.
//!
//! `WAIT` asks for everything that its connection has written before, and holds up whatever comes
//! after it on that connection. So such writes have connections of their own, and those that come
//! while a connection waits go out together, with one `WAIT` behind them.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Pipeline, RedisResult, Value, cmd};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use super::access::Access;
use super::deadline::Deadline;
use super::failure::Trouble;
use super::link::{Link, Target};
use crate::store::StoreError;

/// How many connections wait at the same time, so that writes need not wait for an answer to others.
const CONNECTIONS: usize = 4;

/// How many writes go out together at most.
const MOST: usize = 64;

/// How many writes wait to go out before callers wait themselves.
const QUEUE: usize = 1_024;

/// How long replicas may take. Half a call's deadline, so that an answer that they are too few
/// comes in time.
const PATIENCE: Duration = Duration::from_secs(1);

/// The way of such writes to one server.
#[derive(Debug)]
pub(super) struct Group {
    queue: mpsc::Sender<Waiting>,
    _workers: Vec<AbortOnDropHandle<()>>,
}

/// What a write came to, and how many replicas have it.
pub(super) type Written = (RedisResult<Value>, u32);

#[derive(Debug)]
struct Waiting {
    command: Cmd,
    deadline: Deadline,
    answer: oneshot::Sender<Result<Written, Trouble>>,
}

impl Group {
    /// Connections to a server whose writes wait for so many replicas.
    pub(super) fn new(target: &Target, access: &Arc<Access>, replicas: NonZeroU32) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let waiting = Arc::new(Mutex::new(waiting));
        let worker = |_| {
            let link = Link::new(target.clone(), Arc::clone(access), None);
            let worker = Worker { link, waiting: Arc::clone(&waiting), replicas };
            AbortOnDropHandle::new(tokio::spawn(worker.work()))
        };
        Self { queue, _workers: (0..CONNECTIONS).map(worker).collect() }
    }

    /// Sends a write, and waits until enough replicas have it or their time is over.
    pub(super) async fn send(&self, command: &Cmd, deadline: Deadline) -> Result<Written, Trouble> {
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting { command: command.clone(), deadline, answer };
        if self.queue.send(waiting).await.is_err() {
            return Err(Trouble::NotSent(StoreError::not_applied("nobody sends writes any more")));
        }
        answered.await.unwrap_or_else(|_| Err(Trouble::Unknown(deadline.no_answer())))
    }
}

/// What sends writes over one connection.
struct Worker {
    link: Link,
    waiting: Arc<Mutex<mpsc::Receiver<Waiting>>>,
    replicas: NonZeroU32,
}

impl Worker {
    async fn work(self) {
        while let Some(batch) = self.next().await {
            self.send(batch).await;
        }
    }

    /// The writes that wait, as soon as there is one.
    async fn next(&self) -> Option<Vec<Waiting>> {
        let mut batch = Vec::new();
        let mut waiting = self.waiting.lock().await;
        (waiting.recv_many(&mut batch, MOST).await > 0).then_some(batch)
    }

    async fn send(&self, mut batch: Vec<Waiting>) {
        // Who has gone, or whose time is over, is not asked for any more.
        batch.retain(|waiting| !waiting.answer.is_closed() && !waiting.deadline.has_passed());
        let Some(last) = batch.iter().map(|waiting| waiting.deadline).max_by_key(|d| d.at()) else {
            return;
        };
        let mut pipeline = Pipeline::with_capacity(batch.len() + 1);
        for waiting in &batch {
            pipeline.add_command(waiting.command.clone());
        }
        let mut wait = cmd("WAIT");
        wait.arg(self.replicas.get()).arg(PATIENCE.as_millis().to_string());
        pipeline.add_command(wait).ignore_errors();
        match self.link.send_all(&pipeline, last.at(), last).await {
            Ok(mut answers) => {
                let replicas = match answers.pop() {
                    Some(Ok(Value::Int(count))) => u32::try_from(count).unwrap_or_default(),
                    // Written they are all the same.
                    _ => 0,
                };
                for (waiting, answer) in batch.into_iter().zip(answers) {
                    // Who has gone does not need it.
                    let _ = waiting.answer.send(Ok((answer, replicas)));
                }
            }
            Err(trouble) => {
                for waiting in batch {
                    let _ = waiting.answer.send(Err(trouble.again()));
                }
            }
        }
    }
}
