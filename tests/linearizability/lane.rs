//! A client's way to one replica through a proxy that cuts it.

use std::time::Duration;

use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use tokio::time::timeout;
use tonic_types::StatusExt as _;

use crate::call::{Call, Games};
use crate::client::Way;
use crate::history::{CUT, LEFT, Outcome};
use crate::proxy::{Fate, Proxy};
use crate::support::PATIENCE;
use crate::table::Table;

/// Why the outcome of a call is unknown that is not the service's to answer.
const STUCK: &str = "the call never left the client";

/// One client's way to one replica.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) proxy: Proxy,
    pub(crate) client: Games,
}

impl Way for Lane {
    /// What happens on the connection, and how long the client waits if it does not wait for the
    /// answer.
    type Fate = (Fate, Option<Duration>);

    fn draw(random: &mut Xoshiro256PlusPlus) -> Self::Fate {
        let short = Duration::from_micros(random.random_range(0..4_000));
        match random.random_range(0..100) {
            0..4 => (Fate::CutBefore, None),
            4..7 => (Fate::CutWithin, None),
            7..14 => (Fate::CutAfter, None),
            14..20 => (Fate::Delay(short), None),
            // The client goes away without waiting for the answer.
            20..25 => (Fate::Pass, Some(short)),
            _ => (Fate::Pass, None),
        }
    }

    async fn send(&mut self, table: &Table, call: &Call, fate: Self::Fate) -> Outcome {
        let (fate, patience) = fate;
        self.proxy.decide(fate);
        let cuts = !matches!(fate, Fate::Pass | Fate::Delay(_));
        let sent = timeout(patience.unwrap_or(PATIENCE), call.clone().send(&mut self.client)).await;
        let outcome = match sent {
            Ok(Err(status)) if status.get_error_details().error_info().is_none() && cuts => {
                Outcome::Unknown(CUT.to_owned())
            }
            Ok(result) => Outcome::of(result),
            Err(_) if patience.is_some() => Outcome::Unknown(LEFT.to_owned()),
            // A call that never left the client is not the service's to answer.
            Err(_) if !self.proxy.has_carried_a_request() => Outcome::Unknown(STUCK.to_owned()),
            Err(_) => panic!(
                "no answer to {call} ({fate:?}) within {PATIENCE:?}: {}\n{}",
                self.proxy.carried(),
                table.recent(60)
            ),
        };
        self.proxy.decide(Fate::Pass);
        outcome
    }
}
