//! A store whose calls are counted, timed and traced.

use std::sync::Arc;

use async_trait::async_trait;
use opentelemetry_sdk::trace::SdkTracer;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use tokio::time::Instant;

use super::codec::RecordCodec;
use super::traced_call::CallTracer;
use super::{
    Commit, Due, Entry, EntryId, Finding, Found, IndexEntry, Outcome, Place, Presence, PresentSlot,
    Record, ReplicaId, Shard, ShardCount, Store, StoreError, Subscription, System,
};
use crate::game::{GameId, Millis, Span, Version};

/// Upper bounds for how long a call takes, in seconds; a store has 2 s.
const TIMES: [f64; 12] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 2.0];

/// Defines an enumeration whose variants have names in metrics.
macro_rules! named {
    ($(#[$meta:meta])* $enumeration:ident { $($variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        enum $enumeration {
            $($variant,)+
        }

        impl $enumeration {
            const ALL: &'static [Self] = &[$(Self::$variant,)+];

            const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

named! {
    /// A call of the store that is measured.
    Operation {
        Load = "load",
        LoadConfirmed = "load_confirmed",
        LoadMany = "load_many",
        Versions = "versions",
        Commit = "commit",
        Beat = "beat",
        Subscribe = "subscribe",
        MarkPresent = "mark_present",
        ClearPresent = "clear_present",
        Present = "present",
        FirstDeadlines = "first_deadlines",
        Due = "due",
        Postpone = "postpone",
        Feed = "feed",
        Outbox = "outbox",
        Acknowledge = "acknowledge",
        IndexAdd = "index_add",
        IndexRemove = "index_remove",
        IndexPage = "index_page",
        ListingPage = "listing_page",
        ListingRemove = "listing_remove",
        Heartbeat = "heartbeat",
        LiveReplicas = "live_replicas",
        Ping = "ping",
        Checkup = "checkup",
    }
}

named! {
    /// What became of a call that failed.
    Failure {
        Unavailable = "unavailable",
        Corrupt = "corrupt",
        Unintelligible = "unintelligible",
        Misconfigured = "misconfigured",
    }
}

impl From<&StoreError> for Failure {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Unavailable { .. } => Self::Unavailable,
            StoreError::Corrupt(_) => Self::Corrupt,
            StoreError::Unintelligible(_) => Self::Unintelligible,
            StoreError::Misconfigured(_) => Self::Misconfigured,
        }
    }
}

/// A store, and how its calls went.
#[derive(Debug)]
pub struct MeasuredStore {
    inner: Arc<dyn Store>,
    /// By the number of the operation.
    measures: Vec<Measures>,
    traces: Option<CallTracer>,
}

/// How the calls of one operation went.
#[derive(Debug)]
struct Measures {
    times: Histogram,
    /// By the number of the failure.
    failures: Vec<Counter>,
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
    /// Measures a store; what comes of it is added to what is told of the process. With a tracer,
    /// calls that are made within a sampled span have spans of their own.
    pub fn new(
        inner: Arc<dyn Store>,
        registry: &mut Registry,
        tracer: Option<SdkTracer>,
    ) -> Arc<Self> {
        let times = Family::<OperationLabels, Histogram>::new_with_constructor(
            (|| Histogram::new(TIMES)) as fn() -> Histogram,
        );
        let failures = Family::<FailureLabels, Counter>::default();
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
        // All of them from the start: a counter that springs into being at 1 has not increased.
        let measures = Operation::ALL.iter().map(|operation| {
            let operation = operation.name();
            let failures = Failure::ALL.iter().map(|failure| {
                let error = failure.name();
                failures.get_or_create_owned(&FailureLabels { operation, error })
            });
            Measures {
                times: times.get_or_create_owned(&OperationLabels { operation }),
                failures: failures.collect(),
            }
        });
        let traces = tracer.map(|tracer| CallTracer::new(tracer, inner.system()));
        Arc::new(Self { inner, measures: measures.collect(), traces })
    }

    async fn measure<T>(
        &self,
        operation: Operation,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut traced = self.traces.as_ref().and_then(|traces| traces.begin(operation.name()));
        let begun = Instant::now();
        let result = call.await;
        let measures = &self.measures[operation as usize];
        measures.times.observe(begun.elapsed().as_secs_f64());
        if let Err(error) = &result {
            let failure = Failure::from(error);
            measures.failures[failure as usize].inc();
            if let Some(traced) = &mut traced {
                traced.fail(failure.name());
            }
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

    fn system(&self) -> System {
        self.inner.system()
    }

    fn place(&self, shard: Shard) -> Place {
        self.inner.place(shard)
    }

    async fn load(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        self.measure(Operation::Load, self.inner.load(game)).await
    }

    async fn load_confirmed(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        self.measure(Operation::LoadConfirmed, self.inner.load_confirmed(game)).await
    }

    async fn load_many(&self, games: &[GameId]) -> Result<Vec<Found<Record>>, StoreError> {
        self.measure(Operation::LoadMany, self.inner.load_many(games)).await
    }

    async fn versions(&self, games: &[GameId]) -> Result<Vec<Found<Version>>, StoreError> {
        self.measure(Operation::Versions, self.inner.versions(games)).await
    }

    async fn commit(&self, commit: &Commit) -> Result<Outcome, StoreError> {
        self.measure(Operation::Commit, self.inner.commit(commit)).await
    }

    fn known_now(&self, shard: Shard) -> Option<Millis> {
        self.inner.known_now(shard)
    }

    // Nearly always an estimate of this process, which is no call.
    async fn now(&self, shard: Shard) -> Result<Millis, StoreError> {
        self.inner.now(shard).await
    }

    async fn beat(&self, shards: &[Shard]) -> Result<(), StoreError> {
        self.measure(Operation::Beat, self.inner.beat(shards)).await
    }

    async fn subscribe(&self, game: &GameId) -> Result<Subscription, StoreError> {
        self.measure(Operation::Subscribe, self.inner.subscribe(game)).await
    }

    async fn mark_present(&self, presences: &[Presence], lifetime: Span) -> Result<(), StoreError> {
        self.measure(Operation::MarkPresent, self.inner.mark_present(presences, lifetime)).await
    }

    async fn clear_present(&self, presences: &[Presence]) -> Result<(), StoreError> {
        self.measure(Operation::ClearPresent, self.inner.clear_present(presences)).await
    }

    async fn present(&self, games: &[GameId]) -> Result<Vec<Vec<PresentSlot>>, StoreError> {
        self.measure(Operation::Present, self.inner.present(games)).await
    }

    async fn first_deadlines(&self, shards: &[Shard]) -> Result<Vec<Option<Millis>>, StoreError> {
        self.measure(Operation::FirstDeadlines, self.inner.first_deadlines(shards)).await
    }

    async fn due(&self, shard: Shard, now: Millis, limit: u32) -> Result<Vec<Due>, StoreError> {
        self.measure(Operation::Due, self.inner.due(shard, now, limit)).await
    }

    async fn postpone(&self, due: &Due, until: Option<Millis>) -> Result<(), StoreError> {
        self.measure(Operation::Postpone, self.inner.postpone(due, until)).await
    }

    async fn feed(
        &self,
        shard: Shard,
        after: EntryId,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        self.measure(Operation::Feed, self.inner.feed(shard, after, limit)).await
    }

    async fn outbox(&self, shard: Shard, limit: u32) -> Result<Vec<Entry>, StoreError> {
        self.measure(Operation::Outbox, self.inner.outbox(shard, limit)).await
    }

    async fn acknowledge(&self, shard: Shard, entries: &[EntryId]) -> Result<(), StoreError> {
        self.measure(Operation::Acknowledge, self.inner.acknowledge(shard, entries)).await
    }

    async fn index_add(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        self.measure(Operation::IndexAdd, self.inner.index_add(player, entry)).await
    }

    async fn index_remove(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        self.measure(Operation::IndexRemove, self.inner.index_remove(player, entry)).await
    }

    async fn index_page(
        &self,
        player: &str,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.measure(Operation::IndexPage, self.inner.index_page(player, before, limit)).await
    }

    async fn listing_page(
        &self,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.measure(Operation::ListingPage, self.inner.listing_page(before, limit)).await
    }

    async fn listing_remove(&self, entry: &IndexEntry) -> Result<(), StoreError> {
        self.measure(Operation::ListingRemove, self.inner.listing_remove(entry)).await
    }

    async fn heartbeat(&self, replica: ReplicaId) -> Result<(), StoreError> {
        self.measure(Operation::Heartbeat, self.inner.heartbeat(replica)).await
    }

    async fn live_replicas(&self) -> Result<Vec<ReplicaId>, StoreError> {
        self.measure(Operation::LiveReplicas, self.inner.live_replicas()).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.measure(Operation::Ping, self.inner.ping()).await
    }

    async fn checkup(&self) -> Result<Vec<Finding>, StoreError> {
        self.measure(Operation::Checkup, self.inner.checkup()).await
    }
}
