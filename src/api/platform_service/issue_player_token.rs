//! `IssuePlayerToken`.

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

/// A lifetime, rounded down to milliseconds, of which it has at least one. Read field by field, since
/// what `prost_types` does with a span overflows where that is as far out of range as it can be.
fn read(lifetime: prost_types::Duration) -> Result<Span, String> {
    let prost_types::Duration { seconds, nanos } = lifetime;
    let millis = || {
        let nanos = u64::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?;
        u64::try_from(seconds).ok()?.checked_mul(1_000)?.checked_add(nanos / 1_000_000)
    };
    millis().filter(|millis| (1..=MAX_LIFETIME.0).contains(millis)).map(Span).ok_or_else(|| {
        format!(
            "is {seconds} s and {nanos} ns, but must be positive and at most 30 days (2592000 s)"
        )
    })
}
