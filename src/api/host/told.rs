//! What the log was told already.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;

use crate::game::GameId;

/// How many games are remembered. Where more are told of, the oldest are told of again.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(10_000).expect("not zero");

/// Games of which the log was told, so that it need not be told again and again.
#[derive(Debug)]
pub(super) struct Told(Mutex<LruCache<GameId, ()>>);

impl Told {
    /// Whether this game is told of for the first time.
    pub(super) fn is_new(&self, game: &GameId) -> bool {
        // The cache is whole between any two of its calls, whatever panics.
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.put(game.clone(), ()).is_none()
    }
}

impl Default for Told {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(REMEMBERED)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_is_new_once() {
        let told = Told::default();
        let game: GameId = "g".parse().expect("an id");
        assert!(told.is_new(&game));
        assert!(!told.is_new(&game));
    }
}
