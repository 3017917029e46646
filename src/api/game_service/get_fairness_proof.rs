//! `GetFairnessProof`.

use crate::api::callers::Caller;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Host, Sight};
use crate::api::proto::v1;

pub(super) async fn call(
    host: &Host,
    caller: Caller,
    request: v1::GetFairnessProofRequest,
) -> Result<v1::GetFairnessProofResponse, ApiError> {
    let sight = Sight::of(&caller)?;
    let mut faults = FieldFaults::default();
    let Some(id) = fields::game_id(&request.game_id, &mut faults) else {
        return Err(faults.into_error());
    };
    let (game, _) = host.show(&id, &sight).await?;
    let entropy =
        |seat| game.entropy(seat).map(|entropy| entropy.as_bytes().to_vec()).unwrap_or_default();
    Ok(v1::GetFairnessProofResponse {
        commitment: game.commitment().map(|commitment| commitment.0.to_vec()).unwrap_or_default(),
        entropies: game.seats().map(entropy).collect(),
        server_seed: game.revealed_seed().map(|seed| seed.expose().to_vec()).unwrap_or_default(),
        deal: game.revealed_deal().map(|deal| deal.to_string()).unwrap_or_default(),
    })
}
