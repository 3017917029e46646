//! The connection that commands go over, made anew whenever it breaks.
//!
//! Kept apart from the client's own connection manager because that one cannot tell a command
//! that never left from one whose answer was lost, waits out its pauses beyond a call's deadline,
//! and stays on a connection whose server has stopped answering or has become a replica.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, FromRedisValue, PushInfo, PushKind, RedisError,
    RedisResult, Script, ServerErrorKind,
};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use crate::store::{Misconfiguration, StoreError};

/// How long one attempt to connect may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// A connection that lasted at least this long makes the next pause a short one again.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

/// How many commands wait to be written to the connection before callers wait themselves.
const QUEUE: usize = 1_024;

/// The way to the server.
#[derive(Debug)]
pub(super) struct Link {
    state: watch::Receiver<State>,
    /// The number of the last connection that was found broken.
    broken: Arc<watch::Sender<u64>>,
    deadline: Duration,
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
    /// A link that connects by itself, now and whenever it must. Every call over it has this
    /// deadline.
    pub(super) fn new(client: Client, deadline: Duration) -> Self {
        let (publish, state) = watch::channel(State::Away(None));
        let broken = Arc::new(watch::Sender::new(0));
        let keeper = tokio::spawn(keep_connected(client, publish, Arc::clone(&broken)));
        Self { state, broken, deadline, _keeper: AbortOnDropHandle::new(keeper) }
    }

    /// Sends a command.
    pub(super) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        self.within_deadline(
            |mut connection| async move { command.query_async(&mut connection).await },
        )
        .await
    }

    /// Sends several commands at once.
    pub(super) async fn pipeline<T: FromRedisValue>(
        &self,
        pipeline: &redis::Pipeline,
    ) -> Result<T, StoreError> {
        self.within_deadline(
            |mut connection| async move { pipeline.query_async(&mut connection).await },
        )
        .await
    }

    /// Runs a script; `command` is its `EVALSHA`. The server is given the script when it does
    /// not know it yet.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        script: &Script,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        self.within_deadline(|mut connection| async move {
            match command.query_async(&mut connection).await {
                Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                    script.load_async(&mut connection).await?;
                    command.query_async(&mut connection).await
                }
                answered => answered,
            }
        })
        .await
    }

    /// Runs a script for each of several commands at once.
    pub(super) async fn run_pipeline<T: FromRedisValue>(
        &self,
        script: &Script,
        pipeline: &redis::Pipeline,
    ) -> Result<T, StoreError> {
        self.within_deadline(|mut connection| async move {
            match pipeline.query_async(&mut connection).await {
                Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                    script.load_async(&mut connection).await?;
                    pipeline.query_async(&mut connection).await
                }
                answered => answered,
            }
        })
        .await
    }

    async fn within_deadline<T, F>(
        &self,
        call: impl FnOnce(MultiplexedConnection) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = RedisResult<T>>,
    {
        let deadline = Instant::now() + self.deadline;
        let Numbered { number, connection } = self.connection(deadline).await?;
        match timeout_at(deadline, call(connection)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                if error.is_unrecoverable_error() || error.code() == Some("READONLY") {
                    self.give_up(number);
                }
                Err(failure(&error))
            }
            Err(_) => {
                // Whoever does not answer in all that time may never do so.
                self.give_up(number);
                Err(StoreError::no_answer(self.deadline))
            }
        }
    }

    /// The connection that stands, waiting for one if there is none.
    async fn connection(&self, deadline: Instant) -> Result<Numbered, StoreError> {
        if let State::Connected(numbered) = &*self.state.borrow() {
            return Ok(numbered.clone());
        }
        let mut state = self.state.clone();
        let settled = state.wait_for(|state| match state {
            State::Connected(_) => true,
            State::Away(error) => error.as_ref().is_some_and(is_refusal),
        });
        let settled = match timeout_at(deadline, settled).await {
            Ok(state) => state.expect("the keeper lives as long as the link").clone(),
            Err(_) => self.state.borrow().clone(),
        };
        match settled {
            State::Connected(numbered) => Ok(numbered),
            State::Away(Some(error)) if is_refusal(&error) => Err(failure(&error)),
            State::Away(Some(error)) => Err(StoreError::not_applied(error)),
            State::Away(None) => Err(StoreError::no_connection(self.deadline)),
        }
    }

    fn give_up(&self, number: u64) {
        mark_broken(&self.broken, number);
    }
}

