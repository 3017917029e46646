//! Games that this replica has ready, so that only what is new of them must be replayed.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use crate::game::{Game, GameId};

/// The games used last. What is in it may be out of date: only a store says what stands.
#[derive(Debug)]
pub(super) struct Cache(Mutex<LruCache<GameId, Arc<Game>>>);

impl Cache {
    pub(super) fn new(capacity: NonZeroUsize) -> Self {
        Self(Mutex::new(LruCache::new(capacity)))
    }

    pub(super) fn get(&self, id: &GameId) -> Option<Arc<Game>> {
        self.games().get(id).cloned()
    }

    pub(super) fn put(&self, game: &Arc<Game>) {
        self.games().put(game.id().clone(), Arc::clone(game));
    }

    pub(super) fn forget(&self, id: &GameId) {
        self.games().pop(id);
    }

    fn games(&self) -> MutexGuard<'_, LruCache<GameId, Arc<Game>>> {
        // Whatever panicked, a cache is never half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
