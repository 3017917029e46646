//! `ListLegalActions`.

use crate::api::convert;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::Host;
use crate::api::proto::v1;

pub(super) async fn call(
    host: &Host,
    request: v1::ListLegalActionsRequest,
) -> Result<v1::ListLegalActionsResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let Some(id) = fields::game_id(&request.game_id, &mut faults) else {
        return Err(faults.into_error());
    };
    let (game, _) = host.read_current(&id).await?;
    Ok(v1::ListLegalActionsResponse {
        actions: convert::game::legal_actions(&game),
        revision: game.version().revision.0,
    })
}
