//! `WatchPlayer`.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream;
use tokio_stream::Stream;
use tonic::Status;

use crate::api::callers::{Caller, Role, while_known};
use crate::api::error::{ApiError, FieldFaults, Reason};
use crate::api::fields;
use crate::api::proto::v1;
use crate::api::watch::{PlayerWatcher, Watches};
use crate::game::Millis;

/// The messages of one watch.
pub(super) type Messages =
    Pin<Box<dyn Stream<Item = Result<v1::WatchPlayerResponse, Status>> + Send>>;

pub(super) async fn call(
    watches: &Arc<Watches>,
    caller: Caller,
    request: v1::WatchPlayerRequest,
) -> Result<Messages, ApiError> {
    if caller.player().is_none() {
        caller.require(Role::Platform)?;
    }
    let mut faults = FieldFaults::default();
    let player = fields::player_id("player_id", &request.player_id, &mut faults);
    if request.player_id.is_empty() {
        faults.add("player_id", "is empty, but a player must be named");
    }
    let after = match request.after_cursor.as_str() {
        "" => None,
        text => faults.check(
            "after_cursor",
            text.parse().map(Millis).map_err(
                |_| "is no cursor of this stream: send one back just as a message gave it",
            ),
        ),
    };
    let (Some(player), 0) = (player, faults.count()) else { return Err(faults.into_error()) };
    if !caller.is_platform() && caller.player() != Some(&player) {
        let message = "the player token is another player's than `player_id`";
        return Err(ApiError::new(Reason::OtherPlayer, message));
    }
    let watcher = watches.watch_player(player, after).await?;
    Ok(Box::pin(while_known(caller, stream::unfold(Some(watcher), next))))
}

/// The next message, and the watcher to go on with unless that was the last.
async fn next(
    watcher: Option<PlayerWatcher>,
) -> Option<(Result<v1::WatchPlayerResponse, Status>, Option<PlayerWatcher>)> {
    let mut watcher = watcher?;
    match watcher.next().await {
        Ok(message) => Some((Ok(message), Some(watcher))),
        Err(error) => Some((Err(error.into()), None)),
    }
}
