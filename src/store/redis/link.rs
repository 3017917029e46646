//! The connection that commands go over to one server, made anew whenever it breaks.
//!
//! Kept apart from the client's own connection manager because that one cannot tell a command
//! that never left from one whose answer was lost, waits out its pauses beyond a call's deadline,
//! and stays on a connection whose server has stopped answering or has become a replica.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, FromRedisValue, Pipeline, PushInfo, PushKind, RedisError, RedisResult, Value};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use super::access::{Access, HostPort};
use super::connection::{check_primary, connect};
use super::deadline::Deadline;
use super::failure::{Trouble, failure, is_refusal};
use super::group::Group;
use super::map::SlotMap;
use super::pause::Pause;
use super::sentinel::Sentinels;
use crate::store::StoreError;

/// A connection that lasted at least this long makes the next pause a short one again.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

/// How often sentinels are asked whether the primary is still the one that is connected.
const ASK_SENTINELS_EVERY: Duration = Duration::from_secs(2);

/// Which server a link connects to.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// Always the same.
    Server(HostPort),
    /// The one that sentinels say is the primary.
    Primary(Sentinels),
}

/// The way to one server.
#[derive(Debug)]
pub(super) struct Link {
    state: watch::Receiver<State>,
    /// The server that was connected last, as the one of all slots.
    map: watch::Receiver<Arc<SlotMap>>,
    /// The number of the last connection that was found broken.
    broken: Arc<watch::Sender<u64>>,
    /// The way of writes that wait for replicas, where they do.
    group: Option<Group>,
    _keeper: AbortOnDropHandle<()>,
}

#[derive(Clone, Debug)]
enum State {
    Connected(Numbered),
    /// There is no connection, because of this error; none before the first attempt.
    Away(Option<RedisError>),
}

#[derive(Clone, Debug)]
struct Numbered {
    number: u64,
    connection: MultiplexedConnection,
}

impl Link {
    /// A link that connects by itself, now and whenever it must. Its writes may wait for so many
    /// replicas.
    pub(super) fn new(target: Target, access: Arc<Access>, replicas: Option<NonZeroU32>) -> Self {
        let group = replicas.map(|replicas| Group::new(&target, &access, replicas));
        let (publish, state) = watch::channel(State::Away(None));
        let (publish_map, map) = watch::channel(Arc::default());
        let broken = Arc::new(watch::Sender::new(0));
        let keeper = Keeper {
            target,
            access,
            state: publish,
            map: publish_map,
            broken: Arc::clone(&broken),
        };
        let keeper = tokio::spawn(keeper.keep_connected());
        Self { state, map, broken, group, _keeper: AbortOnDropHandle::new(keeper) }
    }

    /// Sends a command, once there is a connection; and waits for one until a moment.
    pub(super) async fn send<T: FromRedisValue>(
        &self,
        command: &Cmd,
        connected_by: Instant,
        deadline: Deadline,
    ) -> Result<T, Trouble> {
        let call = |mut connection| async move { command.query_async(&mut connection).await };
        self.call(call, connected_by, deadline).await
    }

    /// Sends several commands at once. Those that are refused fail alone.
    pub(super) async fn send_all(
        &self,
        pipeline: &Pipeline,
        connected_by: Instant,
        deadline: Deadline,
    ) -> Result<Vec<RedisResult<Value>>, Trouble> {
        let call = |mut connection| async move { pipeline.query_async(&mut connection).await };
        self.call(call, connected_by, deadline).await
    }

    /// The way of writes that wait for replicas, where they do.
    pub(super) fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// The server that was connected last.
    pub(super) fn map(&self) -> watch::Receiver<Arc<SlotMap>> {
        self.map.clone()
    }

    /// Whether there is a connection now.
    pub(super) fn is_connected(&self) -> bool {
        matches!(&*self.state.borrow(), State::Connected(_))
    }

