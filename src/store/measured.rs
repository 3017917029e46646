//! A store whose calls are counted and timed.

use std::sync::Arc;

use async_trait::async_trait;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use tokio::time::Instant;

use super::codec::RecordCodec;
use super::{
    Commit, Due, Entry, EntryId, Finding, Found, IndexEntry, Outcome, Place, Presence, PresentSlot,
    Record, ReplicaId, Shard, ShardCount, Store, StoreError, Subscription,
};
use crate::game::{GameId, Millis, Span, Version};

/// Upper bounds for how long a call takes, in seconds; a store has 2 s.
const TIMES: [f64; 12] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 2.0];

/// A store, and how its calls went.
#[derive(Debug)]
pub struct MeasuredStore {
    inner: Arc<dyn Store>,
    times: Family<OperationLabels, Histogram>,
    failures: Family<FailureLabels, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    operation: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FailureLabels {
    operation: &'static str,
    error: &'static str,
}

impl MeasuredStore {
    /// Measures a store; what comes of it is added to what is told of the process.
    pub fn new(inner: Arc<dyn Store>, registry: &mut Registry) -> Arc<Self> {
        let times = Family::new_with_constructor((|| Histogram::new(TIMES)) as fn() -> Histogram);
        let failures = Family::default();
        registry.register_with_unit(
            "store_call",
            "How long calls of the store took",
            Unit::Seconds,
            times.clone(),
        );
        registry.register(
            "store_call_failures",
            "Calls of the store that failed",
            failures.clone(),
        );
        Arc::new(Self { inner, times, failures })
    }

    async fn measure<T>(
        &self,
        operation: &'static str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let begun = Instant::now();
        let result = call.await;
        let time = begun.elapsed().as_secs_f64();
        self.times.get_or_create(&OperationLabels { operation }).observe(time);
        if let Err(error) = &result {
            let error = match error {
                StoreError::Unavailable { .. } => "unavailable",
                StoreError::Corrupt(_) => "corrupt",
                StoreError::Unintelligible(_) => "unintelligible",
                StoreError::Misconfigured(_) => "misconfigured",
            };
            self.failures.get_or_create(&FailureLabels { operation, error }).inc();
        }
        result
    }
}

#[async_trait]
impl Store for MeasuredStore {
    fn shards(&self) -> ShardCount {
        self.inner.shards()
    }

    fn records(&self) -> &RecordCodec {
        self.inner.records()
    }

    fn place(&self, shard: Shard) -> Place {
        self.inner.place(shard)
    }

    async fn load(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        self.measure("load", self.inner.load(game)).await
    }

    async fn load_confirmed(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        self.measure("load_confirmed", self.inner.load_confirmed(game)).await
    }

    async fn load_many(&self, games: &[GameId]) -> Result<Vec<Found<Record>>, StoreError> {
        self.measure("load_many", self.inner.load_many(games)).await
    }

    async fn versions(&self, games: &[GameId]) -> Result<Vec<Found<Version>>, StoreError> {
        self.measure("versions", self.inner.versions(games)).await
    }

    async fn commit(&self, commit: &Commit) -> Result<Outcome, StoreError> {
        self.measure("commit", self.inner.commit(commit)).await
    }

    fn known_now(&self, shard: Shard) -> Option<Millis> {
        self.inner.known_now(shard)
    }

    // Nearly always an estimate of this process, which is no call.
    async fn now(&self, shard: Shard) -> Result<Millis, StoreError> {
        self.inner.now(shard).await
    }

    async fn beat(&self, shards: &[Shard]) -> Result<(), StoreError> {
        self.measure("beat", self.inner.beat(shards)).await
    }

    async fn subscribe(&self, game: &GameId) -> Result<Subscription, StoreError> {
        self.measure("subscribe", self.inner.subscribe(game)).await
    }

    async fn mark_present(&self, presences: &[Presence], lifetime: Span) -> Result<(), StoreError> {
        self.measure("mark_present", self.inner.mark_present(presences, lifetime)).await
    }

    async fn clear_present(&self, presences: &[Presence]) -> Result<(), StoreError> {
        self.measure("clear_present", self.inner.clear_present(presences)).await
    }

    async fn present(&self, games: &[GameId]) -> Result<Vec<Vec<PresentSlot>>, StoreError> {
        self.measure("present", self.inner.present(games)).await
    }

    async fn first_deadlines(&self, shards: &[Shard]) -> Result<Vec<Option<Millis>>, StoreError> {
        self.measure("first_deadlines", self.inner.first_deadlines(shards)).await
    }

    async fn due(&self, shard: Shard, now: Millis, limit: u32) -> Result<Vec<Due>, StoreError> {
        self.measure("due", self.inner.due(shard, now, limit)).await
    }

    async fn postpone(&self, due: &Due, until: Option<Millis>) -> Result<(), StoreError> {
        self.measure("postpone", self.inner.postpone(due, until)).await
    }

    async fn feed(
        &self,
        shard: Shard,
        after: EntryId,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        self.measure("feed", self.inner.feed(shard, after, limit)).await
    }

    async fn outbox(&self, shard: Shard, limit: u32) -> Result<Vec<Entry>, StoreError> {
        self.measure("outbox", self.inner.outbox(shard, limit)).await
    }

    async fn acknowledge(&self, shard: Shard, entries: &[EntryId]) -> Result<(), StoreError> {
        self.measure("acknowledge", self.inner.acknowledge(shard, entries)).await
    }

    async fn index_add(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        self.measure("index_add", self.inner.index_add(player, entry)).await
    }

    async fn index_remove(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        self.measure("index_remove", self.inner.index_remove(player, entry)).await
    }

    async fn index_page(
        &self,
        player: &str,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.measure("index_page", self.inner.index_page(player, before, limit)).await
    }

    async fn listing_page(
        &self,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.measure("listing_page", self.inner.listing_page(before, limit)).await
    }

    async fn listing_remove(&self, entry: &IndexEntry) -> Result<(), StoreError> {
        self.measure("listing_remove", self.inner.listing_remove(entry)).await
    }

    async fn heartbeat(&self, replica: ReplicaId) -> Result<(), StoreError> {
        self.measure("heartbeat", self.inner.heartbeat(replica)).await
    }

    async fn live_replicas(&self) -> Result<Vec<ReplicaId>, StoreError> {
        self.measure("live_replicas", self.inner.live_replicas()).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.measure("ping", self.inner.ping()).await
    }

    async fn checkup(&self) -> Result<Vec<Finding>, StoreError> {
        self.measure("checkup", self.inner.checkup()).await
    }
}
