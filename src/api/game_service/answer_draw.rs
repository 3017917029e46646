//! `AnswerDraw`.

use std::sync::Arc;

use super::seat_call;
use crate::api::callers::Caller;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::host::{BySeat, Host};
use crate::api::proto::v1;
use crate::game::Command;

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::AnswerDrawRequest,
) -> Result<v1::AnswerDrawResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let asked = seat_call::read(&caller, &mut request, &mut faults)?;
    let (Some(asked), 0) = (asked, faults.count()) else { return Err(faults.into_error()) };
    let command = |seat| Command::AnswerDraw { seat, accept: request.accept };
    let done = host.write(asked.by(|credential| BySeat(credential, command))).await?;
    Ok(v1::AnswerDrawResponse { game: seat_call::told(&done) })
}
