//! What the simulated store has written, and when; and whether anybody was forfeited too early.

use std::collections::HashMap;

use banqi::api::proto::v1;
use banqi::api::proto::v1::log_entry::Event;
use banqi::game::{GameId, Millis, Version};
use banqi::store::{CLOCK_TOLERANCE, Change, MAX_ADVANCE, Record};

/// A write that stands, or stood until another one followed.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) change: Change,
    /// When it was written, in milliseconds since the simulation began.
    at: u64,
    /// The shard's time then.
    shard_time: Millis,
}

impl Entry {
    pub(crate) fn record(&self) -> Option<&Record> {
        match &self.change {
            Change::Put { record, .. } => Some(record),
            Change::Delete => None,
        }
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.record().map(|record| record.version)
    }

    fn deadline(&self) -> Option<Millis> {
        match &self.change {
            Change::Put { deadline, .. } => *deadline,
            Change::Delete => None,
        }
    }
}

/// All writes, and the jumps of the clock.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    games: HashMap<GameId, Vec<Entry>>,
    /// When the clock jumped forward.
    jumps: Vec<u64>,
}

impl Ledger {
    pub(crate) fn add(&mut self, game: &GameId, change: &Change, at: u64, shard_time: Millis) {
        let entry = Entry { change: change.clone(), at, shard_time };
        self.games.entry(game.clone()).or_default().push(entry);
    }

    pub(crate) fn add_jump(&mut self, at: u64) {
        self.jumps.push(at);
    }

    /// What was written of a game, oldest first.
    pub(crate) fn of(&self, game: &GameId) -> &[Entry] {
        self.games.get(game).map_or(&[], Vec::as_slice)
    }

    /// Forgets all but the first writes of a game.
    pub(crate) fn cut(&mut self, game: &GameId, kept: usize) {
        self.games.entry(game.clone()).or_default().truncate(kept);
    }

    /// Whether each seat that ran out of time had had it: a jump of the clock may cost it no more
    /// than what the shard's time advances at once.
    pub(crate) fn check_forfeits(&self, game: &GameId, log: &[v1::LogEntry]) -> Result<(), String> {
        let written = |revision: u64| {
            let is_it =
                |entry: &&Entry| entry.version().is_some_and(|it| it.revision.0 == revision);
            self.of(game).iter().rev().find(is_it)
        };
        for entry in log.iter().filter(|it| matches!(it.event, Some(Event::TimedOut(_)))) {
            let revision = entry.revision;
            let found = written(revision - 1).zip(written(revision));
            let (before, forfeit) = found.ok_or(format!("{revision} was never written"))?;
            let Some(deadline) = before.deadline() else {
                return Err(format!("revision {revision} forfeits a seat that had no deadline"));
            };
            let left = deadline.since(before.shard_time).0;
            let had = forfeit.at - before.at;
            let between = before.at..=forfeit.at;
            let jumps = self.jumps.iter().filter(|jump| between.contains(jump)).count() as u64;
            let excused = jumps * MAX_ADVANCE.0 + CLOCK_TOLERANCE.0;
            if had + excused < left {
                return Err(format!(
                    "revision {revision} forfeits a seat after {had} ms that had {left} ms left; \
                     {jumps} jumps of the clock excuse {excused} ms"
                ));
            }
        }
        Ok(())
    }
}
