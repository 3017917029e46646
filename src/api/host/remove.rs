//! Removing games for good: those to be deleted, and those whose time is over.

use std::sync::Arc;

use super::consequences::{entry_of, players, with_tasks};
use super::write::{check_etag, reused};
use super::{Asked, Host, HostedGame};
use crate::api::error::{ApiError, Reason};
use crate::game::{Game, Millis};
use crate::store::codec::{IndexChange, IndexTask};
use crate::store::{Change, Commit, Outcome, Write};

/// How often a deletion is tried because another write was faster.
const ATTEMPTS: usize = 5;

impl Host {
    /// Deletes a game; answers it as it stood.
    ///
    /// # Errors
    /// Why it cannot be done.
    pub(crate) async fn delete(&self, asked: Asked<()>) -> Result<Arc<HostedGame>, ApiError> {
        let id = &asked.game;
        for _ in 0..ATTEMPTS {
            let game = self.sure_of(self.read(id).await?, asked.etag).await?;
            let request = asked.request_id.as_ref().map(|id| id.request(None));
            if request.is_some_and(|request| game.recall(&request).is_some()) {
                return Err(reused());
            }
            check_etag(&game, asked.etag, || Some(game.version()))?;
            if self.remove(&game).await? {
                tracing::info!(game = %id, "deleted");
                return Ok(game);
            }
        }
        let current = self.read(id).await?;
        Err(ApiError::version(
            Reason::Contention,
            id,
            Some(current.version()),
            "other writes on this game were faster time and again: repeat the call",
        ))
    }

    /// Removes a game whose time is over; whether there was one.
    ///
    /// # Errors
    /// Where the store is away.
    pub(super) async fn remove_outlived(&self, game: &Game, now: Millis) -> Result<bool, ApiError> {
        if !game.has_outlived(now, &self.options.limits) {
            return Ok(false);
        }
        if self.remove(game).await? {
            tracing::debug!(game = %game.id(), "its time is over");
        }
        Ok(true)
    }

    /// Removes a game in one write with all that leads to it; `false` where another write was faster.
    async fn remove(&self, game: &Game) -> Result<bool, ApiError> {
        let id = game.id();
        let write =
            Write { game: id.clone(), expected: Some(game.version()), change: Change::Delete };
        let present = self.now(id).await?;
        let commit = Commit::new(self.store.shards(), present, write).with_unlisted(entry_of(game));
        let task =
            |player| IndexTask { change: IndexChange::Remove, player, entry: entry_of(game) };
        let tasks = players(game).into_iter().map(task).collect();
        let outcome = self.send(&with_tasks(commit, tasks), id).await?;
        self.cache.forget(id);
        Ok(matches!(outcome, Outcome::Applied { .. }))
    }
}
