//! Games that this replica has ready, so that only what is new of them must be replayed.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use super::HostedGame;
use crate::game::GameId;

/// The games used last. What is in it may be out of date: only a store says what stands.
#[derive(Debug)]
pub(super) struct Cache(Mutex<LruCache<GameId, Arc<HostedGame>>>);

impl Cache {
    pub(super) fn new(capacity: NonZeroUsize) -> Self {
        Self(Mutex::new(LruCache::new(capacity)))
    }

    pub(super) fn get(&self, id: &GameId) -> Option<Arc<HostedGame>> {
        self.games().get(id).cloned()
    }

    /// Takes up a state of a game, in place of the one that it had.
    pub(super) fn put(&self, game: &Arc<HostedGame>) {
        let mut games = self.games();
        match games.get_mut(game.id()) {
            Some(known) => *known = Arc::clone(game),
            None => drop(games.put(game.id().clone(), Arc::clone(game))),
        }
    }

    pub(super) fn forget(&self, id: &GameId) {
        self.games().pop(id);
    }

    fn games(&self) -> MutexGuard<'_, LruCache<GameId, Arc<HostedGame>>> {
        // Whatever panicked, a cache is never half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
