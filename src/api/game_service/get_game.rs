//! `GetGame`.

use prost::Message as _;

use crate::api::answer::GetGameResponse;
use crate::api::callers::Caller;
use crate::api::convert::{self, game::View};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Host, Sight};
use crate::api::proto::v1;

pub(super) async fn call(
    host: &Host,
    caller: Caller,
    request: v1::GetGameRequest,
) -> Result<GetGameResponse, ApiError> {
    let sight = Sight::of(&caller)?;
    let mut faults = FieldFaults::default();
    let id = fields::game_id(&request.game_id, &mut faults);
    let view = fields::view(request.view, &mut faults);
    let (Some(id), 0) = (id, faults.count()) else { return Err(faults.into_error()) };
    let (game, now) = host.show(&id, &sight).await?;
    let game = match view {
        View::Basic => game.encoded().at(now),
        View::Full => convert::game::game(&game, view, Some(now)).encode_to_vec().into(),
    };
    Ok(GetGameResponse { game })
}
