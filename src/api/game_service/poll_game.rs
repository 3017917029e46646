//! `PollGame`.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::api::callers::Caller;
use crate::api::convert::{self, time_control::span};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::Sight;
use crate::api::proto::v1;
use crate::api::proto::v1::watch_game_response::Message;
use crate::api::watch::{Watcher, Watches};
use crate::game::Span;

/// How long a call may wait at most.
const LONGEST_WAIT: Span = Span(60_000);

/// How many events one answer tells at most.
const MAX_EVENTS: usize = 100;

pub(super) async fn call(
    watches: &Arc<Watches>,
    caller: Caller,
    request: v1::PollGameRequest,
) -> Result<v1::PollGameResponse, ApiError> {
    let sight = Sight::of(&caller)?;
    let mut faults = FieldFaults::default();
    let id = fields::game_id(&request.game_id, &mut faults);
    let after = fields::etag("after_etag", &request.after_etag, &mut faults);
    let wait = request.wait.and_then(|wait| faults.check("wait", span(&wait))).unwrap_or_default();
    if wait > LONGEST_WAIT {
        faults.add("wait", format!("is {} ms, but must be at most {}", wait.0, LONGEST_WAIT.0));
    }
    let (Some(id), 0) = (id, faults.count()) else { return Err(faults.into_error()) };
    let deadline = Instant::now() + Duration::from_millis(wait.0);
    let mut watcher = watches.watch(&id, after, sight).await?;
    let mut answer = v1::PollGameResponse::default();
    // The first message never waits: it brings the reader up to date.
    let mut message = watcher.next().await?;
    while let Some(news) = message {
        match news {
            Message::Snapshot(snapshot) => {
                answer.history_lost = snapshot.history_lost;
                answer.game = snapshot.game;
                return Ok(answer);
            }
            Message::Event(event) => {
                answer.events.push(event);
                if answer.events.len() >= MAX_EVENTS {
                    break;
                }
            }
            Message::KeepAlive(_) | Message::Presence(_) => {}
        }
        // What has come already is told; what is to come is waited for only where nothing has.
        let until = if answer.events.is_empty() { deadline } else { Instant::now() };
        message = match timeout_at(until, watcher.next()).await {
            Ok(next) => next?,
            Err(_) => None,
        };
    }
    answer.game = match answer.events.last() {
        Some(event) => event.game.clone(),
        None => Some(watcher.game().await?),
    };
    with_time(&watcher, &mut answer).await?;
    Ok(answer)
}

/// Adds the time of the answer, which events leave out.
async fn with_time(watcher: &Watcher, answer: &mut v1::PollGameResponse) -> Result<(), ApiError> {
    if let Some(game) = &mut answer.game {
        convert::game::set_server_time(game, watcher.now().await?);
    }
    Ok(())
}
