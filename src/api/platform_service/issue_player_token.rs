//! `IssuePlayerToken`.

use std::time::Duration;

use crate::api::callers::Callers;
use crate::api::convert;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::proto::v1;
use crate::game::{PlayerId, Span};

/// How long a token lasts unless asked otherwise, and at most.
const LIFETIME: Span = Span::hours(1);
const MAX_LIFETIME: Span = Span::days(30);

pub(super) fn call(
    callers: &Callers,
    request: &v1::IssuePlayerTokenRequest,
) -> Result<v1::IssuePlayerTokenResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let player = faults.check("player_id", request.player_id.parse::<PlayerId>());
    let lifetime = match request.lifetime {
        Some(lifetime) => faults.check("lifetime", read(lifetime)),
        None => Some(LIFETIME),
    };
    let (Some(player), Some(lifetime)) = (player, lifetime) else {
        return Err(faults.into_error());
    };
    let (token, expires) = callers.issue_player_token(player, lifetime)?;
    let expire_time = Some(convert::game::time(expires));
    Ok(v1::IssuePlayerTokenResponse { token, expire_time })
}

/// A lifetime in whole milliseconds, at least one.
fn read(lifetime: prost_types::Duration) -> Result<Span, String> {
    let fault = || format!("is {lifetime}, but must be positive and at most 30 days (2592000s)");
    let duration = Duration::try_from(lifetime).map_err(|_| fault())?;
    let millis = u64::try_from(duration.as_millis()).map_err(|_| fault())?;
    if (1..=MAX_LIFETIME.0).contains(&millis) { Ok(Span(millis)) } else { Err(fault()) }
}
