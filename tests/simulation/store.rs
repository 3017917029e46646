//! One replica's way to the simulated store.

use std::sync::Arc;

use async_trait::async_trait;
use banqi::game::{GameId, Millis, Span, Version};
use banqi::store::codec::RecordCodec;
use banqi::store::{
    Commit, Due, Effect, Entry, EntryId, Finding, Found, IndexEntry, Outcome, Place, Presence,
    PresentSlot, Record, ReplicaId, Shard, ShardCount, Store, StoreError, Subscription, System,
};
use tokio::time::timeout;

use crate::backend::{Backend, settle};
use crate::planted::Planted;
use crate::weather::{DEADLINE, Failure, Fate};

#[derive(Debug)]
pub(crate) struct SimulatedStore {
    pub(crate) replica: usize,
    pub(crate) backend: Arc<Backend>,
}

fn unavailable(effect: Effect, reason: &str) -> StoreError {
    StoreError::Unavailable { effect, reason: reason.to_owned() }
}

/// One call: there, done, and back, as far as it gets.
async fn carry<T>(
    backend: &Backend,
    replica: usize,
    fate: Fate,
    call: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    backend.travel(replica, fate.there).await;
    if matches!(fate.failure, Some(Failure::Before)) {
        return Err(unavailable(Effect::None, "the call does not reach it"));
    }
    let answer = call();
    backend.travel(replica, fate.back).await;
    if matches!(fate.failure, Some(Failure::After)) {
        return Err(unavailable(Effect::Unknown, "the answer is lost"));
    }
    answer
}

fn too_late<T>() -> Result<T, StoreError> {
    Err(unavailable(Effect::Unknown, "no answer in time"))
}

impl SimulatedStore {
    /// Asks the store; whoever stops waiting prevents what has not reached it yet.
    async fn ask<T>(
        &self,
        kind: &'static str,
        game: Option<&GameId>,
        call: impl FnOnce(&Backend) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let fate = self.backend.weather.fate(self.replica, kind, game);
        let call = || call(&self.backend);
        let carried = timeout(DEADLINE, carry(&self.backend, self.replica, fate, call));
        carried.await.unwrap_or_else(|_| too_late())
    }

    /// Asks the real store.
    async fn ask_inner<T, F>(
        &self,
        kind: &'static str,
        call: impl FnOnce() -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        self.ask(kind, None, |_| settle(call())).await
    }

    fn inner(&self) -> &dyn Store {
        &*self.backend.inner
    }
}

#[async_trait]
impl Store for SimulatedStore {
    fn shards(&self) -> ShardCount {
        self.inner().shards()
    }

    fn place(&self, shard: Shard) -> Place {
        self.inner().place(shard)
    }

    fn records(&self) -> &RecordCodec {
        self.inner().records()
    }

    fn system(&self) -> System {
        self.inner().system()
    }

    async fn load(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        self.ask("load", Some(game), |backend| backend.load(game)).await
    }

    async fn load_confirmed(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        self.load(game).await
    }

    async fn load_many(&self, games: &[GameId]) -> Result<Vec<Found<Record>>, StoreError> {
        self.ask_inner("load many", || self.inner().load_many(games)).await
    }

    async fn versions(&self, games: &[GameId]) -> Result<Vec<Found<Version>>, StoreError> {
        if self.backend.planted == Some(Planted::LostHint) {
            return Err(unavailable(Effect::None, "versions are never compared"));
        }
        self.ask_inner("versions", || self.inner().versions(games)).await
    }

