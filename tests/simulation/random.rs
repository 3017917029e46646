//! Randomness that a seed foretells.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::{Mutex, PoisonError};

use banqi::api::RandomSource;
use rand::rngs::{SysError, Xoshiro256PlusPlus};
use rand::{Rng as _, SeedableRng as _};

/// The random numbers of one purpose in the run with this seed.
pub(crate) fn random_for(seed: u64, purpose: impl Hash) -> Xoshiro256PlusPlus {
    let mut hasher = DefaultHasher::new();
    (seed, purpose).hash(&mut hasher);
    Xoshiro256PlusPlus::seed_from_u64(hasher.finish())
}

/// What a replica takes for the operating system's randomness.
#[derive(Debug)]
pub(crate) struct SeededSource(Mutex<Xoshiro256PlusPlus>);

impl SeededSource {
    pub(crate) fn new(random: Xoshiro256PlusPlus) -> Self {
        Self(Mutex::new(random))
    }
}

impl RandomSource for SeededSource {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), SysError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(bytes);
        Ok(())
    }
}
