//! A store that gets into trouble when a test wants it to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use banqi::game::{GameId, Millis, Span, Version};
use banqi::store::codec::RecordCodec;
use banqi::store::{
    Commit, Due, Effect, Entry, EntryId, Finding, Found, IndexEntry, Outcome, Place, Presence,
    PresentSlot, Record, ReplicaId, Shard, ShardCount, Store, StoreError, Subscription, System,
};

/// What is the matter with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    None,
    /// It does not answer.
    Away,
    /// It writes, and then does not answer.
    AwayAfterWriting,
    /// Whoever writes finds that another was faster.
    Contended,
    /// Who subscribes is told of nothing.
    Deaf,
    /// Its time is so much later than it was, and nothing is swept.
    Late(Span),
}

/// A store before another one.
#[derive(Debug)]
pub(crate) struct Meddling {
    inner: Arc<dyn Store>,
    trouble: Mutex<Trouble>,
    loads: AtomicUsize,
    readings_of_presence: AtomicUsize,
}

impl Meddling {
    pub(crate) fn with(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            trouble: Mutex::new(Trouble::None),
            loads: AtomicUsize::new(0),
            readings_of_presence: AtomicUsize::new(0),
        })
    }

    /// How often a record was loaded, and how often somebody asked who is present.
    pub(crate) fn readings(&self) -> [usize; 2] {
        [&self.loads, &self.readings_of_presence].map(|count| count.load(Ordering::SeqCst))
    }

    pub(crate) fn make(&self, trouble: Trouble) {
        *self.trouble.lock().expect("nobody panics with it") = trouble;
    }

    fn trouble(&self) -> Trouble {
        *self.trouble.lock().expect("nobody panics with it")
    }

    fn answers(&self) -> Result<(), StoreError> {
        if self.trouble() == Trouble::Away { Err(away(Effect::None)) } else { Ok(()) }
    }
}

/// The same commit, estimated so much earlier.
fn earlier(commit: &Commit, late: Span, shards: ShardCount) -> Commit {
    let present = Millis(commit.present().0 - late.0);
    let mut writes = commit.writes().cloned();
    let first = writes.next().expect("a commit has a write");
    let mut earlier = Commit::new(shards, present, first);
    for write in writes {
        earlier = earlier.and(shards, write).expect("as it was");
    }
    let fed = commit.feed().iter().fold(earlier, |it, entry| it.with_feed_entry(entry.clone()));
    commit.outbox().iter().fold(fed, |it, entry| it.with_outbox_entry(entry.clone()))
}

fn away(effect: Effect) -> StoreError {
    StoreError::Unavailable { effect, reason: "the test wants it so".to_owned() }
}

#[async_trait]
impl Store for Meddling {
    fn shards(&self) -> ShardCount {
        self.inner.shards()
    }

    fn place(&self, shard: Shard) -> Place {
        self.inner.place(shard)
    }

    fn records(&self) -> &RecordCodec {
        self.inner.records()
    }

    fn system(&self) -> System {
        self.inner.system()
    }

    async fn load(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        self.answers()?;
        self.loads.fetch_add(1, Ordering::SeqCst);
        self.inner.load(game).await
    }

    async fn load_confirmed(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        self.load(game).await
    }

    async fn load_many(&self, games: &[GameId]) -> Result<Vec<Found<Record>>, StoreError> {
        self.answers()?;
        self.inner.load_many(games).await
    }

    async fn versions(&self, games: &[GameId]) -> Result<Vec<Found<Version>>, StoreError> {
        self.answers()?;
        self.inner.versions(games).await
    }

    async fn commit(&self, commit: &Commit) -> Result<Outcome, StoreError> {
        self.answers()?;
        match self.trouble() {
            Trouble::Contended => {
                let mut current = Vec::new();
                for write in commit.writes() {
                    current.push(self.inner.load(&write.game).await?);
                }
                Ok(Outcome::Conflict { current, now: commit.present() })
            }
            Trouble::AwayAfterWriting => {
                let outcome = self.inner.commit(commit).await?;
                assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
                Err(away(Effect::Unknown))
            }
            Trouble::Late(late) => {
                let outcome = self.inner.commit(&earlier(commit, late, self.shards())).await?;
                Ok(match outcome {
                    Outcome::Applied { now, durability } => {
                        Outcome::Applied { now: now + late, durability }
                    }
                    Outcome::Conflict { current, now } => {
                        Outcome::Conflict { current, now: now + late }
                    }
                    Outcome::ClockOff { now } => Outcome::ClockOff { now: now + late },
                })
            }
            Trouble::None | Trouble::Away | Trouble::Deaf => self.inner.commit(commit).await,
        }
    }

