//! A list that is copied to be added to.

use std::ops::{Deref, DerefMut};

/// How much is added to a copy at most, nearly always.
const ROOM: usize = 16;

/// A list whose copies have room for what is added next: the copy of a plain one would be moved to
/// where there is room as soon as something is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Growing<T>(Vec<T>);

impl<T: Copy> Clone for Growing<T> {
    fn clone(&self) -> Self {
        let mut copy = Vec::with_capacity(self.0.len() + ROOM);
        copy.extend_from_slice(&self.0);
        Self(copy)
    }
}

impl<T> Default for Growing<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> From<Vec<T>> for Growing<T> {
    fn from(list: Vec<T>) -> Self {
        Self(list)
    }
}

impl<T> FromIterator<T> for Growing<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(Vec::from_iter(items))
    }
}

impl<T> Deref for Growing<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Growing<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}
