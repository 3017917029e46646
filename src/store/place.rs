//! Where shards are: which of them are away together.

use std::collections::BTreeMap;

use super::{Shard, Store};

/// A server of a store, or none that is known. Stands for the same one only for a while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub(super) Option<u16>);

/// Sorts what is about shards by where these are, in the order given, so that what is asked of one
/// server neither fails nor waits with what is asked of another.
pub fn by_place<T>(
    store: &dyn Store,
    all: impl IntoIterator<Item = T>,
    shard: impl Fn(&T) -> Shard,
) -> BTreeMap<Place, Vec<T>> {
    let mut sorted: BTreeMap<Place, Vec<T>> = BTreeMap::new();
    for one in all {
        sorted.entry(store.place(shard(&one))).or_default().push(one);
    }
    sorted
}
