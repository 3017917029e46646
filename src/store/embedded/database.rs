//! The database: everything an embedded store does, one blocking call at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use redb::{
    Database, Range, ReadTransaction, ReadableDatabase, ReadableTable, Table, WriteTransaction,
};

use super::clocks::Clocks;
use super::listing::list;
use super::tables::{
    CLOCKS, DEADLINES, EXPIRIES, Entries, FEED, GAMES, NEVER, OUTBOX, PLAYERS, stored_time,
};
use crate::game::{GameId, Millis};
use crate::store::clock::{ShardClock, within_tolerance};
use crate::store::{
    Change, Commit, Due, Entry, EntryId, FEED_KEPT, Found, IndexEntry, Outcome, Record, Shard,
    ShardCount, StoreError, TimeSource,
};

/// How many expired games one sweep drops at most.
const DROPPED_AT_ONCE: usize = 256;

/// An open database.
#[derive(Debug)]
pub(super) struct Games {
    database: Database,
    shards: ShardCount,
    time: Arc<dyn TimeSource>,
    clocks: Clocks,
}

/// A failure before anything was written for good.
pub(super) fn failed(error: impl Into<redb::Error>) -> StoreError {
    match error.into() {
        error @ redb::Error::Corrupted(_) => StoreError::Unintelligible(error.to_string()),
        error => StoreError::not_applied(error),
    }
}

pub(super) fn commit(transaction: WriteTransaction) -> Result<(), StoreError> {
    transaction.commit().map_err(StoreError::unknown)
}

impl Games {
    /// The games in a database whose tables are prepared.
    pub(super) fn new(
        database: Database,
        shards: ShardCount,
        time: Arc<dyn TimeSource>,
    ) -> Result<Self, StoreError> {
        let transaction = database.begin_read().map_err(failed)?;
        let stored = transaction.open_table(CLOCKS).map_err(failed)?;
        let mut clocks = Vec::new();
        for row in stored.iter().map_err(failed)? {
            let (shard, clock) = row.map_err(failed)?;
            let (seen, time) = clock.value();
            clocks.push((shard.value(), ShardClock { seen: Millis(seen), time: Millis(time) }));
        }
        let first = first_deadlines(&transaction.open_table(DEADLINES).map_err(failed)?)?;
        let clocks = Clocks::new(Arc::clone(&time), clocks, |shard| first.contains_key(&shard));
        Ok(Self { database, shards, time, clocks })
    }

    pub(super) fn read(&self) -> Result<ReadTransaction, StoreError> {
        self.database.begin_read().map_err(failed)
    }

    pub(super) fn write(&self) -> Result<WriteTransaction, StoreError> {
        self.database.begin_write().map_err(failed)
    }

    /// The records of games, as they are stored.
    pub(super) fn load(&self, games: &[GameId]) -> Result<Vec<Found<Record>>, StoreError> {
        let table = self.read()?.open_table(GAMES).map_err(failed)?;
        let now = self.time.now();
        games.iter().map(|game| standing(&table, game, now)).collect()
    }

    /// Advances a shard's clock, which keeps its time over a restart only when it is stored too.
    pub(super) fn advance(&self, shard: Shard) -> ShardClock {
        self.clocks.advance(shard)
    }

    /// Commits, and notes in which of these shards games now have deadlines.
    fn commit_deadlines(
        &self,
        transaction: WriteTransaction,
        shards: impl IntoIterator<Item = u16>,
    ) -> Result<(), StoreError> {
        let running = {
            let table = transaction.open_table(DEADLINES).map_err(failed)?;
            let running =
                |shard| Ok((shard, first_deadline(&table, shard)?.is_some_and(|it| it.0 == shard)));
            shards.into_iter().map(running).collect::<Result<Vec<_>, StoreError>>()?
        };
        commit(transaction)?;
        for (shard, running) in running {
            self.clocks.set_running(shard, running);
        }
        Ok(())
    }

    /// Advances and stores the clocks of shards.
    pub(super) fn beat(&self, shards: &[Shard]) -> Result<(), StoreError> {
        let transaction = self.write()?;
        for &shard in shards {
            store_clock(&transaction, shard, self.advance(shard))?;
        }
        commit(transaction)
    }

