//! Watching games: however many watch a game on this replica, it is read once a change.

mod pace;
mod player;
mod present;
mod topic;
mod watcher;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::future::join_all;
use tokio::time::{MissedTickBehavior, interval};

use super::error::ApiError;
use super::host::{Host, Sight};
use super::stream_age::StreamAge;
use crate::game::{Etag, GameId, Millis, PlayerId, SeatSet};
use crate::store::{StoreError, by_place};

pub use pace::WatchPace;
pub(super) use player::PlayerWatcher;
use present::present_seats;
use topic::Topic;
pub(super) use watcher::Watcher;

/// How many games are compared with the store at once.
const GAMES_AT_ONCE: usize = 500;

/// The games that are watched on this replica.
#[derive(Debug)]
pub(super) struct Watches {
    host: Arc<Host>,
    pace: WatchPace,
    topics: Mutex<HashMap<GameId, Weak<Topic>>>,
}

impl Watches {
    /// None yet. Must be called within a tokio runtime.
    pub(super) fn new(host: Arc<Host>, pace: WatchPace) -> Arc<Self> {
        let watches = Arc::new(Self { host, pace, topics: Mutex::default() });
        tokio::spawn(recheck(Arc::downgrade(&watches), pace));
        watches
    }

    /// Watches a game, after the state with this etag or from a snapshot on.
    ///
    /// # Errors
    /// Where there is no such game, it is hidden or cannot be read, or the store is away; and where a
    /// credential is shown that proves no seat.
    pub(super) async fn watch(
        self: &Arc<Self>,
        id: &GameId,
        after: Option<Etag>,
        sight: Sight,
    ) -> Result<Watcher, ApiError> {
        let topic = self.topic(id);
        topic.followed().await?;
        // Read after the topic is sure to hear of every change, so that none falls between.
        let game = self.host.read(id).await?;
        sight.shown(&game)?;
        Ok(Watcher::new(Arc::clone(&self.host), self.pace, topic, sight, game, after))
    }

    /// Follows all games of a player, since the time of a cursor or with all that are not over.
    ///
    /// # Errors
    /// Where the store is away.
    pub(super) async fn watch_player(
        self: &Arc<Self>,
        player: PlayerId,
        after: Option<Millis>,
    ) -> Result<PlayerWatcher, ApiError> {
        PlayerWatcher::new(Arc::clone(self), player, after).await
    }

    /// How old streams become.
    pub(super) fn stream_age(&self) -> StreamAge {
        self.pace.stream_age
    }

    fn topic(&self, id: &GameId) -> Arc<Topic> {
        let mut topics = self.topics();
        let known = topics.get(id).and_then(Weak::upgrade);
        if let Some(topic) = known.filter(|topic| !topic.has_ended()) {
            return topic;
        }
        // Those that nobody watches any more are cleared when the map would have to grow.
        if topics.len() == topics.capacity() {
            topics.retain(|_, topic| topic.strong_count() > 0);
        }
        let topic = Topic::follow(Arc::clone(&self.host), id.clone());
        topics.insert(id.clone(), Arc::downgrade(&topic));
        topic
    }

    fn topics(&self) -> MutexGuard<'_, HashMap<GameId, Weak<Topic>>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watched(&self) -> Vec<Arc<Topic>> {
        self.topics().values().filter_map(Weak::upgrade).collect()
    }
}

/// Hints may be lost: compares what is watched with what is stored, and has read again what differs.
async fn recheck(watches: Weak<Watches>, pace: WatchPace) {
    let mut ticks = interval(pace.recheck);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(watches) = watches.upgrade() else { return };
        let store = watches.host.store();
        let shard = |topic: &Arc<Topic>| store.shards().shard_of(topic.id());
        let sorted = by_place(&**store, watches.watched(), shard);
        let compared = sorted.values().map(async |topics| {
            for topics in topics.chunks(GAMES_AT_ONCE) {
                // A server that is away is asked again next time.
                if let Err(error) = watches.compare(topics).await {
                    tracing::debug!(%error, "watched games are not compared");
                    break;
                }
            }
        });
        join_all(compared).await;
    }
}

impl Watches {
    async fn compare(&self, topics: &[Arc<Topic>]) -> Result<(), StoreError> {
        let store = self.host.store();
        let ids: Vec<GameId> = topics.iter().map(|topic| topic.id().clone()).collect();
        for (topic, version) in topics.iter().zip(store.versions(&ids).await?) {
            if version.ok().flatten() != topic.version() {
                topic.read_again();
            }
        }
        // Where somebody is present, that is read again anyway before it ends.
        let nobody = |topic: &&Arc<Topic>| topic.present().is_none_or(SeatSet::is_empty);
        let quiet: Vec<&Arc<Topic>> = topics.iter().filter(nobody).collect();
        let ids: Vec<GameId> = quiet.iter().map(|topic| topic.id().clone()).collect();
        for (topic, slots) in quiet.iter().zip(store.present(&ids).await?) {
            if Some(present_seats(&slots)) != topic.present() {
                topic.read_again();
            }
        }
        Ok(())
    }
}
