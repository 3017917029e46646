//! The connection that hints arrive on: one for all subscribers of a store.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Client, PushInfo, PushKind, RedisError, RedisResult, Value};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::link::{Pause, connect};
use crate::store::hint::{Hint, Hints};

/// How many channels one command subscribes to at most.
const BATCH: usize = 1_000;

/// After how long without anything to do the connection is tried, and how long that may take.
const TRY_EVERY: Duration = Duration::from_secs(5);
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// Listens to the channels that somebody waits for. Connects when first somebody does.
pub(super) fn listen(client: Client, hints: Arc<Hints>) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(keep_listening(client, hints)))
}

/// Connects, listens until the connection is lost, and begins again, for ever.
async fn keep_listening(client: Client, hints: Arc<Hints>) {
    let mut pause = Pause::default();
    loop {
        hints.wait_until_unsettled().await;
        let disconnected = Arc::new(Notify::new());
        let on_push = {
            let (hints, disconnected) = (Arc::clone(&hints), Arc::clone(&disconnected));
            move |push: PushInfo| receive(&hints, &disconnected, &push)
        };
        match connect(&client, on_push).await {
            Ok(connection) => {
                pause = Pause::default();
                let error = settle_until_lost(connection, &hints, &disconnected).await;
                tracing::warn!(%error, "the connection for hints is lost");
            }
            Err(error) => tracing::warn!(%error, "no connection for hints"),
        }
        // Also after an attempt that failed, so that topics given up meanwhile are forgotten.
        hints.unconfirm_all();
        sleep(pause.next()).await;
    }
}

/// Takes what the server sends without being asked.
fn receive(hints: &Hints, disconnected: &Notify, push: &PushInfo) {
    match (&push.kind, push.data.first()) {
        (PushKind::Message, Some(Value::BulkString(channel))) => {
            if let Ok(channel) = std::str::from_utf8(channel) {
                let presence = push.data.get(1) == Some(&Value::BulkString(b"p".to_vec()));
                hints.give(channel, if presence { Hint::PRESENCE } else { Hint::RECORD });
            }
        }
        (PushKind::Disconnection, _) => disconnected.notify_one(),
        _ => {}
    }
}

/// Tells the server of every topic that gained or lost its subscribers, until the connection is
/// lost; and says why it is.
async fn settle_until_lost(
    mut connection: MultiplexedConnection,
    hints: &Hints,
    disconnected: &Notify,
) -> RedisError {
    let mut subscribed = HashSet::new();
    loop {
        let done = tokio::select! {
            () = disconnected.notified() => Err(closed()),
            () = hints.wait_until_unsettled() => {
                settle(&mut connection, hints, &mut subscribed).await
            }
            () = sleep(TRY_EVERY) => {
                answered(redis::cmd("PING").query_async::<()>(&mut connection)).await
            }
        };
        if let Err(error) = done {
            return error;
        }
    }
}

/// Tells the server of some of the topics.
async fn settle(
    connection: &mut MultiplexedConnection,
    hints: &Hints,
    subscribed: &mut HashSet<Arc<str>>,
) -> RedisResult<()> {
    let (wanted, unwanted): (Vec<_>, Vec<_>) =
        hints.take_unsettled(BATCH).into_iter().partition(|(_, wanted)| *wanted);
    let wanted: Vec<Arc<str>> = wanted.into_iter().map(|(topic, _)| topic).collect();
    let joined: Vec<&str> =
        wanted.iter().filter(|topic| !subscribed.contains(*topic)).map(|topic| &**topic).collect();
    if !joined.is_empty() {
        answered(connection.subscribe(&joined)).await?;
        subscribed.extend(wanted.iter().cloned());
    }
    for topic in &wanted {
        hints.confirm(topic);
    }
    let left: Vec<&str> = unwanted
        .iter()
        .filter(|(topic, _)| subscribed.contains(topic))
        .map(|(topic, _)| &**topic)
        .collect();
    if !left.is_empty() {
        answered(connection.unsubscribe(&left)).await?;
        for (topic, _) in &unwanted {
            subscribed.remove(topic);
        }
    }
    Ok(())
}

async fn answered(call: impl Future<Output = RedisResult<()>>) -> RedisResult<()> {
    timeout(ANSWER_LIMIT, call).await.unwrap_or_else(|_| Err(closed()))
}

fn closed() -> RedisError {
    std::io::Error::from(std::io::ErrorKind::ConnectionAborted).into()
}
