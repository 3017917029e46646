//! Seats whose players watch over this replica: marked as present in the store for as long as they
//! do. One task marks them, many at a time.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::Host;
use crate::api::error::ApiError;
use crate::game::{GameId, Span};
use crate::rules::Seat;
use crate::store::{Place, Presence, Slot, Store, StoreError, StreamId, by_place};

/// How often a stream is marked within the lifetime of a mark, so that one that fails or is late
/// makes nobody absent.
const MARKS_A_LIFETIME: u32 = 3;

/// In how many parts the streams are marked, so that the store is never asked for all of them at
/// once.
const PARTS: u32 = 8;

/// How long a replica that stops waits for the store to learn who has left.
const LEAVE_LIMIT: Duration = Duration::from_secs(1);

/// The streams of this replica that keep a seat present.
#[derive(Debug, Default)]
pub(super) struct Attendance {
    streams: Mutex<Streams>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Streams {
    held: HashMap<StreamId, Presence>,
    /// Those of which the store is still to be told.
    came: Vec<StreamId>,
    left: Vec<Presence>,
}

impl Attendance {
    fn streams(&self) -> MutexGuard<'_, Streams> {
        // What a panic could leave half-changed the store forgets by itself.
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that keeps a seat present until it is dropped.
#[derive(Debug)]
pub(crate) struct Attending {
    host: Arc<Host>,
    stream: StreamId,
    seat: Seat,
}

impl Attending {
    /// The seat that it keeps present.
    pub(crate) fn seat(&self) -> Seat {
        self.seat
    }
}

impl Drop for Attending {
    fn drop(&mut self) {
        let attendance = &self.host.attendance;
        let mut streams = attendance.streams();
        if let Some(presence) = streams.held.remove(&self.stream) {
            streams.left.push(presence);
            attendance.changed.notify_one();
        }
    }
}

/// The slot that a seat is to the store.
pub(crate) fn slot_of(seat: Seat) -> Slot {
    Slot(seat.number())
}

impl Host {
    /// Has a seat present at a game until what is answered is dropped.
    ///
    /// # Errors
    /// Where the operating system has no randomness to give.
    pub(crate) fn attend(
        self: &Arc<Self>,
        game: &GameId,
        seat: Seat,
    ) -> Result<Attending, ApiError> {
        let stream = StreamId(u64::from_be_bytes(self.random_bytes()?));
        let mut streams = self.attendance.streams();
        streams.held.insert(stream, Presence { game: game.clone(), slot: slot_of(seat), stream });
        streams.came.push(stream);
        self.attendance.changed.notify_one();
        Ok(Attending { host: Arc::clone(self), stream, seat })
    }

    /// Marks who is present, for this lifetime at a time, for as long as it is polled.
    pub(crate) async fn keep_present(&self, lifetime: Duration) {
        let tick = (lifetime / MARKS_A_LIFETIME / PARTS).max(Duration::from_millis(1));
        let lifetime = Span(u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX));
        let mut ticks = interval(tick);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut part = 0;
        // The servers that may have missed something: they are told all.
        let mut behind: HashSet<Place> = HashSet::new();
        loop {
            let ticked = tokio::select! {
                _ = ticks.tick() => true,
                () = self.attendance.changed.notified() => false,
            };
            let (marks, left) = {
                let mut streams = self.attendance.streams();
                let Streams { held, came, left } = &mut *streams;
                let mut marks: Vec<Presence> =
                    came.drain(..).filter_map(|stream| held.get(&stream).cloned()).collect();
                if ticked {
                    part = (part + 1) % u64::from(PARTS);
                    let is_behind = |held: &Presence| behind.contains(&place(&*self.store, held));
                    let due = |held: &&Presence| {
                        held.stream.0 % u64::from(PARTS) == part || is_behind(held)
                    };
                    marks.extend(held.values().filter(due).cloned());
                }
                (marks, std::mem::take(left))
            };
            for (place, told) in tell(&*self.store, marks, left, lifetime).await {
                match told {
                    Ok(()) if ticked => {
                        behind.remove(&place);
                    }
                    Ok(()) => {}
                    Err(error) => {
                        if behind.insert(place) {
                            tracing::warn!(%error, "who is present is not told");
                        }
                    }
                }
            }
        }
    }

    /// Tells the store that nobody is present over this replica any more, because it stops.
    pub(crate) async fn leave(&self) {
        let left = {
            let mut streams = self.attendance.streams();
            let Streams { held, left, .. } = &mut *streams;
            left.extend(held.drain().map(|(_, presence)| presence));
            std::mem::take(left)
        };
        // What fails is forgotten by itself.
        match timeout(LEAVE_LIMIT, tell(&*self.store, Vec::new(), left, Span(0))).await {
            Ok(told) => {
                for error in told.into_iter().filter_map(|(_, told)| told.err()) {
                    tracing::warn!(%error, "who has left is not told");
                }
            }
            Err(_) => tracing::warn!("who has left is not told in time"),
        }
    }
}

/// Where the shard of a presence is.
fn place(store: &dyn Store, presence: &Presence) -> Place {
    store.place(store.shards().shard_of(&presence.game))
}

/// Tells each server of what is on it; and what came of that.
async fn tell(
    store: &dyn Store,
    marks: Vec<Presence>,
    left: Vec<Presence>,
    lifetime: Span,
) -> Vec<(Place, Result<(), StoreError>)> {
    let shard = |presence: &Presence| store.shards().shard_of(&presence.game);
    let mut left = by_place(store, left, shard);
    let mut all: Vec<_> = by_place(store, marks, shard)
        .into_iter()
        .map(|(place, marks)| (place, marks, left.remove(&place).unwrap_or_default()))
        .collect();
    all.extend(left.into_iter().map(|(place, left)| (place, Vec::new(), left)));
    let told = all
        .iter()
        .map(async |(place, marks, left)| (*place, tell_one(store, marks, left, lifetime).await));
    join_all(told).await
}

/// Marks first, so that a player who goes from one stream to another is never absent.
async fn tell_one(
    store: &dyn Store,
    marks: &[Presence],
    left: &[Presence],
    lifetime: Span,
) -> Result<(), StoreError> {
    if !marks.is_empty() {
        store.mark_present(marks, lifetime).await?;
    }
    if !left.is_empty() {
        store.clear_present(left).await?;
    }
    Ok(())
}
