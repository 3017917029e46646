//! `AddEntropy`.

use std::sync::Arc;

use super::seat_call;
use crate::api::callers::Caller;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::host::{BySeat, Host};
use crate::api::proto::v1;
use crate::game::{Command, Entropy};

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::AddEntropyRequest,
) -> Result<v1::AddEntropyResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let asked = seat_call::read(&caller, &mut request, &mut faults)?;
    let entropy = faults.check("entropy", Entropy::new(&request.entropy));
    let (Some(asked), Some(entropy), 0) = (asked, entropy, faults.count()) else {
        return Err(faults.into_error());
    };
    let command = |seat| Command::AddEntropy { seat, entropy: entropy.clone() };
    let done = host.write(asked.by(|credential| BySeat(credential, command))).await?;
    Ok(v1::AddEntropyResponse { game: seat_call::told(&done) })
}
