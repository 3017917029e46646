//! `ListLegalActions`.

use crate::api::callers::Caller;
use crate::api::convert;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Host, Sight};
use crate::api::proto::v1;

pub(super) async fn call(
    host: &Host,
    caller: Caller,
    request: v1::ListLegalActionsRequest,
) -> Result<v1::ListLegalActionsResponse, ApiError> {
    let sight = Sight::of(&caller)?;
    let mut faults = FieldFaults::default();
    let Some(id) = fields::game_id(&request.game_id, &mut faults) else {
        return Err(faults.into_error());
    };
    let (game, _) = host.show(&id, &sight).await?;
    Ok(v1::ListLegalActionsResponse {
        actions: convert::game::legal_actions(&game),
        revision: game.version().revision.0,
    })
}
