//! The sweeper of one replica: ends what nobody touches and applies what writes left behind.
//!
//! Live replicas share the shards. Compare-and-set makes a shard that is swept twice harmless, and
//! a replica that dies leaves its shards to the others once its heartbeat is gone.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::api::Host;
use crate::store::{ReplicaId, Shard, StoreError, shards_swept_by};

/// How often a replica says that it is alive and advances the clocks of its shards.
const BEAT: Duration = Duration::from_secs(2);

/// In how many beats every shard is swept once.
const BEATS_A_ROUND: usize = 5;

/// How many shards are swept at the same time.
const AT_ONCE: usize = 8;

/// How many outboxes are taken up together.
const OUTBOXES: usize = 64;

/// Sweeps for as long as it is polled. `written` tells the shards in which this replica left
/// something to apply, which is then done at once.
pub(super) async fn sweep(host: Arc<Host>, mut written: mpsc::Receiver<Shard>) {
    let replica = ReplicaId(uuid::Uuid::now_v7());
    let mut beats = interval(BEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut part = 0;
    let mut outboxes = Vec::with_capacity(OUTBOXES);
    loop {
        let swept = tokio::select! {
            _ = beats.tick() => {
                part = (part + 1) % BEATS_A_ROUND;
                beat(&host, replica, part).await
            }
            1.. = written.recv_many(&mut outboxes, OUTBOXES) => {
                outboxes.sort_unstable();
                outboxes.dedup();
                let shards = std::mem::take(&mut outboxes);
                for_each(shards, |shard| host.drain_outbox(shard)).await
            }
        };
        if let Err(error) = swept {
            tracing::warn!(%error, "sweeping is interrupted");
        }
    }
}

/// One beat: this replica is alive, its shards' clocks go on, and a part of its shards is swept.
async fn beat(host: &Host, replica: ReplicaId, part: usize) -> Result<(), StoreError> {
    let store = host.store();
    store.heartbeat(replica).await?;
    let live = store.live_replicas().await?;
    let shards = shards_swept_by(replica, &live, store.shards());
    store.beat(&shards).await?;
    let shards: Vec<Shard> = shards.into_iter().skip(part).step_by(BEATS_A_ROUND).collect();
    for_each(shards, |shard| async move {
        host.enforce_deadlines(shard).await?;
        host.drain_outbox(shard).await
    })
    .await
}

/// Does something for every shard, a few at a time, and stops at the first failure.
async fn for_each<F>(shards: Vec<Shard>, sweep: impl Fn(Shard) -> F) -> Result<(), StoreError>
where
    F: Future<Output = Result<(), StoreError>>,
{
    let mut sweeps = stream::iter(shards).map(sweep).buffer_unordered(AT_ONCE);
    while let Some(swept) = sweeps.next().await {
        swept?;
    }
    Ok(())
}
