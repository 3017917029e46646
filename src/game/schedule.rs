//! When a game must be looked at again, and how long it is kept.

use super::state::{Game, GameState};
use super::time::{Millis, Span};

/// How long games last that nobody plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long after its creation a game is aborted in which nobody has acted.
    pub unbegun: Span,
    /// How long an ended game is kept.
    pub ended: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self { unbegun: Span::hours(24), ended: Span::days(30) }
    }
}

/// How much longer than its time a store keeps an ended game that nobody has removed. Whoever removes
/// it in time knows whose lists to clear; a record that is gone does not tell.
pub const REMOVAL_MARGIN: Span = Span::days(1);

/// What a store must know of a game beside its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// When somebody must look at the game, if nothing happens before: for one that has ended, when
    /// its time is over.
    pub deadline: Option<Millis>,
    /// How long after its last change the record is kept at most; `None` for as long as the game goes
    /// on.
    pub keep: Option<Span>,
}

impl Game {
    /// What the store must know of the game as it stands.
    pub fn schedule(&self, limits: &Limits) -> Schedule {
        if let Some(end) = self.ended_at() {
            let deadline = end + limits.ended;
            let left = deadline.since(self.updated_at());
            return Schedule { deadline: Some(deadline), keep: Some(left + REMOVAL_MARGIN) };
        }
        let deadline = match (self.deadline(), self.unbegun_deadline(limits)) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Schedule { deadline, keep: None }
    }

    /// Whether the game ended so long ago that it is to be removed.
    pub fn has_outlived(&self, now: Millis, limits: &Limits) -> bool {
        self.ended_at().is_some_and(|end| end + limits.ended <= now)
    }

    /// Whether nobody has acted yet, or the players have not come to whom the game was brought.
    pub(super) fn is_awaited(&self) -> bool {
        !self.has_begun() || self.state() == GameState::Waiting
    }

    /// When the game is aborted if nobody acts; `None` for one that began, and where clocks see to
    /// it that somebody does.
    pub(super) fn unbegun_deadline(&self, limits: &Limits) -> Option<Millis> {
        let clocks_run = self.state() == GameState::Active && !self.time_control().is_unlimited();
        (self.is_awaited() && !clocks_run).then(|| self.created_at() + limits.unbegun)
    }
}