    /// One compare-and-set.
    pub(super) fn commit(&self, changes: &Commit) -> Result<Outcome, StoreError> {
        let transaction = self.write()?;
        let shard = changes.shard();
        let clock = self.advance(shard);
        let (source, now) = (clock.seen, clock.time);
        {
            let mut games = transaction.open_table(GAMES).map_err(failed)?;
            let current: Vec<Option<Record>> = changes
                .writes()
                .map(|write| Ok(standing(&games, &write.game, source)??))
                .collect::<Result<_, StoreError>>()?;
            let as_expected = changes.writes().zip(&current).all(|(write, standing)| {
                write.expected == standing.as_ref().map(|record| record.version)
            });
            if !as_expected {
                return Ok(Outcome::Conflict { current, now });
            }
            if !within_tolerance(changes.present(), now) {
                return Ok(Outcome::ClockOff { now });
            }
            let mut expiries = transaction.open_table(EXPIRIES).map_err(failed)?;
            let mut deadlines = transaction.open_table(DEADLINES).map_err(failed)?;
            for write in changes.writes() {
                let id = write.game.as_str();
                remove_game(&mut games, &mut expiries, &mut deadlines, shard, id)?;
                if let Change::Put { record, deadline, expiry } = &write.change {
                    let expires = stored_time(expiry.map(|expiry| source + expiry));
                    let due = stored_time(*deadline);
                    let stored = [&record.header()[..], &record.payload].concat();
                    games.insert(id, (expires, due, &stored[..])).map_err(failed)?;
                    if expires != NEVER {
                        expiries.insert((expires, id), ()).map_err(failed)?;
                    }
                    if due != NEVER {
                        deadlines.insert((shard.number(), due, id), ()).map_err(failed)?;
                    }
                }
            }
        }
        list(&transaction, changes.listed())?;
        append(&transaction, FEED, shard, source, changes.feed())?;
        append(&transaction, OUTBOX, shard, source, changes.outbox())?;
        if !changes.feed().is_empty() {
            trim_feed(&transaction, shard, source)?;
        }
        store_clock(&transaction, shard, clock)?;
        self.commit_deadlines(transaction, [shard.number()])?;
        Ok(Outcome::Applied { now })
    }

    /// The earliest deadlines of shards.
    pub(super) fn first_deadlines(
        &self,
        shards: &[Shard],
    ) -> Result<Vec<Option<Millis>>, StoreError> {
        let first = first_deadlines(&self.read()?.open_table(DEADLINES).map_err(failed)?)?;
        Ok(shards.iter().map(|shard| first.get(&shard.number()).copied()).collect())
    }

    /// The games of a shard that are due.
    pub(super) fn due(
        &self,
        shard: Shard,
        now: Millis,
        limit: usize,
    ) -> Result<Vec<Due>, StoreError> {
        let table = self.read()?.open_table(DEADLINES).map_err(failed)?;
        let shard = shard.number();
        // No id is as great as this text, so what is due now is in the range.
        let due = table.range((shard, 0, "")..(shard, now.0, "~")).map_err(failed)?;
        due.take(limit)
            .map(|row| {
                let (key, _) = row.map_err(failed)?;
                let (_, deadline, game) = key.value();
                Ok(Due { game: parse_game(game)?, deadline: Millis(deadline) })
            })
            .collect()
    }

    /// Lets a game be due at another time, if it still is at this one.
    pub(super) fn postpone(&self, due: &Due, until: Option<Millis>) -> Result<(), StoreError> {
        let (shard, id) = (self.shards.shard_of(&due.game).number(), due.game.as_str());
        let transaction = self.write()?;
        {
            let mut games = transaction.open_table(GAMES).map_err(failed)?;
            let mut deadlines = transaction.open_table(DEADLINES).map_err(failed)?;
            let standing = games.get(id).map_err(failed)?.and_then(|row| {
                let (expires, at, record) = row.value();
                (at == due.deadline.0).then(|| (expires, record.to_vec()))
            });
            if let Some((expires, record)) = standing {
                let until = stored_time(until);
                games.insert(id, (expires, until, &record[..])).map_err(failed)?;
                deadlines.remove((shard, due.deadline.0, id)).map_err(failed)?;
                if until != NEVER {
                    deadlines.insert((shard, until, id), ()).map_err(failed)?;
                }
            }
        }
        self.commit_deadlines(transaction, [shard])
    }

    /// Whether a record has expired and is not dropped yet.
    pub(super) fn has_expired(&self) -> Result<bool, StoreError> {
        let table = self.read()?.open_table(EXPIRIES).map_err(failed)?;
        let mut expired = table.range(..(self.time.now().0, "~")).map_err(failed)?;
        expired.next().transpose().map(|row| row.is_some()).map_err(failed)
    }

