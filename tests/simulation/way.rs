//! A client's way to a replica of the simulation: it gets there, but may not stay for the answer.

use std::time::Duration;

use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use tokio::time::timeout;

use crate::call::{Call, Games};
use crate::client::Way;
use crate::history::{LEFT, Outcome};
use crate::table::Table;

/// How long a call may take: every attempt of a write may find the store away until its deadline.
const PATIENCE: Duration = Duration::from_secs(120);

impl Way for Games {
    /// For how long the client waits, if it does not wait for the answer.
    type Fate = Option<Duration>;

    fn draw(random: &mut Xoshiro256PlusPlus) -> Self::Fate {
        let short = Duration::from_millis(random.random_range(0..60));
        random.random_ratio(6, 100).then_some(short)
    }

    async fn send(&mut self, table: &Table, call: &Call, patience: Self::Fate) -> Outcome {
        match timeout(patience.unwrap_or(PATIENCE), call.clone().send(self)).await {
            Ok(result) => Outcome::of(result),
            Err(_) if patience.is_some() => Outcome::Unknown(LEFT.to_owned()),
            Err(_) => panic!("no answer to {call} within {PATIENCE:?}\n{}", table.recent(60)),
        }
    }
}