    async fn call<T, F>(
        &self,
        call: impl FnOnce(MultiplexedConnection) -> F,
        connected_by: Instant,
        deadline: Deadline,
    ) -> Result<T, Trouble>
    where
        F: Future<Output = RedisResult<T>>,
    {
        let Numbered { number, connection } =
            self.connection(connected_by, deadline).await.map_err(Trouble::NotSent)?;
        match timeout_at(deadline.at(), call(connection)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                if error.is_unrecoverable_error() || error.code() == Some("READONLY") {
                    mark_broken(&self.broken, number);
                }
                Err(match error.code() {
                    Some(_) => Trouble::Refused(error),
                    None => Trouble::Unknown(failure(&error)),
                })
            }
            Err(_) => {
                // Whoever does not answer in all that time may never do so.
                mark_broken(&self.broken, number);
                Err(Trouble::Unknown(deadline.no_answer()))
            }
        }
    }

    /// The connection that stands, waiting for one if there is none.
    async fn connection(&self, until: Instant, deadline: Deadline) -> Result<Numbered, StoreError> {
        if let State::Connected(numbered) = &*self.state.borrow() {
            return Ok(numbered.clone());
        }
        let mut state = self.state.clone();
        let settled = state.wait_for(|state| match state {
            State::Connected(_) => true,
            State::Away(error) => error.as_ref().is_some_and(is_refusal),
        });
        let settled = match timeout_at(until, settled).await {
            Ok(state) => state.expect("the keeper lives as long as the link").clone(),
            Err(_) => self.state.borrow().clone(),
        };
        match settled {
            State::Connected(numbered) => Ok(numbered),
            State::Away(Some(error)) if is_refusal(&error) => Err(failure(&error)),
            State::Away(Some(error)) => Err(StoreError::not_applied(error)),
            State::Away(None) => Err(deadline.no_connection()),
        }
    }
}

fn mark_broken(broken: &watch::Sender<u64>, number: u64) {
    broken.send_if_modified(|last| {
        let news = *last < number;
        *last = number.max(*last);
        news
    });
}

/// What keeps a link connected.
struct Keeper {
    target: Target,
    access: Arc<Access>,
    state: watch::Sender<State>,
    map: watch::Sender<Arc<SlotMap>>,
    broken: Arc<watch::Sender<u64>>,
}

impl Keeper {
    /// Connects, waits until the connection is found broken, and begins again, for ever.
    async fn keep_connected(self) {
        let mut pause = Pause::default();
        for number in 1.. {
            match self.connect(number).await {
                Ok((server, connection)) => {
                    let since = Instant::now();
                    self.map.send_if_modified(|map| {
                        let news = Arc::new(SlotMap::whole(server.clone()));
                        let old = std::mem::replace(map, news);
                        old != *map
                    });
                    self.state.send_replace(State::Connected(Numbered { number, connection }));
                    tokio::select! {
                        () = self.found_broken(number) => {
                            tracing::warn!(%server, "the connection to the store is lost");
                        }
                        () = self.replaced(&server) => {
                            tracing::warn!(%server, "the store has another primary");
                        }
                    }
                    self.state.send_replace(State::Away(None));
                    if since.elapsed() >= SETTLED_AFTER {
                        pause = Pause::default();
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the store cannot be reached");
                    self.state.send_replace(State::Away(Some(error)));
                }
            }
            sleep(pause.next()).await;
        }
    }

    /// Connects once; and says where.
    async fn connect(&self, number: u64) -> RedisResult<(HostPort, MultiplexedConnection)> {
        let on_push = {
            let broken = Arc::clone(&self.broken);
            move |push: PushInfo| {
                if push.kind == PushKind::Disconnection {
                    mark_broken(&broken, number);
                }
            }
        };
        match &self.target {
            Target::Server(server) => {
                let connection = connect(&self.access.client(server)?, on_push).await?;
                Ok((server.clone(), connection))
            }
            Target::Primary(sentinels) => {
                let server = sentinels.primary().await?;
                let mut connection = connect(&self.access.client(&server)?, on_push).await?;
                check_primary(&mut connection).await?;
                Ok((server, connection))
            }
        }
    }

    async fn found_broken(&self, number: u64) {
        let mut broken = self.broken.subscribe();
        broken.wait_for(|&last| last >= number).await.expect("it is kept here");
    }

    /// Waits until sentinels name another server. Those that were demoted close their
    /// connections, but one that is cut off from its sentinels, and not from us, does not know.
    async fn replaced(&self, server: &HostPort) {
        let Target::Primary(sentinels) = &self.target else { return std::future::pending().await };
        loop {
            sleep(ASK_SENTINELS_EVERY).await;
            if sentinels.primary().await.is_ok_and(|primary| primary != *server) {
                return;
            }
        }
    }
}
