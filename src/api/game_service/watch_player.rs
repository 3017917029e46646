//! `WatchPlayer`.

use std::sync::Arc;

use futures_util::stream;

use crate::api::callers::{Caller, Messages, Role, lasting};
use crate::api::error::{ApiError, FieldFaults, Reason};
use crate::api::fields;
use crate::api::proto::v1;
use crate::api::watch::Watches;
use crate::game::Millis;

pub(super) async fn call(
    watches: &Arc<Watches>,
    caller: Caller,
    request: v1::WatchPlayerRequest,
) -> Result<Messages<v1::WatchPlayerResponse>, ApiError> {
    if caller.player().is_none() {
        let advice = "or the player's own token as `authorization: Bearer bqp_…`";
        caller.require(Role::Platform).map_err(|error| error.with_advice(advice))?;
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
    let place = caller.count_stream()?;
    let watcher = watches.watch_player(player, after).await?;
    let messages = stream::try_unfold(watcher, |mut watcher| async {
        Ok(Some((watcher.next().await?, watcher)))
    });
    Ok(lasting(caller, place, watches.stream_age(), messages))
}
