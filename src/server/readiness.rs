//! Following whether the store answers, without which a replica wants no calls about games.

use std::time::Duration;

use tokio::time::sleep;

use super::health::Health;
use crate::store::Store;

/// How long after one answer the store is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// How many times in a row the store must not answer before readiness goes off. Once is a
/// connection that broke; the next is there before a balancer has noticed.
const PATIENCE: u32 = 2;

/// Turns readiness off while the store is away, for as long as it is polled.
pub(super) async fn follow(store: &dyn Store, health: &Health) {
    let mut failures = 0;
    loop {
        match store.ping().await {
            Ok(()) => failures = 0,
            Err(error) => {
                failures += 1;
                if failures == PATIENCE {
                    tracing::warn!(%error, "the store is away: not ready");
                }
            }
        }
        if health.tell_store(failures < PATIENCE).await && failures == 0 {
            tracing::info!("the store answers again: ready");
        }
        sleep(PAUSE).await;
    }
}
