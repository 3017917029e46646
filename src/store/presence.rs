//! Who is present at a game: what streams keep present, for a lifetime at a time.

use crate::game::{GameId, Span};

/// Something of a game that can be present, known to the store by a number alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u8);

/// One stream that keeps a slot present. Two streams of one slot must have different ids, over all
/// replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u64);

/// That a stream keeps a slot of a game present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    /// The game.
    pub game: GameId,
    /// What is present.
    pub slot: Slot,
    /// Which stream says so.
    pub stream: StreamId,
}

/// A slot that is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresentSlot {
    /// Which.
    pub slot: Slot,
    /// For how long, if no stream marks it again or takes it back.
    pub remaining: Span,
}

/// What is present, from what each stream marked: every slot once, in order, for as long as the
/// stream that keeps it longest.
pub(super) fn present_slots(marked: impl Iterator<Item = PresentSlot>) -> Vec<PresentSlot> {
    let mut slots: Vec<PresentSlot> = marked.collect();
    slots.sort_unstable_by_key(|present| (present.slot, std::cmp::Reverse(present.remaining)));
    slots.dedup_by_key(|present| present.slot);
    slots
}
