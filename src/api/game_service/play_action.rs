//! `PlayAction`.

use std::sync::Arc;

use tonic::metadata::MetadataMap;

use crate::api::convert::{self, game::View};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Asked, BySeat, Host};
use crate::api::proto::v1;
use crate::game::Command;

pub(super) async fn call(
    host: Arc<Host>,
    metadata: MetadataMap,
    mut request: v1::PlayActionRequest,
) -> Result<v1::PlayActionResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let id = std::mem::take(&mut request.request_id);
    let token = std::mem::take(&mut request.seat_token);
    let request_id = fields::request_id(id, &request, &mut faults);
    let game = fields::game_id(&request.game_id, &mut faults);
    let seat = fields::seat(request.seat, &mut faults);
    let action = faults.check("action", request.action.parse());
    let etag = fields::etag("etag", &request.etag, &mut faults);
    let (Some(game), Some(action), 0) = (game, action, faults.count()) else {
        return Err(faults.into_error());
    };
    let credential = fields::credential(&metadata, &token, seat);
    let command = |seat| Command::Play { seat, action };
    let asked = Asked { game, request_id, etag, by: BySeat(credential, command) };
    let (done, played) = if request.validate_only {
        (host.validate(asked).await?, None)
    } else {
        let done = host.write(asked).await?;
        let played = done.game.last_deed().played;
        (done, played)
    };
    Ok(v1::PlayActionResponse {
        game: Some(convert::game::game(&done.game, View::Basic, Some(done.now))),
        record: played.as_ref().map(convert::action::record),
    })
}
