//! What goes wrong at large while games are played.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use tokio::time::sleep;

use crate::backend::{Backend, REPLICAS};
use crate::losses::Loss;
use crate::table::Table;

/// How far off the clock is at most, in milliseconds: twice that is less than an ended game is kept.
const FARTHEST: i64 = 10 * 24 * 3_600_000;

/// Which kinds of trouble there are in a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Troubles {
    pauses: bool,
    jumps: bool,
    losses: bool,
}

impl Troubles {
    pub(crate) fn draw(random: &mut Xoshiro256PlusPlus) -> Self {
        let mut likely = || random.random_ratio(1, 2);
        Self { pauses: likely(), jumps: likely(), losses: likely() }
    }

    /// Makes trouble for as long as it is polled. A game suffers one loss at most.
    pub(crate) async fn make(
        self,
        random: &mut Xoshiro256PlusPlus,
        backend: &Arc<Backend>,
        tables: &[Table],
        losses: &RefCell<Vec<Option<Loss>>>,
    ) {
        loop {
            sleep(Duration::from_millis(random.random_range(5..150))).await;
            if backend.weather.is_calm() {
                return std::future::pending().await;
            }
            match random.random_range(0..100) {
                0..15 if self.pauses => {
                    let span = Duration::from_millis(random.random_range(10..3_000));
                    backend.pause(random.random_range(0..REPLICAS), span);
                }
                15..30 if self.jumps => {
                    let off = backend.clock.off();
                    let to = match random.random_range(0..3) {
                        0 => random.random_range(-FARTHEST..FARTHEST),
                        1 => -off,
                        _ => (off + random.random_range(-5_000..5_000)).clamp(-FARTHEST, FARTHEST),
                    };
                    backend.jump(to - off);
                }
                30..80 if self.losses => {
                    let hit = random.random_range(0..tables.len());
                    let lost = random.random_range(1..4);
                    let loss = &mut losses.borrow_mut()[hit];
                    if loss.is_none() {
                        *loss = Loss::happen(backend, &tables[hit], lost);
                    }
                }
                _ => {}
            }
        }
    }
}
