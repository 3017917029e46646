//! `DeleteGame`.

use std::sync::Arc;

use crate::api::callers::Caller;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Asked, Host};
use crate::api::proto::v1;

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::DeleteGameRequest,
) -> Result<v1::DeleteGameResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let id = std::mem::take(&mut request.request_id);
    let request_id = fields::request_id(id, &request, &caller, &mut faults);
    let game = fields::game_id(&request.game_id, &mut faults);
    let etag = fields::etag("etag", &request.etag, &mut faults);
    let (Some(game), 0) = (game, faults.count()) else { return Err(faults.into_error()) };
    let game = host.delete(Asked { game, request_id, etag, by: () }).await?;
    let (seed, deal) = game.disclose();
    let entropy =
        |seat| game.entropy(seat).map(|entropy| entropy.as_bytes().to_vec()).unwrap_or_default();
    Ok(v1::DeleteGameResponse {
        commitment: game.commitment().map(|commitment| commitment.0.to_vec()).unwrap_or_default(),
        entropies: game.seats().map(entropy).collect(),
        server_seed: seed.map(|seed| seed.expose().to_vec()).unwrap_or_default(),
        deal: deal.to_string(),
    })
}