    /// Drops some of the records that have expired, and their deadlines.
    pub(super) fn drop_expired(&self) -> Result<(), StoreError> {
        let transaction = self.write()?;
        let mut shards = BTreeSet::new();
        {
            let mut expiries = transaction.open_table(EXPIRIES).map_err(failed)?;
            let mut games = transaction.open_table(GAMES).map_err(failed)?;
            let mut deadlines = transaction.open_table(DEADLINES).map_err(failed)?;
            let expired = expiries
                .range(..(self.time.now().0, "~"))
                .map_err(failed)?
                .take(DROPPED_AT_ONCE)
                .map(|row| parse_game(row.map_err(failed)?.0.value().1))
                .collect::<Result<Vec<_>, _>>()?;
            for game in expired {
                let shard = self.shards.shard_of(&game);
                shards.insert(shard.number());
                remove_game(&mut games, &mut expiries, &mut deadlines, shard, game.as_str())?;
            }
        }
        self.commit_deadlines(transaction, shards)
    }

    /// Entries of a shard's feed.
    pub(super) fn feed(
        &self,
        shard: Shard,
        after: EntryId,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let table = self.read()?.open_table(FEED).map_err(failed)?;
        let from = (shard.number(), after.millis, after.sequence);
        let entries = table.range(from..=(shard.number(), u64::MAX, u64::MAX)).map_err(failed)?;
        let mut entries = read_entries(entries, limit.saturating_add(1))?;
        entries.retain(|entry| entry.id > after);
        entries.truncate(limit);
        Ok(entries)
    }

    /// Entries of a shard's outbox.
    pub(super) fn outbox(&self, shard: Shard, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let table = self.read()?.open_table(OUTBOX).map_err(failed)?;
        let shard = shard.number();
        let entries = table.range((shard, 0, 0)..=(shard, u64::MAX, u64::MAX)).map_err(failed)?;
        read_entries(entries, limit)
    }

    /// Removes entries of a shard's outbox.
    pub(super) fn acknowledge(&self, shard: Shard, entries: &[EntryId]) -> Result<(), StoreError> {
        let transaction = self.write()?;
        {
            let mut outbox = transaction.open_table(OUTBOX).map_err(failed)?;
            for entry in entries {
                let key = (shard.number(), entry.millis, entry.sequence);
                outbox.remove(key).map_err(failed)?;
            }
        }
        commit(transaction)
    }

    /// Adds a game to a player's.
    pub(super) fn index_add(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        let transaction = self.write()?;
        transaction
            .open_table(PLAYERS)
            .map_err(failed)?
            .insert((player, entry.created.0, entry.game.as_str()), ())
            .map_err(failed)?;
        commit(transaction)
    }

    /// Removes a game from a player's.
    pub(super) fn index_remove(&self, player: &str, entry: &IndexEntry) -> Result<(), StoreError> {
        let transaction = self.write()?;
        transaction
            .open_table(PLAYERS)
            .map_err(failed)?
            .remove((player, entry.created.0, entry.game.as_str()))
            .map_err(failed)?;
        commit(transaction)
    }

    /// A player's games, newest first.
    pub(super) fn index_page(
        &self,
        player: &str,
        before: Option<&IndexEntry>,
        limit: usize,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        let table = self.read()?.open_table(PLAYERS).map_err(failed)?;
        let end = match before {
            Some(entry) => (player, entry.created.0, entry.game.as_str()),
            None => (player, u64::MAX, "~"),
        };
        let games = table.range((player, 0, "")..end).map_err(failed)?;
        games
            .rev()
            .take(limit)
            .map(|row| {
                let (key, _) = row.map_err(failed)?;
                let (_, created, game) = key.value();
                Ok(IndexEntry { created: Millis(created), game: parse_game(game)? })
            })
            .collect()
    }
}

