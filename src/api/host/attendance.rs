//! Seats whose players watch over this replica: marked as present in the store for as long as they
//! do. One task marks them, many at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::Host;
use crate::api::error::ApiError;
use crate::game::{GameId, Span};
use crate::rules::Seat;
use crate::store::{Presence, Slot, Store, StoreError, StreamId};

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
        // Whether the store may have missed something: then it is told all.
        let mut behind = false;
        loop {
            let (ticked, all) = tokio::select! {
                _ = ticks.tick() => (true, behind),
                () = self.attendance.changed.notified() => (false, false),
            };
            let (marks, left) = {
                let mut streams = self.attendance.streams();
                let Streams { held, came, left } = &mut *streams;
                let mut marks: Vec<Presence> =
                    came.drain(..).filter_map(|stream| held.get(&stream).cloned()).collect();
                if ticked {
                    part = (part + 1) % u64::from(PARTS);
                    let due = |stream: StreamId| all || stream.0 % u64::from(PARTS) == part;
                    marks.extend(held.values().filter(|held| due(held.stream)).cloned());
                }
                (marks, std::mem::take(left))
            };
            match tell(&*self.store, &marks, &left, lifetime).await {
                Ok(()) => behind &= !all,
                Err(error) => {
                    tracing::warn!(%error, "who is present is not told");
                    behind = true;
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
        match timeout(LEAVE_LIMIT, tell(&*self.store, &[], &left, Span(0))).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "who has left is not told"),
            Err(_) => tracing::warn!("who has left is not told in time"),
        }
    }
}

/// Marks first, so that a player who goes from one stream to another is never absent.
async fn tell(
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
