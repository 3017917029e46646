//! What is in the file, table by table.

use redb::{
    Database, ReadOnlyDatabase, ReadableDatabase as _, ReadableTable as _, TableDefinition,
    TableError,
};

use crate::game::Millis;

/// By game id: when the record expires, when the game is due ([`NEVER`] for neither), and the
/// record.
pub(super) const GAMES: TableDefinition<&str, (u64, u64, &[u8])> = TableDefinition::new("games");

/// When records expire, with their game ids.
pub(super) const EXPIRIES: TableDefinition<(u64, &str), ()> = TableDefinition::new("expiries");

/// By shard and time: the games that are due.
pub(super) const DEADLINES: TableDefinition<(u16, u64, &str), ()> =
    TableDefinition::new("deadlines");

/// A feed's or an outbox's entries by shard, millisecond and number.
pub(super) type Entries = TableDefinition<'static, (u16, u64, u64), &'static [u8]>;

/// The shards' feeds.
pub(super) const FEED: Entries = TableDefinition::new("feed");

/// The shards' outboxes.
pub(super) const OUTBOX: Entries = TableDefinition::new("outbox");

/// The shards' clocks: the source's time last seen, and the shard's time.
pub(super) const CLOCKS: TableDefinition<u16, (u64, u64)> = TableDefinition::new("clocks");

/// The players' games: player, when created, game id.
pub(super) const PLAYERS: TableDefinition<(&str, u64, &str), ()> = TableDefinition::new("players");

/// All games: when created, game id.
pub(super) const LISTING: TableDefinition<(u64, &str), ()> = TableDefinition::new("listing");

/// What holds for the whole store: the number of shards.
const SETTINGS: TableDefinition<&str, u16> = TableDefinition::new("settings");

/// Stands for a point in time that never comes.
pub(super) const NEVER: u64 = u64::MAX;

/// A point in time as it is stored.
pub(super) fn stored_time(time: Option<Millis>) -> u64 {
    time.map_or(NEVER, |time| time.0)
}

/// Makes the tables that are missing, and records the number of shards if there is none yet.
/// Returns the recorded number.
pub(super) fn prepare(database: &Database, shards: u16) -> Result<u16, redb::Error> {
    let transaction = database.begin_write()?;
    transaction.open_table(GAMES)?;
    transaction.open_table(EXPIRIES)?;
    transaction.open_table(DEADLINES)?;
    transaction.open_table(FEED)?;
    transaction.open_table(OUTBOX)?;
    transaction.open_table(CLOCKS)?;
    transaction.open_table(PLAYERS)?;
    transaction.open_table(LISTING)?;
    let recorded = {
        let mut settings = transaction.open_table(SETTINGS)?;
        let recorded = settings.get("shards")?.map(|shards| shards.value());
        if recorded.is_none() {
            settings.insert("shards", shards)?;
        }
        recorded.unwrap_or(shards)
    };
    transaction.commit()?;
    Ok(recorded)
}

/// The number of shards in a file that is only read, if it has one yet.
pub(super) fn recorded_shards(database: &ReadOnlyDatabase) -> Result<Option<u16>, redb::Error> {
    match database.begin_read()?.open_table(SETTINGS) {
        Ok(settings) => Ok(settings.get("shards")?.map(|shards| shards.value())),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
