//! Erasing a player's id from his games, which go on without it.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::consequences::{entry_of, with_tasks};
use super::{Host, HostedGame};
use crate::api::error::{ApiError, Reason};
use crate::game::{Command, Game, GameId, PlayerId, Refusal, decide};
use crate::rules::Seat;
use crate::store::codec::{IndexChange, IndexTask};
use crate::store::{Commit, IndexEntry, Outcome, StoreError};

/// From how many games one call erases an id.
const GAMES: u32 = 50;

/// How many games, and how many outboxes, are worked on at the same time.
const GAMES_AT_ONCE: usize = 8;
const OUTBOXES_AT_ONCE: usize = 32;

/// How often an erasure is tried on one game because another write was faster.
const ATTEMPTS: usize = 10;

/// What erasing came to on some of a player's games.
#[derive(Debug, Default)]
pub(crate) struct Erased {
    /// From how many games the id was erased.
    pub(crate) changed: u32,
    /// The games that cannot be read.
    pub(crate) failed: Vec<GameId>,
    /// The entry to go on after; `None` at the end.
    pub(crate) last: Option<IndexEntry>,
}

impl Host {
    /// Erases a player's id from some of his games, from the one after `after` on.
    ///
    /// # Errors
    /// Where the store is away, or other writes were faster time and again. What was erased stays so.
    pub(crate) async fn erase_player(
        &self,
        player: &PlayerId,
        after: Option<IndexEntry>,
    ) -> Result<Erased, ApiError> {
        if after.is_none() {
            self.bring_up_to_date().await?;
        }
        let name = player.as_str();
        // One more tells whether there are more.
        let mut entries = self.store.index_page(name, after.as_ref(), GAMES + 1).await?;
        let more = entries.len() > GAMES as usize;
        entries.truncate(GAMES as usize);
        let last = entries.last().filter(|_| more).cloned();
        let mut erased = Erased { last, ..Erased::default() };
        let games = stream::iter(entries).map(|entry| async move {
            let outcome = self.erase_from(&entry, player).await;
            (entry, outcome)
        });
        let mut games = games.buffer_unordered(GAMES_AT_ONCE);
        while let Some((entry, outcome)) = games.next().await {
            match outcome {
                Ok(changed) => erased.changed += u32::from(changed),
                Err(error)
                    if [Reason::RecordBroken, Reason::RecordNewer].contains(&error.reason()) =>
                {
                    erased.failed.push(entry.game);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(erased)
    }

    /// Brings the lists of players' games up to date, also where a replica died before it could.
    async fn bring_up_to_date(&self) -> Result<(), StoreError> {
        stream::iter(self.store.shards().iter())
            .map(|shard| self.drain_outbox(shard))
            .buffer_unordered(OUTBOXES_AT_ONCE)
            .try_collect()
            .await
    }

    /// Erases the id from one game; whether it was in it.
    async fn erase_from(&self, entry: &IndexEntry, player: &PlayerId) -> Result<bool, ApiError> {
        let id = &entry.game;
        let mut changed = false;
        for _ in 0..ATTEMPTS {
            let game = match self.read(id).await {
                Ok(game) if entry_of(&game) == *entry => Some(game),
                // Another game of this id has an entry of its own.
                Ok(_) => None,
                Err(error) if error.reason() == Reason::GameNotFound => None,
                Err(error) => return Err(error),
            };
            let has = |game: &Game| game.seats().find(|seat| game.player(*seat) == Some(player));
            let Some((game, seat)) = game.and_then(|game| has(&game).map(|seat| (game, seat)))
            else {
                self.store.index_remove(player.as_str(), entry).await?;
                return Ok(changed);
            };
            changed |= self.erase_seat(&game, seat, player).await?;
        }
        Err(ApiError::version(
            Reason::Contention,
            id,
            Some(self.read(id).await?.version()),
            "other writes on this game were faster time and again: repeat the call",
        ))
    }

    /// Erases the id from one seat, in one write with the entry of the player's list; `false` where
    /// something else had to be written first, or was.
    async fn erase_seat(
        &self,
        game: &Arc<HostedGame>,
        seat: Seat,
        player: &PlayerId,
    ) -> Result<bool, ApiError> {
        let id = game.id();
        let now = self.now(id).await?;
        let command = Command::ErasePlayer { seat };
        let change = match decide(game, &command, now, &self.options.limits) {
            Ok(change) => change,
            Err(Refusal::TimeIsUp { .. }) => {
                self.enforce(Arc::clone(game), now).await?;
                return Ok(false);
            }
            Err(refusal) => return Err(ApiError::refused(id, &refusal)),
        };
        let next = game.after(&change, None);
        let next = next.map_err(|error| ApiError::contradiction(id, &error))?;
        let next = HostedGame::after(next, Some(game));
        let commit =
            Commit::new(self.store.shards(), now, self.write_of(&next, Some(game.version()))?);
        let task = IndexTask {
            change: IndexChange::Remove,
            player: player.clone(),
            entry: entry_of(game),
        };
        let has_another = next.seats().any(|seat| next.player(seat) == Some(player));
        let tasks = if has_another { Vec::new() } else { vec![task] };
        match self.send(&with_tasks(commit, tasks), id).await? {
            Outcome::Applied { now, .. } => {
                self.written(next, now);
                Ok(true)
            }
            Outcome::Conflict { .. } | Outcome::ClockOff { .. } => Ok(false),
        }
    }
}