    async fn now(&self, shard: Shard) -> Result<Millis, StoreError> {
        self.answers()?;
        let now = self.inner.now(shard).await?;
        Ok(match self.trouble() {
            Trouble::Late(late) => now + late,
            _ => now,
        })
    }

    async fn beat(&self, shards: &[Shard]) -> Result<(), StoreError> {
        self.answers()?;
        self.inner.beat(shards).await
    }

    async fn subscribe(&self, game: &GameId) -> Result<Subscription, StoreError> {
        self.answers()?;
        if self.trouble() == Trouble::Deaf {
            let nobodys = "nobodys".parse().expect("an id");
            return self.inner.subscribe(&nobodys).await;
        }
        self.inner.subscribe(game).await
    }

    async fn mark_present(&self, presences: &[Presence], lifetime: Span) -> Result<(), StoreError> {
        self.answers()?;
        self.inner.mark_present(presences, lifetime).await
    }

    async fn clear_present(&self, presences: &[Presence]) -> Result<(), StoreError> {
        self.answers()?;
        self.inner.clear_present(presences).await
    }

    async fn present(&self, games: &[GameId]) -> Result<Vec<Vec<PresentSlot>>, StoreError> {
        self.answers()?;
        self.readings_of_presence.fetch_add(1, Ordering::SeqCst);
        self.inner.present(games).await
    }

    async fn first_deadlines(&self, shards: &[Shard]) -> Result<Vec<Option<Millis>>, StoreError> {
        self.answers()?;
        self.inner.first_deadlines(shards).await
    }

    async fn due(&self, shard: Shard, now: Millis, limit: u32) -> Result<Vec<Due>, StoreError> {
        self.answers()?;
        match self.trouble() {
            Trouble::Late(_) => Ok(Vec::new()),
            _ => self.inner.due(shard, now, limit).await,
        }
    }

    async fn postpone(&self, due: &Due, until: Option<Millis>) -> Result<(), StoreError> {
        self.answers()?;
        self.inner.postpone(due, until).await
    }

    async fn feed(
        &self,
        shard: Shard,
        after: EntryId,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        self.answers()?;
        self.inner.feed(shard, after, limit).await
    }

    async fn outbox(&self, shard: Shard, limit: u32) -> Result<Vec<Entry>, StoreError> {
        self.answers()?;
        self.inner.outbox(shard, limit).await
    }

    async fn acknowledge(&self, shard: Shard, entries: &[EntryId]) -> Result<(), StoreError> {
        self.answers()?;
        self.inner.acknowledge(shard, entries).await
    }

    async fn index_add(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        self.answers()?;
        self.inner.index_add(player, entry).await
    }

    async fn index_remove(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        self.answers()?;
        self.inner.index_remove(player, entry).await
    }

    async fn index_page(
        &self,
        player: &str,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.answers()?;
        self.inner.index_page(player, before, limit).await
    }

    async fn listing_page(
        &self,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.answers()?;
        self.inner.listing_page(before, limit).await
    }

    async fn listing_remove(&self, entry: &IndexEntry) -> Result<(), StoreError> {
        self.answers()?;
        self.inner.listing_remove(entry).await
    }

    async fn heartbeat(&self, replica: ReplicaId) -> Result<(), StoreError> {
        self.answers()?;
        self.inner.heartbeat(replica).await
    }

    async fn live_replicas(&self) -> Result<Vec<ReplicaId>, StoreError> {
        self.answers()?;
        self.inner.live_replicas().await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.answers()?;
        self.inner.ping().await
    }

    async fn checkup(&self) -> Result<Vec<Finding>, StoreError> {
        self.inner.checkup().await
    }
}
