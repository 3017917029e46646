//! The way of commands to one server, over a connection that `keeper.rs` makes anew whenever it breaks.
//!
//! Kept apart from the client's own connection manager because that one cannot tell a command
//! that never left from one whose answer was lost, waits out its pauses beyond a call's deadline,
//! and stays on a connection whose server has stopped answering or has become a replica.

use std::num::NonZeroU32;
use std::sync::Arc;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, FromRedisValue, Pipeline, RedisResult, Value};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use super::access::{Access, HostPort};
use super::deadline::Deadline;
use super::failure::{Trouble, failure, is_refusal};
use super::group::Group;
use super::keeper::{Keeper, Numbered, State, mark_broken};
use super::map::SlotMap;
use super::sentinel::Sentinels;
use crate::store::StoreError;

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
