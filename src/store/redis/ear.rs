//! The connection that hints of one server arrive on: one for all subscribers of a store.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    Cmd, FromRedisValue, Pipeline, PushInfo, PushKind, RedisError, RedisResult, Value, cmd,
};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::access::HostPort;
use super::connection::connect;
use super::pause::Pause;
use super::servers::Servers;
use crate::store::hint::{Hint, Hints};

/// Of how many channels the server is told at once at most.
const BATCH: usize = 1_000;

/// After how long without anything to do the connection is tried, and how long that may take.
const TRY_EVERY: Duration = Duration::from_secs(5);
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// An ear at one server. Listens as long as it is kept.
#[derive(Debug)]
pub(super) struct Ear {
    server: HostPort,
    desk: Arc<Desk>,
    _listening: AbortOnDropHandle<()>,
}

impl Ear {
    /// An ear that connects when first it has something to listen to.
    pub(super) fn at(server: HostPort, servers: Arc<Servers>, hints: Arc<Hints>) -> Self {
        let desk = Arc::new(Desk::default());
        let listening =
            Listening { server: server.clone(), servers, hints, desk: Arc::clone(&desk) };
        let listening = tokio::spawn(listening.keep_listening());
        Self { server, desk, _listening: AbortOnDropHandle::new(listening) }
    }

    /// Where it listens.
    pub(super) fn server(&self) -> &HostPort {
        &self.server
    }

    /// Lets it listen to a topic, or no more.
    pub(super) fn order(&self, topic: &Arc<str>, wanted: bool) {
        self.desk.topics().insert(Arc::clone(topic), wanted);
        self.desk.news.notify_one();
    }
}

/// The topics of which the server is still to be told, each with whether it is wanted.
#[derive(Debug, Default)]
struct Desk {
    topics: Mutex<HashMap<Arc<str>, bool>>,
    news: Notify,
}

impl Desk {
    fn topics(&self) -> MutexGuard<'_, HashMap<Arc<str>, bool>> {
        // Nothing that holds the lock leaves it half-changed, whatever panics.
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something on it.
    async fn wait(&self) {
        loop {
            let news = self.news.notified();
            if !self.topics().is_empty() {
                return;
            }
            news.await;
        }
    }

    fn take(&self, limit: usize) -> Vec<(Arc<str>, bool)> {
        let mut topics = self.topics();
        let taken: Vec<Arc<str>> = topics.keys().take(limit).cloned().collect();
        taken.into_iter().filter_map(|topic| topics.remove_entry(&*topic)).collect()
    }

    /// Puts topics back that are to be subscribed to anew, unless there was an order since.
    fn put_back(&self, again: impl IntoIterator<Item = Arc<str>>) {
        let mut topics = self.topics();
        for topic in again {
            topics.entry(topic).or_insert(true);
        }
    }

    /// Forgets topics that are not wanted: without a connection there is nobody to tell.
    fn forget_unwanted(&self) {
        self.topics().retain(|_, wanted| *wanted);
    }
}

/// What the server has sent without being asked, besides hints.
#[derive(Debug, Default)]
struct Pushed {
    disconnected: AtomicBool,
    /// Whether something is being asked.
    asking: AtomicBool,
    /// Channels that were left, each with whether something was being asked then.
    left: Mutex<Vec<(String, bool)>>,
    news: Notify,
}

