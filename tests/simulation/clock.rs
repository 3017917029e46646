//! The clock of the simulated store's server.

use std::sync::atomic::{AtomicI64, Ordering};

use banqi::game::Millis;
use banqi::store::TimeSource;
use tokio::time::Instant;

/// When simulations begin, in milliseconds since the Unix epoch.
const BEGINNING: i64 = 1_800_000_000_000;

/// A clock that goes with the runtime's paused one, and jumps.
#[derive(Debug)]
pub(crate) struct SimulatedClock {
    began: Instant,
    /// How far it has jumped, in milliseconds.
    off: AtomicI64,
}

impl SimulatedClock {
    pub(crate) fn starting() -> Self {
        Self { began: Instant::now(), off: AtomicI64::new(0) }
    }

    /// How long the simulation has run, in milliseconds.
    pub(crate) fn elapsed(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// How far it has jumped in all, in milliseconds.
    pub(crate) fn off(&self) -> i64 {
        self.off.load(Ordering::SeqCst)
    }

    pub(crate) fn jump(&self, by: i64) {
        self.off.fetch_add(by, Ordering::SeqCst);
    }
}

impl TimeSource for SimulatedClock {
    fn now(&self) -> Millis {
        let now = BEGINNING + self.elapsed() as i64 + self.off();
        Millis(u64::try_from(now).expect("jumps are shorter than that"))
    }
}
