//! What the log says of writes that were not done through no fault of their callers.

use sha2::{Digest as _, Sha256};
use tonic::Code;

use super::RequestId;
use crate::api::error::{ApiError, Reason};
use crate::api::export::Hexadecimal;
use crate::game::GameId;

/// How many bytes of a request id's hash the log has.
const HASH_LENGTH: usize = 8;

/// Passes on what came of a write, and logs it where the store, its record or the service is to
/// blame: under which game, and by which request, so that whoever asks about it finds it.
///
/// The log has a hash of the request id, the first 16 digits of its SHA-256, since whoever knows a
/// creation's id is answered its tokens.
pub(super) fn logged<T>(
    game: &GameId,
    request_id: Option<&RequestId>,
    outcome: Result<T, ApiError>,
) -> Result<T, ApiError> {
    outcome.inspect_err(|error| {
        let reason = error.reason();
        let is_to_blame =
            matches!(reason.code(), Code::Unavailable | Code::Internal | Code::DataLoss);
        if is_to_blame || reason == Reason::Contention {
            let request = request_id.map(|request| {
                let hash = Sha256::digest(&request.id);
                tracing::field::display(Hexadecimal(hash[..HASH_LENGTH].to_vec()))
            });
            tracing::warn!(%game, request, %reason, "a write was not done");
        }
    })
}