impl Pushed {
    fn take_left(&self) -> Vec<(String, bool)> {
        std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Listening {
    server: HostPort,
    servers: Arc<Servers>,
    hints: Arc<Hints>,
    desk: Arc<Desk>,
}

impl Listening {
    /// Connects, listens until the connection is lost, and begins again, for ever.
    async fn keep_listening(self) {
        let mut pause = Pause::default();
        loop {
            self.desk.wait().await;
            let pushed = Arc::new(Pushed::default());
            let on_push = {
                let (hints, pushed) = (Arc::clone(&self.hints), Arc::clone(&pushed));
                move |push: PushInfo| receive(&hints, &pushed, &push)
            };
            let connected = match self.servers.client(&self.server).await {
                Ok(client) => connect(&client, on_push).await,
                Err(error) => Err(error),
            };
            match connected {
                Ok(connection) => {
                    pause = Pause::default();
                    let mut channels = Channels { connection, subscribed: HashSet::new(), pushed };
                    let error = self.settle_until_lost(&mut channels).await;
                    tracing::warn!(%error, server = %self.server, "the connection for hints is lost");
                    self.hints.unconfirm(&channels.subscribed);
                    self.desk.put_back(channels.subscribed);
                }
                Err(error) => {
                    tracing::warn!(%error, server = %self.server, "no connection for hints");
                }
            }
            self.servers.doubt_map();
            self.desk.forget_unwanted();
            sleep(pause.next()).await;
        }
    }

    /// Tells the server of every topic that comes or goes, until the connection is lost; and says
    /// why it is.
    async fn settle_until_lost(&self, channels: &mut Channels) -> RedisError {
        let mut pause = Pause::default();
        loop {
            let done = tokio::select! {
                () = channels.pushed.news.notified() => Ok(Settled::All),
                () = self.desk.wait() => self.settle(channels).await,
                () = sleep(TRY_EVERY) => channels.try_out().await.map(|()| Settled::All),
            };
            let settled = match done.and_then(|settled| {
                self.again(channels)?;
                Ok(settled)
            }) {
                Ok(settled) => settled,
                Err(error) => return error,
            };
            match settled {
                Settled::All => pause = Pause::default(),
                Settled::Refused(error) => {
                    // Where another server has them by now, the map says so soon.
                    if !error.is_cluster_error() {
                        tracing::warn!(%error, server = %self.server, "hints are refused");
                    }
                    self.servers.doubt_map();
                    sleep(pause.next()).await;
                }
            }
        }
    }

    /// Tells the server of some of the topics.
    async fn settle(&self, channels: &mut Channels) -> RedisResult<Settled> {
        let orders = self.desk.take(BATCH);
        let (wanted, unwanted): (Vec<_>, Vec<_>) =
            orders.into_iter().partition(|(_, wanted)| *wanted);
        let wanted: Vec<Arc<str>> = wanted.into_iter().map(|(topic, _)| topic).collect();
        let unwanted: Vec<Arc<str>> = unwanted
            .into_iter()
            .map(|(topic, _)| topic)
            .filter(|topic| channels.subscribed.remove(topic))
            .collect();
        let told = match channels.tell(&wanted, &unwanted).await {
            Ok(told) => told,
            Err(error) => {
                self.desk.put_back(wanted);
                return Err(error);
            }
        };
        let mut settled = Settled::All;
        for (topic, told) in wanted.into_iter().zip(told) {
            match told {
                Ok(_) => {
                    self.hints.confirm(&topic);
                    channels.subscribed.insert(topic);
                }
                Err(error) => {
                    self.desk.put_back([topic]);
                    settled = Settled::Refused(error);
                }
            }
        }
        Ok(settled)
    }

    /// Takes up again what the server has left because the slot has moved.
    fn again(&self, channels: &mut Channels) -> RedisResult<()> {
        if channels.pushed.disconnected.load(Ordering::Acquire) {
            return Err(closed());
        }
        let left: HashSet<Arc<str>> = channels
            .pushed
            .take_left()
            .into_iter()
            .filter_map(|(channel, _)| channels.subscribed.take(&*channel))
            .collect();
        if !left.is_empty() {
            self.hints.unconfirm(&left);
            self.desk.put_back(left);
            self.servers.doubt_map();
        }
        Ok(())
    }
}

/// What came of telling the server.
enum Settled {
    All,
    /// Some topics were refused, of which one so.
    Refused(RedisError),
}

/// A connection and the channels that were subscribed to over it.
struct Channels {
    connection: MultiplexedConnection,
    subscribed: HashSet<Arc<str>>,
    pushed: Arc<Pushed>,
}

impl Channels {
    /// Subscribes to channels, and leaves others. Each in a command of its own, since those of one
    /// command must be of one slot; and says of each that is subscribed to whether it is.
    async fn tell(
        &mut self,
        joined: &[Arc<str>],
        left: &[Arc<str>],
    ) -> RedisResult<Vec<RedisResult<Value>>> {
        let mut pipeline = Pipeline::with_capacity(joined.len() + left.len());
        pipeline.ignore_errors();
        for (name, channels) in [("SSUBSCRIBE", joined), ("SUNSUBSCRIBE", left)] {
            for channel in channels {
                let mut command = cmd(name);
                command.arg(&**channel);
                pipeline.add_command(command);
            }
        }
        let mut connection = self.connection.clone();
        let told: RedisResult<Vec<RedisResult<Value>>> =
            self.answered(pipeline.query_async(&mut connection)).await;
        let mut told = told?;
        // The client takes a channel that is left unasked for the answer to what is being asked,
        // so that every answer after it is another's.
        let leaving = told.iter().skip(joined.len()).filter(|told| told.is_ok()).count();
        let mut pushed = self.pushed.take_left();
        if pushed.iter().filter(|(_, asking)| *asking).count() != leaving {
            return Err(closed());
        }
        pushed.retain(|(_, asking)| !*asking);
        self.pushed.left.lock().unwrap_or_else(PoisonError::into_inner).append(&mut pushed);
        told.truncate(joined.len());
        Ok(told)
    }

    /// Finds out whether the server still answers.
    async fn try_out(&mut self) -> RedisResult<()> {
        let ping: Cmd = cmd("PING");
        let mut connection = self.connection.clone();
        self.answered(ping.query_async::<Value>(&mut connection)).await.map(|_| ())
    }

    async fn answered<T: FromRedisValue>(
        &self,
        call: impl Future<Output = RedisResult<T>>,
    ) -> RedisResult<T> {
        self.pushed.asking.store(true, Ordering::Release);
        let answer = timeout(ANSWER_LIMIT, call).await.unwrap_or_else(|_| Err(closed()));
        self.pushed.asking.store(false, Ordering::Release);
        answer
    }
}

/// Takes what the server sends without being asked.
fn receive(hints: &Hints, pushed: &Pushed, push: &PushInfo) {
    match (&push.kind, push.data.first()) {
        (PushKind::SMessage, Some(Value::BulkString(channel))) => {
            if let Ok(channel) = std::str::from_utf8(channel) {
                let presence = push.data.get(1) == Some(&Value::BulkString(b"p".to_vec()));
                hints.give(channel, if presence { Hint::PRESENCE } else { Hint::RECORD });
            }
        }
        (PushKind::SUnsubscribe, Some(Value::BulkString(channel))) => {
            if let Ok(channel) = std::str::from_utf8(channel) {
                let asking = pushed.asking.load(Ordering::Acquire);
                let mut left = pushed.left.lock().unwrap_or_else(PoisonError::into_inner);
                left.push((channel.to_owned(), asking));
                drop(left);
                if !asking {
                    pushed.news.notify_one();
                }
            }
        }
        (PushKind::Disconnection, _) => {
            pushed.disconnected.store(true, Ordering::Release);
            pushed.news.notify_one();
        }
        _ => {}
    }
}

fn closed() -> RedisError {
    std::io::Error::from(std::io::ErrorKind::ConnectionAborted).into()
}
