//! `ReissueSeatToken`.

use std::sync::Arc;

use crate::api::callers::{Caller, Role};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Asked, ByAnyone, Host, Sight};
use crate::api::proto::v1;
use crate::game::Command;

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::ReissueSeatTokenRequest,
) -> Result<v1::ReissueSeatTokenResponse, ApiError> {
    caller.require(Role::Platform)?;
    let mut faults = FieldFaults::default();
    let id = std::mem::take(&mut request.request_id);
    let request_id = fields::secret_request_id(id, &request, &caller, &mut faults);
    let game = fields::game_id(&request.game_id, &mut faults);
    let seat = fields::needed_seat(request.seat, &mut faults);
    let etag = fields::etag("etag", &request.etag, &mut faults);
    let (Some(game), Some(seat), 0) = (game, seat, faults.count()) else {
        return Err(faults.into_error());
    };
    let by = ByAnyone(Sight::of(&caller)?, Command::ReissueToken { seat });
    let done = host.write(Asked { game, request_id, etag, by }).await?;
    let token = done.game.token(seat).ok_or_else(ApiError::fault)?;
    Ok(v1::ReissueSeatTokenResponse { seat_token: token.expose() })
}
