//! `JoinGame`.

use std::sync::Arc;

use crate::api::callers::{Caller, Role};
use crate::api::convert::{self, game::View};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Asked, ByAnyone, Host, Sight};
use crate::api::proto::v1;
use crate::game::Command;

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::JoinGameRequest,
) -> Result<v1::JoinGameResponse, ApiError> {
    caller.require(Role::Player)?;
    let mut faults = FieldFaults::default();
    let id = std::mem::take(&mut request.request_id);
    let request_id = fields::secret_request_id(id, &request, &caller, &mut faults);
    let game = fields::game_id(&request.game_id, &mut faults);
    let seat = fields::seat(request.seat, &mut faults);
    let player = fields::player_id("player_id", &request.player_id, &mut faults);
    let entropy = fields::entropy(&request.entropy, &mut faults);
    let etag = fields::etag("etag", &request.etag, &mut faults);
    let (Some(game), 0) = (game, faults.count()) else { return Err(faults.into_error()) };
    let by = ByAnyone(Sight::of(&caller)?, Command::Join { seat, player, entropy });
    let done = host.write(Asked { game, request_id, etag, by }).await?;
    let joined = done.game.last_deed().by;
    let token = joined.and_then(|seat| done.game.token(seat));
    let (Some(seat), Some(token)) = (joined, token) else {
        return Err(ApiError::fault());
    };
    Ok(v1::JoinGameResponse {
        game: Some(convert::game::game(&done.game, View::Basic, Some(done.now))),
        seat: seat.number().into(),
        seat_token: token.expose(),
    })
}
