//! Shards: into how many parts the games are spread, and which part a game is in.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::game::GameId;

/// One part of the games: all that one write touches lies in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u16);

impl Shard {
    /// The shard's number, from 0.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The number as an index.
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for Shard {
    /// The number in at least four digits, as in the names of keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.0)
    }
}

/// Into how many shards the games are spread: 1 to [`ShardCount::MAX`], for the whole life of a
/// store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardCount(u16);

impl ShardCount {
    /// The most shards there can be: more than Redis Cluster has slots would spread nothing.
    pub const MAX: u16 = 16_384;

    /// This many shards.
    ///
    /// # Errors
    /// [`ShardCountError`] when there would be none, or too many.
    pub const fn new(count: u16) -> Result<Self, ShardCountError> {
        if count == 0 || count > Self::MAX { Err(ShardCountError(count)) } else { Ok(Self(count)) }
    }

    /// How many.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// The shard a game is in: the first four bytes of SHA-256 of its id, big-endian, modulo the
    /// number of shards.
    pub fn shard_of(self, game: &GameId) -> Shard {
        let digest = Sha256::digest(game.as_str().as_bytes());
        let word = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
        let shard = word % u32::from(self.0);
        Shard(u16::try_from(shard).expect("a remainder is less than its divisor"))
    }

    /// The shard of this number, if there is one.
    pub fn shard(self, number: u16) -> Option<Shard> {
        (number < self.0).then_some(Shard(number))
    }

    /// All shards, in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Shard> {
        (0..self.0).map(Shard)
    }
}

impl Default for ShardCount {
    fn default() -> Self {
        Self(1_024)
    }
}

impl fmt::Display for ShardCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A number of shards that there cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no number of shards: there are 1 to {max}", max = ShardCount::MAX)]
pub struct ShardCountError(pub u16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_is_in_the_shard_that_its_hash_says() {
        // What `printf game-1 | sha256sum` begins with.
        let word = 0xe7b4_7e61_u32;
        let game: GameId = "game-1".parse().expect("an id");
        for count in [1, 7, 1_024, ShardCount::MAX] {
            let shards = ShardCount::new(count).expect("a number of shards");
            assert_eq!(u32::from(shards.shard_of(&game).number()), word % u32::from(count));
        }
    }

    #[test]
    fn a_shard_has_at_least_four_digits() {
        let shards = ShardCount::new(ShardCount::MAX).expect("the most");
        assert_eq!(shards.shard(42).expect("there").to_string(), "0042");
        assert_eq!(shards.shard(12_345).expect("there").to_string(), "12345");
        assert_eq!(shards.shard(ShardCount::MAX), None);
    }

    #[test]
    fn there_is_at_least_one_shard_and_no_more_than_slots() {
        assert_eq!(ShardCount::new(0), Err(ShardCountError(0)));
        assert_eq!(ShardCount::new(16_385), Err(ShardCountError(16_385)));
    }
}
