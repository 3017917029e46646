//! `AbortGame`.

use std::sync::Arc;

use super::seat_call;
use crate::api::callers::Caller;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::host::{BySeatOrPlatform, Host};
use crate::api::proto::v1;
use crate::game::Command;

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::AbortGameRequest,
) -> Result<v1::AbortGameResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let asked = seat_call::read(&caller, &mut request, &mut faults)?;
    let (Some(asked), 0) = (asked, faults.count()) else { return Err(faults.into_error()) };
    let command = |seat| Command::Abort { seat };
    let done = host.write(asked.by(|credential| BySeatOrPlatform(credential, command))).await?;
    Ok(v1::AbortGameResponse { game: seat_call::told(&done) })
}