type GameTable<'txn> = Table<'txn, &'static str, (u64, u64, &'static [u8])>;
type ExpiryTable<'txn> = Table<'txn, (u64, &'static str), ()>;
type DeadlineTable<'txn> = Table<'txn, (u16, u64, &'static str), ()>;

/// The record that stands under an id, unless it has expired.
fn standing(
    games: &impl ReadableTable<&'static str, (u64, u64, &'static [u8])>,
    game: &GameId,
    now: Millis,
) -> Result<Found<Record>, StoreError> {
    let Some(row) = games.get(game.as_str()).map_err(failed)? else { return Ok(Ok(None)) };
    let (expires, _, stored) = row.value();
    if expires <= now.0 {
        return Ok(Ok(None));
    }
    Ok(Record::from_stored(Bytes::copy_from_slice(stored)).map(Some))
}

/// The first deadline of this shard or a later one.
fn first_deadline(
    deadlines: &impl ReadableTable<(u16, u64, &'static str), ()>,
    shard: u16,
) -> Result<Option<(u16, Millis)>, StoreError> {
    let mut from_here = deadlines.range((shard, 0, "")..).map_err(failed)?;
    let first = from_here.next().transpose().map_err(failed)?;
    Ok(first.map(|(key, _)| (key.value().0, Millis(key.value().1))))
}

/// The first deadline of every shard that has one. Takes a step a shard with deadlines, however
/// many there are.
fn first_deadlines(
    deadlines: &impl ReadableTable<(u16, u64, &'static str), ()>,
) -> Result<BTreeMap<u16, Millis>, StoreError> {
    let mut first = BTreeMap::new();
    let mut next = 0;
    // There are fewer shards than numbers for them.
    while let Some((shard, deadline)) = first_deadline(deadlines, next)? {
        first.insert(shard, deadline);
        next = shard + 1;
    }
    Ok(first)
}

/// Removes a game with all that points to it.
fn remove_game(
    games: &mut GameTable<'_>,
    expiries: &mut ExpiryTable<'_>,
    deadlines: &mut DeadlineTable<'_>,
    shard: Shard,
    id: &str,
) -> Result<(), StoreError> {
    if let Some(row) = games.remove(id).map_err(failed)? {
        let (expires, due, _) = row.value();
        expiries.remove((expires, id)).map_err(failed)?;
        deadlines.remove((shard.number(), due, id)).map_err(failed)?;
    }
    Ok(())
}

/// Appends entries to a shard's feed or outbox; their ids never go back, even if the time does.
fn append(
    transaction: &WriteTransaction,
    table: Entries,
    shard: Shard,
    source: Millis,
    entries: &[Bytes],
) -> Result<(), StoreError> {
    if entries.is_empty() {
        return Ok(());
    }
    let mut table = transaction.open_table(table).map_err(failed)?;
    let shard = shard.number();
    let mut last = match table.range((shard, 0, 0)..=(shard, u64::MAX, u64::MAX)) {
        Ok(mut range) => range.next_back().transpose().map_err(failed)?.map(|(key, _)| {
            let (_, millis, sequence) = key.value();
            EntryId { millis, sequence }
        }),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let id = match last {
            Some(last) if last.millis >= source.0 => {
                EntryId { millis: last.millis, sequence: last.sequence + 1 }
            }
            _ => EntryId { millis: source.0, sequence: 0 },
        };
        table.insert((shard, id.millis, id.sequence), &entry[..]).map_err(failed)?;
        last = Some(id);
    }
    Ok(())
}

/// Drops the entries of a shard's feed that are older than they need to be.
fn trim_feed(
    transaction: &WriteTransaction,
    shard: Shard,
    source: Millis,
) -> Result<(), StoreError> {
    let mut feed = transaction.open_table(FEED).map_err(failed)?;
    let oldest = source.0.saturating_sub(FEED_KEPT.0);
    let shard = shard.number();
    feed.retain_in((shard, 0, 0)..(shard, oldest, 0), |_, _| false).map_err(failed)
}

fn store_clock(
    transaction: &WriteTransaction,
    shard: Shard,
    clock: ShardClock,
) -> Result<(), StoreError> {
    let mut clocks = transaction.open_table(CLOCKS).map_err(failed)?;
    clocks.insert(shard.number(), (clock.seen.0, clock.time.0)).map_err(failed)?;
    Ok(())
}

fn read_entries(
    range: Range<'_, (u16, u64, u64), &'static [u8]>,
    limit: usize,
) -> Result<Vec<Entry>, StoreError> {
    range
        .take(limit)
        .map(|row| {
            let (key, content) = row.map_err(failed)?;
            let (_, millis, sequence) = key.value();
            let content = Bytes::copy_from_slice(content.value());
            Ok(Entry { id: EntryId { millis, sequence }, content })
        })
        .collect()
}

pub(super) fn parse_game(id: &str) -> Result<GameId, StoreError> {
    id.parse()
        .map_err(|error: crate::game::GameIdError| StoreError::Unintelligible(error.to_string()))
}
