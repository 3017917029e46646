//! Reading what the server answers.

use std::fmt;

use redis::{FromRedisValue, Value};
use uuid::Uuid;

use crate::game::{GameId, Millis};
use crate::store::{Due, Entry, EntryId, IndexEntry, ReplicaId, StoreError};

pub(super) fn unintelligible(what: impl fmt::Display) -> StoreError {
    StoreError::Unintelligible(what.to_string())
}

/// Reads the entries of a stream, each with one field.
pub(super) fn parse_entries(answer: Value) -> Result<Vec<Entry>, StoreError> {
    let entries: Vec<(String, (Value, bytes::Bytes))> =
        FromRedisValue::from_redis_value(answer).map_err(unintelligible)?;
    entries
        .into_iter()
        .map(|(id, (_, content))| {
            let id: EntryId = id.parse().map_err(unintelligible)?;
            Ok(Entry { id, content })
        })
        .collect()
}

/// Reads a member of a player's index.
pub(super) fn parse_index_entry(member: &str) -> Result<IndexEntry, StoreError> {
    let bad = || unintelligible(format_args!("`{member}` is no entry of a player's index"));
    let (created, game) = member.split_at_checked(16).ok_or_else(bad)?;
    let created = Millis(u64::from_str_radix(created, 16).map_err(|_| bad())?);
    Ok(IndexEntry { created, game: parse_game(game)? })
}

/// Reads games with their deadlines.
pub(super) fn parse_due(answer: Value) -> Result<Vec<Due>, StoreError> {
    let games: Vec<(String, u64)> =
        FromRedisValue::from_redis_value(answer).map_err(unintelligible)?;
    let due = |(id, deadline): (String, u64)| {
        Ok(Due { game: parse_game(&id)?, deadline: Millis(deadline) })
    };
    games.into_iter().map(due).collect()
}

/// Reads a game's id.
fn parse_game(id: &str) -> Result<GameId, StoreError> {
    id.parse().map_err(unintelligible)
}

/// Reads a replica's id.
pub(super) fn parse_replica(id: &str) -> Result<ReplicaId, StoreError> {
    let id = Uuid::parse_str(id)
        .map_err(|error| unintelligible(format_args!("`{id}` is no id of a replica: {error}")))?;
    Ok(ReplicaId(id))
}
