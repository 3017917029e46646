//! Who is present, in the memory of this process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::game::{GameId, Millis};
use crate::store::presence::present_slots;
use crate::store::{Presence, PresentSlot, Slot, StreamId};

/// What streams have marked.
#[derive(Debug, Default)]
pub(super) struct Presences(Mutex<HashMap<GameId, Vec<Marked>>>);

#[derive(Clone, Copy, Debug)]
struct Marked {
    slot: Slot,
    stream: StreamId,
    until: Millis,
}

impl Presences {
    /// Marks slots as present; answers the games where one was absent.
    pub(super) fn mark(&self, presences: &[Presence], now: Millis, until: Millis) -> Vec<GameId> {
        let mut games = self.games();
        let mut changed = Vec::new();
        for Presence { game, slot, stream } in presences {
            // Those whose time is over are cleared when the map would have to grow.
            if games.len() == games.capacity() {
                games.retain(|_, marked| marked.iter().any(|mark| mark.until > now));
            }
            let marked = games.entry(game.clone()).or_default();
            marked.retain(|mark| mark.until > now);
            if !marked.iter().any(|mark| mark.slot == *slot) {
                changed.push(game.clone());
            }
            marked.retain(|mark| (mark.slot, mark.stream) != (*slot, *stream));
            marked.push(Marked { slot: *slot, stream: *stream, until });
        }
        changed
    }

    /// Takes marks back; answers the games where a slot has become absent.
    pub(super) fn clear(&self, presences: &[Presence], now: Millis) -> Vec<GameId> {
        let mut games = self.games();
        let mut changed = Vec::new();
        for Presence { game, slot, stream } in presences {
            let Some(marked) = games.get_mut(game) else { continue };
            marked.retain(|mark| mark.until > now);
            let before = marked.len();
            marked.retain(|mark| (mark.slot, mark.stream) != (*slot, *stream));
            if marked.len() < before && !marked.iter().any(|mark| mark.slot == *slot) {
                changed.push(game.clone());
            }
            if marked.is_empty() {
                games.remove(game);
            }
        }
        changed
    }

    /// What is present at each of these games.
    pub(super) fn of(&self, wanted: &[GameId], now: Millis) -> Vec<Vec<PresentSlot>> {
        let games = self.games();
        let present = |game| {
            let marked = games.get(game).map(Vec::as_slice).unwrap_or_default();
            let standing = marked.iter().filter(|mark| mark.until > now);
            present_slots(
                standing
                    .map(|mark| PresentSlot { slot: mark.slot, remaining: mark.until.since(now) }),
            )
        };
        wanted.iter().map(present).collect()
    }

    fn games(&self) -> MutexGuard<'_, HashMap<GameId, Vec<Marked>>> {
        // What a panic could leave half-changed ends by itself.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
