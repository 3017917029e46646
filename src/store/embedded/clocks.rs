//! The shards' clocks as they run; the database has what a restart goes on from.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::game::Millis;
use crate::store::clock::ShardClock;
use crate::store::{Shard, TimeSource};

/// The clocks of all shards.
#[derive(Debug)]
pub(super) struct Clocks {
    source: Arc<dyn TimeSource>,
    shards: Mutex<HashMap<u16, Kept>>,
}

/// One shard's clock.
#[derive(Clone, Copy, Debug)]
struct Kept {
    clock: ShardClock,
    /// Whether a game of the shard has a deadline.
    running: bool,
}

impl Clocks {
    /// Clocks that go on from what was stored of them, in shards in which games have deadlines or
    /// not.
    pub(super) fn new(
        source: Arc<dyn TimeSource>,
        stored: impl IntoIterator<Item = (u16, ShardClock)>,
        running: impl Fn(u16) -> bool,
    ) -> Self {
        let kept = |(shard, clock)| (shard, Kept { clock, running: running(shard) });
        Self { source, shards: Mutex::new(stored.into_iter().map(kept).collect()) }
    }

    /// Advances a shard's clock.
    pub(super) fn advance(&self, shard: Shard) -> ShardClock {
        let source = self.source.now();
        let mut shards = self.shards();
        let kept = shards.entry(shard.number()).or_insert_with(|| Kept::starting(source));
        kept.clock = kept.clock.advanced(source, kept.running);
        kept.clock
    }

    /// Notes whether a game of a shard has a deadline.
    pub(super) fn set_running(&self, shard: u16, running: bool) {
        let source = self.source.now();
        self.shards().entry(shard).or_insert_with(|| Kept::starting(source)).running = running;
    }

    fn shards(&self) -> MutexGuard<'_, HashMap<u16, Kept>> {
        // What is kept of a shard is whole after every step, whatever panics.
        self.shards.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn starting(source: Millis) -> Self {
        Self { clock: ShardClock::starting(source), running: false }
    }
}
