//! What must be done for games that nobody touches.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};

use super::consequences::{entry_of, players};
use super::write::Committed;
use super::{Host, HostedGame};
use crate::api::error::{ApiError, Reason};
use crate::game::{Command, GameId, Millis, PlayerId, Span, decide};
use crate::store::codec::{IndexChange, IndexTask};
use crate::store::{Due, EntryId, Shard, StoreError};

/// How many games or entries are asked for at once.
const AT_ONCE: u32 = 100;

/// How often what has come due is written by whoever touches the game, where others are faster or
/// the store's time is off, before it is told that the store is away.
const ATTEMPTS: usize = 5;

/// How many games of a shard are ended at the same time.
const GAMES_AT_ONCE: usize = 8;

/// How long after a deadline a sweep comes, so that whoever touches the game is first.
const GRACE: Span = Span(500);

/// How long after a deadline a replica looks at shards that are another's. That one may be unable to
/// read a game, or be slow.
const OTHERS_GRACE: Span = Span(2_000);

/// After what time a game that cannot be read is looked at again.
const UNREADABLE_AGAIN: Span = Span(60_000);

/// How long a due game that another replica may be able to read is left to it.
const LEFT_TO_OTHERS: Span = Span(30_000);

impl Host {
    /// Whether a shard whose first deadline is this one has something to be swept.
    ///
    /// # Errors
    /// Where the store is away.
    pub(crate) async fn is_overdue(&self, shard: Shard, first: Millis) -> Result<bool, StoreError> {
        Ok(self.store.now(shard).await? >= first + GRACE)
    }

    /// Those of the shards in which whoever sweeps them has left something for so long that
    /// somebody else should try. Costs next to nothing where nothing was.
    ///
    /// # Errors
    /// Where the store is away.
    pub(crate) async fn left_overdue(&self, shards: &[Shard]) -> Result<Vec<Shard>, StoreError> {
        let system = self.time.now();
        let mut left = Vec::new();
        for (&shard, first) in shards.iter().zip(self.store.first_deadlines(shards).await?) {
            let Some(first) = first else { continue };
            // A shard's time never is later than the system's by more than clocks are apart.
            if first + GRACE < system && self.store.now(shard).await? >= first + OTHERS_GRACE {
                left.push(shard);
            }
        }
        Ok(left)
    }

    /// Ends the games of a shard whose deadline has passed.
    ///
    /// # Errors
    /// Where the store is away. A game that cannot be read is logged once, and looked at again
    /// after a minute.
    pub(crate) async fn enforce_deadlines(&self, shard: Shard) -> Result<(), StoreError> {
        loop {
            let now = self.store.now(shard).await?;
            let overdue = Millis(now.0.saturating_sub(GRACE.0));
            let games = self.store.due(shard, overdue, AT_ONCE).await?;
            let all = games.len() < AT_ONCE as usize;
            let mut enforced = stream::iter(games)
                .map(|due| self.enforce_deadline(due, now))
                .buffer_unordered(GAMES_AT_ONCE);
            let mut left = false;
            while let Some(outcome) = enforced.next().await {
                left |= outcome? == Enforced::Left;
            }
            if all || left {
                return Ok(());
            }
        }
    }

    /// Sees to it that a game is no longer due.
    async fn enforce_deadline(&self, due: Due, now: Millis) -> Result<Enforced, StoreError> {
        let id = &due.game;
        let game = match self.store.load(id).await {
            Ok(Some(record)) => match self.replay(id, &record) {
                Err(error)
                    if error.may_be_read_elsewhere() && now < due.deadline + LEFT_TO_OTHERS =>
                {
                    if self.unreadable.is_new(id) {
                        tracing::warn!(game = %id, %error, "a deadline is left to other replicas");
                    }
                    return Ok(Enforced::Left);
                }
                read => read.map_err(|error| error.to_string()),
            },
            // It has expired, and its deadline goes with it.
            Ok(None) => return Ok(Enforced::Left),
            Err(error) if error.is_transient() => return Err(error),
            Err(error) => Err(error.to_string()),
        };
        let until = match game {
            Ok(game) => match self.enforce_or_remove(&game, now).await {
                Ok(Some(enforced)) => return Ok(enforced),
                // It was to be looked at sooner than it needs to be.
                Ok(None) => game.schedule(&self.options.limits).deadline,
                // These errors stand in the log already.
                Err(error) if error.reason() == Reason::StoreUnavailable => {
                    return Ok(Enforced::Left);
                }
                Err(_) => Some(now + UNREADABLE_AGAIN),
            },
            Err(error) => {
                if self.unreadable.is_new(id) {
                    tracing::error!(game = %id, %error, "a deadline cannot be enforced");
                }
                Some(now + UNREADABLE_AGAIN)
            }
        };
        self.store.postpone(&due, until).await?;
        Ok(Enforced::Done)
    }

