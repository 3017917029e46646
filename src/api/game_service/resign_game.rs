//! `ResignGame`.

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
    mut request: v1::ResignGameRequest,
) -> Result<v1::ResignGameResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let id = std::mem::take(&mut request.request_id);
    let token = std::mem::take(&mut request.seat_token);
    let request_id = fields::request_id(id, &request, &mut faults);
    let game = fields::game_id(&request.game_id, &mut faults);
    let seat = fields::seat(request.seat, &mut faults);
    let etag = fields::etag("etag", &request.etag, &mut faults);
    let (Some(game), 0) = (game, faults.count()) else { return Err(faults.into_error()) };
    let credential = fields::credential(&metadata, &token, seat);
    let command = |seat| Command::Resign { seat };
    let done =
        host.write(Asked { game, request_id, etag, by: BySeat(credential, command) }).await?;
    Ok(v1::ResignGameResponse {
        game: Some(convert::game::game(&done.game, View::Basic, Some(done.now))),
    })
}
