//! A commit as a call of its script, and what the script answers.

use std::io::Write as _;

use bytes::Bytes;
use redis::{Cmd, RedisWrite, Script, ToRedisArgs, Value};

use super::answer::unintelligible;
use super::keys::Keys;
use crate::game::{Millis, Span};
use crate::store::commit::Listed;
use crate::store::record::version_bytes;
use crate::store::{Change, Commit, IndexEntry, Outcome, Record, StoreError};

/// The call that commits; `commit.lua` says what its arguments are.
pub(super) fn commit_command(script: &Script, keys: &Keys, commit: &Commit) -> Cmd {
    let shard = commit.shard();
    let games = commit.writes().count();
    let listed = commit.listed();
    let entries = listed.len() + commit.feed().len() + commit.outbox().len();
    let more_keys = usize::from(!listed.is_empty());
    let bytes: usize = commit.writes().map(|write| stored_length(&write.change)).sum();
    // Keys, numbers and lengths are short: what they take is guessed, and generously.
    let mut command =
        Cmd::with_capacity(11 + 5 * games + entries, 400 + bytes + 200 * games + 64 * entries);
    command.arg("EVALSHA").arg(script.get_hash()).arg(4 + games + more_keys);
    command.arg(keys.clock(shard)).arg(keys.deadlines(shard));
    command.arg(keys.feed(shard)).arg(keys.outbox(shard));
    for write in commit.writes() {
        command.arg(keys.game(shard, &write.game));
    }
    if !listed.is_empty() {
        command.arg(keys.listing(shard));
    }
    command.arg(commit.present().0).arg(commit.feed().len()).arg(listed.len());
    for write in commit.writes() {
        match write.expected {
            Some(version) => command.arg(&version_bytes(version)[..]),
            None => command.arg(""),
        };
        match &write.change {
            Change::Put { record, deadline, expiry } => {
                command.arg(Stored(record));
                command.arg(Optional(deadline.map(|at| at.0)));
                command.arg(Optional(expiry.map(time_to_live)));
            }
            Change::Delete => {
                command.arg("").arg("").arg("");
            }
        }
    }
    for change in listed {
        command.arg(match change {
            Listed::Added(entry) => format!("+{}", index_member(entry)),
            Listed::Removed(entry) => format!("-{}", index_member(entry)),
        });
    }
    for entry in commit.feed().iter().chain(commit.outbox()) {
        command.arg(&entry[..]);
    }
    command
}

/// What came of the commit, and the shard's time.
pub(super) fn parse_outcome(
    answer: Value,
) -> Result<(Result<Outcome, StoreError>, Millis), StoreError> {
    let bad = || unintelligible("what the commit script answered is not what it answers");
    let Value::Array(parts) = answer else { return Err(bad()) };
    let mut parts = parts.into_iter();
    let (Some(Value::Int(status)), Some(Value::Int(now))) = (parts.next(), parts.next()) else {
        return Err(bad());
    };
    let now = Millis(u64::try_from(now).map_err(|_| bad())?);
    let outcome = match status {
        0 => parts
            .map(|standing| match standing {
                Value::Nil => Ok(None),
                Value::BulkString(bytes) => Ok(Some(Record::from_stored(Bytes::from(bytes))?)),
                _ => Err(bad()),
            })
            .collect::<Result<_, _>>()
            .map(|current| Outcome::Conflict { current, now }),
        1 => Ok(Outcome::Applied { now }),
        2 => Ok(Outcome::ClockOff { now }),
        _ => Err(bad()),
    };
    Ok((outcome, now))
}

/// How a game stands in a list: sorted as text, it is sorted by age.
pub(super) fn index_member(entry: &IndexEntry) -> String {
    format!("{:016x}{}", entry.created.0, entry.game)
}

fn stored_length(change: &Change) -> usize {
    match change {
        Change::Put { record, .. } => record.stored_length(),
        Change::Delete => 0,
    }
}

/// A time to live that the server takes: it refuses none at all, and ends of time beyond what it
/// can count.
fn time_to_live(expiry: Span) -> u64 {
    const LONGEST: Span = Span::days(365 * 1_000);
    expiry.clamp(Span(1), LONGEST).0
}

/// A record as one argument, header and payload, without putting them together first.
struct Stored<'a>(&'a Record);

impl ToRedisArgs for Stored<'_> {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        let mut argument = out.writer_for_next_arg();
        argument
            .write_all(&self.0.header())
            .and_then(|()| argument.write_all(&self.0.payload))
            .expect("a command takes all that is written");
    }
}

/// A number, or an empty argument.
struct Optional(Option<u64>);

impl ToRedisArgs for Optional {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        match self.0 {
            Some(number) => number.write_redis_args(out),
            None => out.write_arg(b""),
        }
    }
}
