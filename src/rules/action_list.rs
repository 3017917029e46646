//! Lists of actions.

use std::fmt;
use std::ops::Deref;

use super::action::Action;
use super::square::Square;

/// A list of legal actions: flips by square, then steps by direction, then what reaches further,
/// then the end of a chain.
///
/// It has room for what any position of any rule set has: at most 32 flips beside 32 own pieces
/// with 4 steps each, of which 4 cannons have 12 targets more, 4 chariots and 4 horses 4 more each.
#[derive(Clone)]
pub struct ActionList {
    actions: [Action; Self::CAPACITY],
    len: usize,
}

impl ActionList {
    /// More than the 240 actions that there may be, and a power of two.
    const CAPACITY: usize = 256;

    /// An empty list.
    #[inline]
    pub const fn new() -> Self {
        Self { actions: [Action::Flip(Square::masked(0)); Self::CAPACITY], len: 0 }
    }

    /// Takes all actions out.
    #[inline]
    pub const fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds an action.
    #[inline]
    pub(super) fn push(&mut self, action: Action) {
        self.push_if(action, true);
    }

    /// Adds an action if it is legal. It is written in any case, and counted if so: a branch would
    /// be mispredicted often.
    #[inline]
    pub(super) fn push_if(&mut self, action: Action, legal: bool) {
        debug_assert!(self.len < Self::CAPACITY, "no position has so many actions");
        self.actions[self.len % Self::CAPACITY] = action;
        self.len += usize::from(legal);
    }

    /// Keeps only some of the actions, in their order.
    pub(super) fn retain(&mut self, keep: impl Fn(Action) -> bool) {
        let all = self.len;
        self.len = 0;
        for index in 0..all {
            let action = self.actions[index];
            self.push_if(action, keep(action));
        }
    }
}

impl Default for ActionList {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for ActionList {
    type Target = [Action];

    #[inline]
    fn deref(&self) -> &[Action] {
        &self.actions[..self.len]
    }
}

impl<'a> IntoIterator for &'a ActionList {
    type Item = &'a Action;
    type IntoIter = std::slice::Iter<'a, Action>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for ActionList {
    type Item = Action;
    type IntoIter = std::iter::Take<std::array::IntoIter<Action, { Self::CAPACITY }>>;

    fn into_iter(self) -> Self::IntoIter {
        self.actions.into_iter().take(self.len)
    }
}

impl fmt::Debug for ActionList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
