//! `Rematch`.

use std::sync::Arc;

use super::seat_call;
use crate::api::callers::Caller;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Asked, Host};
use crate::api::proto::v1;
use crate::game::FirstSeat;
use crate::rules::Seat;

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::RematchRequest,
) -> Result<v1::RematchResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let id = std::mem::take(&mut request.request_id);
    let token = std::mem::take(&mut request.seat_token);
    let by = fields::credential(&caller, &token, request.seat, &mut faults)?;
    let request_id = fields::secret_request_id(id, &request, &caller, &mut faults);
    let game = fields::game_id(&request.game_id, &mut faults);
    let first = first(request.first, &mut faults);
    let etag = fields::etag("etag", &request.etag, &mut faults);
    let (Some(game), 0) = (game, faults.count()) else { return Err(faults.into_error()) };
    let asked = host.rematch(Asked { game, request_id, etag, by }, first).await?;
    let token = |&seat: &Seat| {
        let token = asked.done.game.token(seat)?.expose();
        Some(v1::SeatToken { seat: seat.number().into(), token })
    };
    Ok(v1::RematchResponse {
        game: seat_call::told(&asked.done),
        seat_tokens: asked.seats.iter().filter_map(token).collect(),
    })
}

fn first(number: i32, faults: &mut FieldFaults) -> FirstSeat {
    match v1::RematchFirst::try_from(number) {
        Ok(v1::RematchFirst::Unspecified | v1::RematchFirst::Loser) => FirstSeat::Loser,
        Ok(v1::RematchFirst::Swap) => FirstSeat::Swap,
        Ok(v1::RematchFirst::Same) => FirstSeat::Same,
        Err(_) => {
            let values = "REMATCH_FIRST_LOSER, REMATCH_FIRST_SWAP or REMATCH_FIRST_SAME";
            faults.add("first", fields::unknown_value(number, values));
            FirstSeat::default()
        }
    }
}
