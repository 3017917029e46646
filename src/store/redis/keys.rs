//! The names of keys and channels.

use std::fmt;
use std::io::Write;

use redis::{RedisWrite, ToRedisArgs};

use super::slot::Slot;
use crate::game::GameId;
use crate::store::{Namespace, Shard, ShardCount};

/// Names keys: all begin with `banqi:`, and before it the namespace, if there is one.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    prefix: String,
    /// What the keys of each shard begin with.
    shards: Box<[String]>,
    slots: Box<[Slot]>,
}

impl Keys {
    pub(super) fn new(namespace: Option<&Namespace>, shards: ShardCount) -> Self {
        let prefix = match namespace {
            Some(namespace) => format!("{}:banqi:", namespace.as_str()),
            None => "banqi:".into(),
        };
        let of_shard = |shard| format!("{prefix}{{{shard}}}:");
        let names = shards.iter().map(of_shard).collect();
        let slots = shards.iter().map(|shard| Slot::of(&format!("{{{shard}}}"))).collect();
        Self { prefix, shards: names, slots }
    }

    /// The slot of all keys and channels of a shard.
    pub(super) fn slot(&self, shard: Shard) -> Slot {
        self.slots[shard.index()]
    }

    /// The shard's clock: a string of two numbers, see `clock.lua`.
    pub(super) fn clock(&self, shard: Shard) -> ShardKey<'_> {
        self.of_shard(shard, "clock", "")
    }

    /// The shard's deadlines: a sorted set of games by the time they are due.
    pub(super) fn deadlines(&self, shard: Shard) -> ShardKey<'_> {
        self.of_shard(shard, "deadlines", "")
    }

    /// The shard's feed: a stream of entries with one field, `e`.
    pub(super) fn feed(&self, shard: Shard) -> ShardKey<'_> {
        self.of_shard(shard, "feed", "")
    }

    /// The shard's outbox: a stream like the feed, from which what was applied is deleted.
    pub(super) fn outbox(&self, shard: Shard) -> ShardKey<'_> {
        self.of_shard(shard, "outbox", "")
    }

    /// A game's record: a string.
    pub(super) fn game<'a>(&'a self, shard: Shard, game: &'a GameId) -> ShardKey<'a> {
        self.of_shard(shard, "game:", game.as_str())
    }

    /// Who is present at a game: a sorted set of streams by when they end, see `presence.lua`.
    pub(super) fn presence<'a>(&'a self, shard: Shard, game: &'a GameId) -> ShardKey<'a> {
        self.of_shard(shard, "presence:", game.as_str())
    }

    /// The channel on which changes of a game are published: an empty message for its record, `p`
    /// for who is present.
    pub(super) fn watch<'a>(&'a self, shard: Shard, game: &'a GameId) -> ShardKey<'a> {
        self.of_shard(shard, "watch:", game.as_str())
    }

    /// The shard's games: a sorted set as a player's.
    pub(super) fn listing(&self, shard: Shard) -> ShardKey<'_> {
        self.of_shard(shard, "games", "")
    }

    /// The number of shards: a string.
    pub(super) fn shards(&self) -> String {
        format!("{}shards", self.prefix)
    }

    /// The replicas by their last heartbeat: a sorted set.
    pub(super) fn replicas(&self) -> String {
        format!("{}replicas", self.prefix)
    }

    /// A player's games: a sorted set, all of score 0, in the order of its members.
    pub(super) fn player(&self, player: &str) -> String {
        format!("{}player:{{{player}}}:games", self.prefix)
    }

    /// A key or channel of somebody who only looks, of this kind; all of one id are in one slot.
    pub(super) fn visitor(&self, id: &str, kind: &str) -> String {
        format!("{}{{{id}}}:{kind}", self.prefix)
    }

    fn of_shard<'a>(&'a self, shard: Shard, kind: &'static str, game: &'a str) -> ShardKey<'a> {
        ShardKey { shard: &self.shards[shard.index()], kind, game }
    }
}

/// The name of a key or channel of one shard, which is its hash tag. It is written straight into
/// a command, without a string in between.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShardKey<'a> {
    /// `banqi:{0042}:`, and the namespace before it.
    shard: &'a str,
    kind: &'static str,
    game: &'a str,
}

impl fmt::Display for ShardKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        [self.shard, self.kind, self.game].into_iter().try_for_each(|part| f.write_str(part))
    }
}

impl ToRedisArgs for ShardKey<'_> {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        let mut key = out.writer_for_next_arg();
        [self.shard, self.kind, self.game]
            .into_iter()
            .try_for_each(|part| key.write_all(part.as_bytes()))
            .expect("a command takes all that is written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_as_documented() {
        let game: GameId = "a-game".parse().expect("an id");
        let shard = ShardCount::default().shard(42).expect("there");
        let keys = Keys::new(None, ShardCount::default());
        assert_eq!(keys.game(shard, &game).to_string(), "banqi:{0042}:game:a-game");
        assert_eq!(keys.watch(shard, &game).to_string(), "banqi:{0042}:watch:a-game");
        assert_eq!(keys.presence(shard, &game).to_string(), "banqi:{0042}:presence:a-game");
        assert_eq!(keys.clock(shard).to_string(), "banqi:{0042}:clock");
        assert_eq!(keys.deadlines(shard).to_string(), "banqi:{0042}:deadlines");
        assert_eq!(keys.feed(shard).to_string(), "banqi:{0042}:feed");
        assert_eq!(keys.outbox(shard).to_string(), "banqi:{0042}:outbox");
        assert_eq!(keys.listing(shard).to_string(), "banqi:{0042}:games");
        let spaced = Keys::new(Some(&"blue".parse().expect("a namespace")), ShardCount::default());
        assert_eq!(spaced.game(shard, &game).to_string(), "blue:banqi:{0042}:game:a-game");
        assert_eq!(spaced.shards(), "blue:banqi:shards");
        for keys in [&keys, &spaced] {
            assert_eq!(keys.slot(shard), Slot::of(&keys.clock(shard).to_string()));
        }
    }

    #[test]
    fn a_key_is_one_argument_as_it_is_displayed() {
        let shard = ShardCount::default().shard(7).expect("there");
        let keys = Keys::new(None, ShardCount::default());
        let mut command = redis::cmd("GET");
        command.arg(keys.clock(shard));
        assert_eq!(
            command.get_packed_command(),
            b"*2\r\n$3\r\nGET\r\n$18\r\nbanqi:{0007}:clock\r\n"
        );
    }
}