fn mark_broken(broken: &watch::Sender<u64>, number: u64) {
    broken.send_if_modified(|last| {
        let news = *last < number;
        *last = number.max(*last);
        news
    });
}

/// Connects, waits until the connection is found broken, and begins again, for ever.
async fn keep_connected(
    client: Client,
    state: watch::Sender<State>,
    broken: Arc<watch::Sender<u64>>,
) {
    let mut pause = Pause::default();
    for number in 1.. {
        let on_push = {
            let broken = Arc::clone(&broken);
            move |push: PushInfo| {
                if push.kind == PushKind::Disconnection {
                    mark_broken(&broken, number);
                }
            }
        };
        match connect(&client, on_push).await {
            Ok(connection) => {
                let since = Instant::now();
                state.send_replace(State::Connected(Numbered { number, connection }));
                let mut found_broken = broken.subscribe();
                if found_broken.wait_for(|&last| last >= number).await.is_err() {
                    return;
                }
                tracing::warn!("the connection to the store is lost");
                state.send_replace(State::Away(None));
                if since.elapsed() >= SETTLED_AFTER {
                    pause = Pause::default();
                }
            }
            Err(error) => {
                tracing::warn!(%error, "the store cannot be reached");
                state.send_replace(State::Away(Some(error)));
            }
        }
        sleep(pause.next()).await;
    }
}

/// Connects once.
pub(super) async fn connect(
    client: &Client,
    on_push: impl Fn(PushInfo) + Send + Sync + 'static,
) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT_LIMIT))
        // Each call has a deadline of its own.
        .set_response_timeout(None)
        .set_pipeline_buffer_size(QUEUE)
        .set_push_sender(move |push| {
            on_push(push);
            Ok::<(), redis::aio::SendError>(())
        });
    client.get_multiplexed_async_connection_with_config(&config).await
}

/// The pauses between attempts to connect: each twice as long as the one before, up to half a
/// second, less a random part so that replicas do not return in step.
#[derive(Debug)]
pub(super) struct Pause(Duration);

impl Pause {
    const SHORTEST: Duration = Duration::from_millis(20);
    const LONGEST: Duration = Duration::from_millis(500);

    /// How long to pause now.
    pub(super) fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(Self::LONGEST);
        pause.mul_f64(rand::random_range(0.5..=1.0))
    }
}

impl Default for Pause {
    fn default() -> Self {
        Self(Self::SHORTEST)
    }
}

/// Whether the server refuses us, which waiting does not change.
fn is_refusal(error: &RedisError) -> bool {
    error.kind() == ErrorKind::AuthenticationFailed
        || matches!(error.code(), Some("NOAUTH" | "WRONGPASS" | "NOPERM"))
}

/// What an error of a command that was sent means.
fn failure(error: &RedisError) -> StoreError {
    if is_refusal(error) {
        return Misconfiguration::AccessDenied { reason: error.to_string() }.into();
    }
    match error.code() {
        // The server says so before it begins with a script.
        Some(
            "ASK" | "BUSY" | "CLUSTERDOWN" | "LOADING" | "MASTERDOWN" | "MISCONF" | "MOVED"
            | "NOREPLICAS" | "OOM" | "READONLY" | "TRYAGAIN",
        ) => StoreError::not_applied(error),
        Some(_) => StoreError::Unintelligible(error.to_string()),
        None if matches!(error.kind(), ErrorKind::Parse | ErrorKind::UnexpectedReturnType) => {
            StoreError::Unintelligible(error.to_string())
        }
        None => StoreError::unknown(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_half_a_second() {
        let mut pause = Pause::default();
        let pauses: Vec<Duration> = (0..20).map(|_| pause.next()).collect();
        assert!(pauses[0] <= Pause::SHORTEST, "{pauses:?}");
        assert!(pauses.iter().all(|&pause| pause <= Pause::LONGEST), "{pauses:?}");
        assert!(pauses[19] >= Pause::LONGEST / 2, "{pauses:?}");
    }
}