    /// Removes a game whose time is over, or writes what has come due; `None` where neither has.
    async fn enforce_or_remove(
        &self,
        game: &HostedGame,
        now: Millis,
    ) -> Result<Option<Enforced>, ApiError> {
        if self.remove_outlived(game, now).await? {
            return Ok(Some(Enforced::Done));
        }
        Ok(self.enforce_once(game, now).await?.map(|committed| match committed {
            Committed::Done(_) | Committed::Stands(_) => Enforced::Done,
            Committed::Again => Enforced::Left,
        }))
    }

    /// The game after what has come due was written; the game itself where nothing has.
    ///
    /// # Errors
    /// Where the store is away, or so slow that it takes no write for being out of date when it
    /// arrives; and where the game's time is over, so that there is none.
    pub(crate) async fn enforce(
        &self,
        mut game: Arc<HostedGame>,
        now: Millis,
    ) -> Result<Arc<HostedGame>, ApiError> {
        for _ in 0..ATTEMPTS {
            if self.remove_outlived(&game, now).await? {
                return Err(ApiError::no_game(game.id()));
            }
            game = match self.enforce_once(&game, now).await? {
                None => return Ok(game),
                Some(Committed::Done(done)) => return Ok(done.game),
                // Somebody else touched it. It may be due as before.
                Some(Committed::Stands(current)) => current,
                Some(Committed::Again) => self.read(game.id()).await?,
            };
        }
        Err(ApiError::store_away().about(game.id()))
    }

    /// Writes what has come due; `None` where nothing has.
    async fn enforce_once(
        &self,
        game: &HostedGame,
        now: Millis,
    ) -> Result<Option<Committed>, ApiError> {
        let due = decide(game, &Command::EnforceDeadline, now, &self.options.limits);
        let Ok(change) = due else { return Ok(None) };
        let committed = self.commit(game, &change, None).await?;
        if matches!(committed, Committed::Done(_)) {
            self.metrics.enforced(game.schedule(&self.options.limits).deadline, now);
            tracing::info!(game = %game.id(), event = ?change.event(), "a deadline has passed");
        }
        Ok(Some(committed))
    }

    /// Does what the outbox of a shard says, and empties it.
    ///
    /// # Errors
    /// Where the store is away. What was not done stays in the outbox.
    pub(crate) async fn drain_outbox(&self, shard: Shard) -> Result<(), StoreError> {
        loop {
            let entries = self.store.outbox(shard, AT_ONCE).await?;
            let mut by_player: BTreeMap<PlayerId, Vec<(EntryId, IndexTask)>> = BTreeMap::new();
            for entry in &entries {
                match IndexTask::from_bytes(&entry.content) {
                    Ok(task) => {
                        by_player.entry(task.player.clone()).or_default().push((entry.id, task));
                    }
                    // A newer release knows what to do with it; a broken one is for people.
                    Err(error) => tracing::error!(%shard, entry = %entry.id, %error, "left alone"),
                }
            }
            let applied = join_all(by_player.values().map(|tasks| self.apply(tasks))).await;
            let mut done: Vec<EntryId> = Vec::with_capacity(entries.len());
            let mut tasks = Vec::with_capacity(entries.len());
            let mut outcome = Ok(());
            for (of_player, (count, applied)) in by_player.into_values().zip(applied) {
                for (entry, task) in of_player.into_iter().take(count) {
                    done.push(entry);
                    tasks.push(task);
                }
                outcome = outcome.and(applied);
            }
            self.take_back_what_came_too_late(&tasks).await?;
            if !done.is_empty() {
                self.store.acknowledge(shard, &done).await?;
                self.metrics.outbox_entries.inc_by(u64::try_from(done.len()).unwrap_or(u64::MAX));
            }
            outcome?;
            if done.len() < AT_ONCE as usize {
                return Ok(());
            }
        }
    }

    /// Does what is to be done in one player's list, in order, up to the first failure; and how much
    /// was done. The lists of other players may be on servers that are well.
    async fn apply(&self, tasks: &[(EntryId, IndexTask)]) -> (usize, Result<(), StoreError>) {
        for (done, (_, task)) in tasks.iter().enumerate() {
            let (player, entry) = (task.player.as_str(), &task.entry);
            let applied = match task.change {
                IndexChange::Add => self.store.index_add(player, entry).await,
                IndexChange::Remove => self.store.index_remove(player, entry).await,
            };
            if applied.is_err() {
                return (done, applied);
            }
        }
        (tasks.len(), Ok(()))
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

/// What came of enforcing a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Enforced {
    /// The game is no longer due.
    Done,
    /// It may still be: the next sweep sees.
    Left,
}
