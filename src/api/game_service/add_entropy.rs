//! `AddEntropy`.

use std::sync::Arc;

use tonic::metadata::MetadataMap;

use crate::api::convert::{self, game::View};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Asked, BySeat, Host};
use crate::api::proto::v1;
use crate::game::{Command, Entropy};

pub(super) async fn call(
    host: Arc<Host>,
    metadata: MetadataMap,
    mut request: v1::AddEntropyRequest,
) -> Result<v1::AddEntropyResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let id = std::mem::take(&mut request.request_id);
    let token = std::mem::take(&mut request.seat_token);
    let request_id = fields::request_id(id, &request, &mut faults);
    let game = fields::game_id(&request.game_id, &mut faults);
    let seat = fields::seat(request.seat, &mut faults);
    let entropy = faults.check("entropy", Entropy::new(&request.entropy));
    let etag = fields::etag("etag", &request.etag, &mut faults);
    let (Some(game), Some(entropy), 0) = (game, entropy, faults.count()) else {
        return Err(faults.into_error());
    };
    let credential = fields::credential(&metadata, &token, seat);
    let command = |seat| Command::AddEntropy { seat, entropy: entropy.clone() };
    let done =
        host.write(Asked { game, request_id, etag, by: BySeat(credential, command) }).await?;
    Ok(v1::AddEntropyResponse {
        game: Some(convert::game::game(&done.game, View::Basic, Some(done.now))),
    })
}
