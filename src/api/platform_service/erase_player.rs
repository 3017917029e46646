//! `ErasePlayer`.

use std::sync::Arc;

use crate::api::error::{ApiError, FieldFaults};
use crate::api::host::Host;
use crate::api::page_token::List;
use crate::api::proto::v1;

pub(super) async fn call(
    host: Arc<Host>,
    request: v1::ErasePlayerRequest,
) -> Result<v1::ErasePlayerResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let player = faults.check("player_id", request.player_id.parse());
    let list = List::of("ErasePlayer", [request.player_id.as_bytes()]);
    let after = faults.check("page_token", list.read(&request.page_token));
    let (Some(player), Some(after)) = (player, after) else { return Err(faults.into_error()) };
    let erased = host.erase_player(&player, after).await?;
    Ok(v1::ErasePlayerResponse {
        games_changed: erased.changed,
        failed_game_ids: erased.failed.iter().map(ToString::to_string).collect(),
        done: erased.last.is_none(),
        next_page_token: erased.last.map(|last| list.after(&last)).unwrap_or_default(),
    })
}
