//! Where what nobody may guess comes from: seeds of deals, keys of games, ids.

use std::fmt;

use rand::TryRng as _;
use rand::rngs::{SysError, SysRng};
use uuid::Uuid;

use super::Host;
use crate::api::error::ApiError;

/// Where randomness comes from: the operating system, except in a simulation that is to take the
/// same course again.
pub trait RandomSource: fmt::Debug + Send + Sync {
    /// Fills the bytes with randomness.
    ///
    /// # Errors
    /// Where the operating system has none to give.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), SysError>;
}

/// The operating system's randomness, which nobody can guess.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandomSource;

impl RandomSource for SystemRandomSource {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), SysError> {
        SysRng.try_fill_bytes(bytes)
    }
}

/// What a call is told that takes randomness where there is none.
pub(super) fn no_randomness(error: &SysError) -> ApiError {
    tracing::error!(%error, "the operating system gives no randomness");
    ApiError::fault()
}

impl Host {
    /// Random bytes.
    ///
    /// # Errors
    /// Where the operating system has none to give.
    pub(crate) fn random_bytes<const N: usize>(&self) -> Result<[u8; N], ApiError> {
        let mut bytes = [0; N];
        self.random.fill(&mut bytes).map_err(|error| no_randomness(&error))?;
        Ok(bytes)
    }

    /// A random UUID.
    ///
    /// # Errors
    /// Where the operating system has no randomness to give.
    pub(super) fn random_uuid(&self) -> Result<Uuid, ApiError> {
        Ok(uuid::Builder::from_random_bytes(self.random_bytes()?).into_uuid())
    }
}
