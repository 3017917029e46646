//! The way of commands to one server, over a connection that `keeper.rs` makes anew whenever it breaks.
//!
//! Kept apart from the client's own connection manager because that one cannot tell a command
//! that never left from one whose answer was lost, waits out its pauses beyond a call's deadline,
//! and stays on a connection whose server has stopped answering or has become a replica.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, FromRedisValue, Pipeline, RedisResult, Value};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use super::access::{Access, HostPort};
use super::connection::check_primary;
use super::deadline::Deadline;
use super::failure::{Trouble, failure};
use super::group::Group;
use super::keeper::{Keeper, Numbered, State, mark_broken};
use super::map::SlotMap;
use super::remedy::Unreached;
use super::sentinel::Sentinels;
use super::shared::Shared;
use crate::store::StoreError;

/// For how long a server must have been away for calls not to wait for it.
const GONE_AFTER: Duration = Duration::from_secs(1);

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
    target: Target,
    /// The primary that most sentinels knew of last.
    primary: Shared<HostPort>,
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
        let (publish, state) = watch::channel(State::Away { since: Instant::now(), error: None });
        let (publish_map, map) = watch::channel(Arc::default());
        let broken = Arc::new(watch::Sender::new(0));
        let keeper = Keeper {
            target: target.clone(),
            access,
            state: publish,
            map: publish_map,
            broken: Arc::clone(&broken),
        };
        let keeper = tokio::spawn(keeper.keep_connected());
        Self {
            target,
            primary: Shared::default(),
            state,
            map,
            broken,
            group,
            _keeper: AbortOnDropHandle::new(keeper),
        }
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

    /// Sends a command to the server that is sure to be the one to ask since this was called.
    pub(super) async fn send_confirmed<T: FromRedisValue>(
        &self,
        command: &Cmd,
        deadline: Deadline,
    ) -> Result<T, Trouble> {
        let numbered = self.confirmed(deadline).await.map_err(Trouble::NotSent)?;
        let call = |mut connection| async move { command.query_async(&mut connection).await };
        self.call_on(numbered, call, deadline).await
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

    /// The sentinels that name the server, where there are some.
    pub(super) fn sentinels(&self) -> Option<&Sentinels> {
        match &self.target {
            Target::Server(_) => None,
            Target::Primary(sentinels) => Some(sentinels),
        }
    }

    /// Whether there is a connection now.
    pub(super) fn is_connected(&self) -> bool {
        matches!(&*self.state.borrow(), State::Connected(_))
    }

    /// Whether there has been none for so long that no call need wait for one.
    pub(super) fn is_gone(&self) -> bool {
        match &*self.state.borrow() {
            State::Connected(_) => false,
            State::Away { since, error } => error.is_some() && since.elapsed() >= GONE_AFTER,
        }
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
        let numbered = self.connection(connected_by, deadline).await.map_err(Trouble::NotSent)?;
        self.call_on(numbered, call, deadline).await
    }

    async fn call_on<T, F>(
        &self,
        numbered: Numbered,
        call: impl FnOnce(MultiplexedConnection) -> F,
        deadline: Deadline,
    ) -> Result<T, Trouble>
    where
        F: Future<Output = RedisResult<T>>,
    {
        let Numbered { number, connection, .. } = numbered;
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

    /// The connection to a server that was the one to ask at some moment since this was called: where
    /// there are sentinels, most of them must say so, and the server itself. One that is not is left.
    async fn confirmed(&self, deadline: Deadline) -> Result<Numbered, StoreError> {
        let asked = Instant::now();
        let in_time = |_| deadline.no_confirmation();
        loop {
            let numbered = self.connection(deadline.at(), deadline).await?;
            let Target::Primary(sentinels) = &self.target else { return Ok(numbered) };
            let primary = self.primary.since(asked, sentinels.confirmed_primary());
            let primary = timeout_at(deadline.at(), primary).await.map_err(in_time)?;
            let mut connection = numbered.connection.clone();
            if primary? == numbered.server
                && timeout_at(deadline.at(), check_primary(&mut connection))
                    .await
                    .map_err(in_time)?
                    .is_ok()
            {
                return Ok(numbered);
            }
            mark_broken(&self.broken, numbered.number);
            let is_another = |state: &State| match state {
                State::Connected(next) => next.number != numbered.number,
                State::Away { .. } => true,
            };
            let mut state = self.state.clone();
            timeout_at(deadline.at(), state.wait_for(is_another)).await.map_err(in_time)?.ok();
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
            State::Away { error, .. } => error.as_ref().is_some_and(Unreached::is_refusal),
        });
        let settled = match timeout_at(until, settled).await {
            Ok(state) => state.expect("the keeper lives as long as the link").clone(),
            Err(_) => self.state.borrow().clone(),
        };
        match settled {
            State::Connected(numbered) => Ok(numbered),
            State::Away { error: Some(error), .. } => Err(error.into()),
            State::Away { error: None, .. } => Err(deadline.no_connection()),
        }
    }
}