    /// What is under way reaches the store, whether or not anybody still waits for it.
    async fn commit(&self, commit: &Commit) -> Result<Outcome, StoreError> {
        let game = commit.writes().next().map(|write| &write.game);
        let fate = self.backend.weather.fate(self.replica, "commit", game);
        let (backend, replica, commit) = (Arc::clone(&self.backend), self.replica, commit.clone());
        let carried = tokio::spawn(async move {
            carry(&backend, replica, fate, || backend.commit(&commit)).await
        });
        match timeout(DEADLINE, carried).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(panicked)) => std::panic::resume_unwind(panicked.into_panic()),
            Err(_) => too_late(),
        }
    }

    async fn now(&self, shard: Shard) -> Result<Millis, StoreError> {
        self.backend.estimate(self.replica, shard)
    }

    async fn beat(&self, shards: &[Shard]) -> Result<(), StoreError> {
        self.ask_inner("beat", || self.inner().beat(shards)).await
    }

    async fn subscribe(&self, game: &GameId) -> Result<Subscription, StoreError> {
        let hints = &self.backend.hints[self.replica];
        self.ask("subscribe", Some(game), |_| Ok(hints.join(game.as_str()))).await
    }

    async fn mark_present(&self, presences: &[Presence], lifetime: Span) -> Result<(), StoreError> {
        self.ask_inner("mark", || self.inner().mark_present(presences, lifetime)).await
    }

    async fn clear_present(&self, presences: &[Presence]) -> Result<(), StoreError> {
        self.ask_inner("clear", || self.inner().clear_present(presences)).await
    }

    async fn present(&self, games: &[GameId]) -> Result<Vec<Vec<PresentSlot>>, StoreError> {
        // Many are asked for in no order.
        let one = if let [one] = games { Some(one) } else { None };
        self.ask("present", one, |_| settle(self.inner().present(games))).await
    }

    async fn first_deadlines(&self, shards: &[Shard]) -> Result<Vec<Option<Millis>>, StoreError> {
        self.ask_inner("first deadlines", || self.inner().first_deadlines(shards)).await
    }

    async fn due(&self, shard: Shard, now: Millis, limit: u32) -> Result<Vec<Due>, StoreError> {
        self.ask_inner("due", || self.inner().due(shard, now, limit)).await
    }

    async fn postpone(&self, due: &Due, until: Option<Millis>) -> Result<(), StoreError> {
        self.ask_inner("postpone", || self.inner().postpone(due, until)).await
    }

    async fn feed(
        &self,
        shard: Shard,
        after: EntryId,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        self.ask_inner("feed", || self.inner().feed(shard, after, limit)).await
    }

    async fn outbox(&self, shard: Shard, limit: u32) -> Result<Vec<Entry>, StoreError> {
        self.ask_inner("outbox", || self.inner().outbox(shard, limit)).await
    }

    async fn acknowledge(&self, shard: Shard, entries: &[EntryId]) -> Result<(), StoreError> {
        self.ask_inner("acknowledge", || self.inner().acknowledge(shard, entries)).await
    }

    async fn index_add(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        self.ask_inner("index add", || self.inner().index_add(player, entry)).await
    }

    async fn index_remove(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        self.ask_inner("index remove", || self.inner().index_remove(player, entry)).await
    }

    async fn index_page(
        &self,
        player: &str,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.ask_inner("index page", || self.inner().index_page(player, before, limit)).await
    }

    async fn listing_page(
        &self,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.ask_inner("listing page", || self.inner().listing_page(before, limit)).await
    }

    async fn listing_remove(&self, entry: &IndexEntry) -> Result<(), StoreError> {
        self.ask_inner("listing remove", || self.inner().listing_remove(entry)).await
    }

    async fn heartbeat(&self, replica: ReplicaId) -> Result<(), StoreError> {
        self.ask_inner("heartbeat", || self.inner().heartbeat(replica)).await
    }

    async fn live_replicas(&self) -> Result<Vec<ReplicaId>, StoreError> {
        self.ask_inner("live replicas", || self.inner().live_replicas()).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.ask_inner("ping", || self.inner().ping()).await
    }

    async fn checkup(&self) -> Result<Vec<Finding>, StoreError> {
        self.ask_inner("checkup", || self.inner().checkup()).await
    }
}
