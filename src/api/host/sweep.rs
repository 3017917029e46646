//! What must be done for games that nobody touches.

use std::sync::Arc;

use super::Host;
use super::write::{Committed, entry_of, players};
use crate::api::error::{ApiError, Reason};
use crate::game::{Command, Game, GameId, Millis, decide};
use crate::store::codec::{IndexChange, IndexTask};
use crate::store::{EntryId, Shard, StoreError};

/// How many games or entries are asked for at once.
const AT_ONCE: u32 = 100;

impl Host {
    /// Ends the games of a shard whose deadline has passed.
    ///
    /// # Errors
    /// Where the store is away. A game that cannot be read is logged and passed over.
    pub(crate) async fn enforce_deadlines(&self, shard: Shard) -> Result<(), StoreError> {
        let now = self.store.now(shard).await?;
        for id in self.store.due(shard, now, AT_ONCE).await? {
            if let Err(error) = self.enforce_deadline(&id).await
                && error.reason() != Reason::GameNotFound
            {
                tracing::warn!(game = %id, reason = %error.reason(), "a deadline is not enforced");
            }
        }
        Ok(())
    }

    async fn enforce_deadline(&self, id: &GameId) -> Result<(), ApiError> {
        let game = self.read(id).await?;
        let now = self.now(id).await?;
        self.enforce(game, now).await.map(|_| ())
    }

    /// The game after what has come due was written; the game itself where nothing has.
    ///
    /// # Errors
    /// Where the store is away, and where the game's time is over, so that there is none.
    pub(crate) async fn enforce(
        &self,
        game: Arc<Game>,
        now: Millis,
    ) -> Result<Arc<Game>, ApiError> {
        if self.remove_outlived(&game, now).await? {
            return Err(ApiError::no_game(game.id()));
        }
        let due = decide(&game, &Command::EnforceDeadline, now, &self.options.limits);
        let Ok(change) = due else { return Ok(game) };
        match self.commit(&game, &change, None).await? {
            Committed::Done(done) => {
                tracing::info!(game = %game.id(), event = ?change.event(), "a deadline has passed");
                Ok(done.game)
            }
            // Somebody else touched it. If it still is due, whoever touches it next sees it.
            Committed::Stands(current) => Ok(current),
            Committed::Again => self.read(game.id()).await,
        }
    }

    /// Does what the outbox of a shard says, and empties it.
    ///
    /// # Errors
    /// Where the store is away. What was not done stays in the outbox.
    pub(crate) async fn drain_outbox(&self, shard: Shard) -> Result<(), StoreError> {
        loop {
            let entries = self.store.outbox(shard, AT_ONCE).await?;
            let mut done: Vec<EntryId> = Vec::with_capacity(entries.len());
            let mut tasks = Vec::with_capacity(entries.len());
            for entry in &entries {
                match IndexTask::from_bytes(&entry.content) {
                    Ok(task) => {
                        self.apply(&task).await?;
                        done.push(entry.id);
                        tasks.push(task);
                    }
                    // A newer release knows what to do with it; a broken one is for people.
                    Err(error) => tracing::error!(%shard, entry = %entry.id, %error, "left alone"),
                }
            }
            self.take_back_what_came_too_late(&tasks).await?;
            if !done.is_empty() {
                self.store.acknowledge(shard, &done).await?;
            }
            if done.len() < AT_ONCE as usize {
                return Ok(());
            }
        }
    }

    async fn apply(&self, task: &IndexTask) -> Result<(), StoreError> {
        let (player, entry) = (task.player.as_str(), &task.entry);
        match task.change {
            IndexChange::Add => self.store.index_add(player, entry).await,
            IndexChange::Remove => self.store.index_remove(player, entry).await,
        }
    }

    /// Takes back what was added for a game that is gone by now, or without that player: whoever
    /// removed it from the list may have been faster than this replica.
    async fn take_back_what_came_too_late(&self, tasks: &[IndexTask]) -> Result<(), StoreError> {
        let added: Vec<&IndexTask> =
            tasks.iter().filter(|task| task.change == IndexChange::Add).collect();
        if added.is_empty() {
            return Ok(());
        }
        let games: Vec<GameId> = added.iter().map(|task| task.entry.game.clone()).collect();
        for (task, found) in added.into_iter().zip(self.store.load_many(&games).await?) {
            let id = &task.entry.game;
            let holds = match found {
                Ok(Some(record)) => self.revive(id, &record).map_or(true, |game| {
                    entry_of(&game) == task.entry && players(&game).contains(&task.player)
                }),
                Ok(None) => false,
                // What cannot be read may well be right.
                Err(_) => true,
            };
            if !holds {
                self.store.index_remove(task.player.as_str(), &task.entry).await?;
            }
        }
        Ok(())
    }
}
