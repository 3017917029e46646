//! `PlayAction`.

use std::sync::Arc;

use super::seat_call;
use crate::api::answer::PlayActionResponse;
use crate::api::callers::Caller;
use crate::api::convert;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::host::{BySeat, Host};
use crate::api::proto::v1;
use crate::game::Command;
use crate::store::Durability;

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::PlayActionRequest,
) -> Result<PlayActionResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let asked = seat_call::read(&caller, &mut request, &mut faults)?;
    let action = faults.check("action", request.action.parse());
    let (Some(asked), Some(action), 0) = (asked, action, faults.count()) else {
        return Err(faults.into_error());
    };
    let command = |seat| Command::Play { seat, action };
    let asked = asked.by(|credential| BySeat(credential, command));
    let (done, played) = if request.validate_only {
        (host.validate(asked).await?, None)
    } else {
        let done = host.write(asked).await?;
        let played = done.game.last_deed().played;
        (done, played)
    };
    Ok(PlayActionResponse {
        game: done.game.encoded().at(done.now),
        record: played.as_ref().map(convert::action::record),
        durability: done.durability.map(|Durability { wanted, acknowledged }| v1::Durability {
            wanted: wanted.get(),
            acknowledged,
        }),
    })
}
