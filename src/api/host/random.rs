//! Randomness from the operating system.

use rand::TryRng as _;
use rand::rngs::SysRng;
use uuid::Uuid;

use crate::api::error::ApiError;

/// Bytes that nobody can guess.
///
/// # Errors
/// Where the operating system has none to give.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], ApiError> {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).map_err(|error| {
        tracing::error!(%error, "the operating system gives no randomness");
        ApiError::fault()
    })?;
    Ok(bytes)
}

/// A random UUID.
///
/// # Errors
/// Where the operating system has no randomness to give.
pub(crate) fn random_uuid() -> Result<Uuid, ApiError> {
    Ok(uuid::Builder::from_random_bytes(random_bytes()?).into_uuid())
}
