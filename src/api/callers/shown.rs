//! The credentials that a call shows in its metadata.

use tonic::metadata::MetadataMap;

use super::{api_key, player_token};
use crate::api::error::{ApiError, Reason};
use crate::game::{SeatToken, SeatTokenError};

/// The metadata that an API key is sent as.
pub(crate) const API_KEY: &str = "x-api-key";
/// The metadata that a token is sent as.
pub(crate) const AUTHORIZATION: &str = "authorization";

/// What a call shows, still to be proven.
pub(super) struct Shown<'a> {
    /// An API key, or what should be one.
    pub(super) key: Option<&'a str>,
    /// A seat token, or what should be one.
    pub(super) seat_token: Option<Result<SeatToken, SeatTokenError>>,
    /// A player token, or what should be one.
    pub(super) player_token: Option<&'a str>,
}

impl<'a> Shown<'a> {
    /// Reads `x-api-key` and `authorization: Bearer`.
    ///
    /// # Errors
    /// Where one of them cannot be read. What was sent is not repeated.
    pub(super) fn read(metadata: &'a MetadataMap) -> Result<Self, ApiError> {
        let key = only(metadata, API_KEY)?;
        let mut shown = Self { key, seat_token: None, player_token: None };
        let Some(value) = only(metadata, AUTHORIZATION)? else { return Ok(shown) };
        let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
        let token = token.trim_start_matches(' ');
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(malformed(AUTHORIZATION, "is not of the scheme `Bearer`"));
        }
        if token.starts_with(SeatToken::PREFIX) {
            shown.seat_token = Some(token.parse());
        } else if token.starts_with(player_token::PREFIX) {
            shown.player_token = Some(token);
        } else if token.starts_with(api_key::PREFIX) {
            if shown.key.replace(token).is_some() {
                return Err(malformed(AUTHORIZATION, "has an API key, and `x-api-key` too"));
            }
        } else {
            return Err(malformed(AUTHORIZATION, "has no token of this service"));
        }
        Ok(shown)
    }
}

/// The only value of a key, if it has one.
fn only<'a>(metadata: &'a MetadataMap, key: &'static str) -> Result<Option<&'a str>, ApiError> {
    let mut values = metadata.get_all(key).iter();
    let (Some(value), others) = (values.next(), values.count()) else { return Ok(None) };
    if others > 0 {
        return Err(malformed(key, "is sent more than once"));
    }
    value.to_str().map(Some).map_err(|_| malformed(key, "is not ASCII text"))
}

fn malformed(key: &str, fault: &str) -> ApiError {
    ApiError::new(
        Reason::CredentialsMalformed,
        format!(
            "metadata `{key}` {fault}: send `x-api-key: bqk_…` or `authorization: Bearer bqk_…` \
             for an API key, `authorization: Bearer bqs_…` for a seat token, `authorization: \
             Bearer bqp_…` for a player token, each once"
        ),
    )
    .with_metadata("key", key)
}
