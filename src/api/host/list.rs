//! Lists of games.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::try_join_all;

use super::{Host, HostedGame};
use crate::api::error::{ApiError, Reason};
use crate::game::{Game, GameState, Millis, PlayerId};
use crate::store::{Found, IndexEntry, Record, StoreError};

/// How many games one call looks at, at most.
const MOST: u32 = 500;

/// How many games are looked at together, where not all of them will be wanted.
const AT_ONCE: u32 = 100;

/// Which games to list.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Whose; `None` for everybody's.
    pub(crate) player: Option<PlayerId>,
    /// In which state; `None` for any.
    pub(crate) state: Option<GameState>,
    /// With which labels, all of them.
    pub(crate) labels: BTreeMap<String, String>,
}

impl Wanted {
    fn is_filtered(&self) -> bool {
        self.state.is_some() || !self.labels.is_empty()
    }

    fn matches(&self, game: &Game) -> bool {
        let labels = &game.stored().facts.labels;
        self.state.is_none_or(|state| state == game.state())
            && self.labels.iter().all(|(key, value)| labels.get(key) == Some(value))
    }

    /// Whether an entry of the list is about this game.
    fn lists(&self, entry: &IndexEntry, game: &Game) -> bool {
        let has_seat = |player| game.seats().any(|seat| game.player(seat) == Some(player));
        game.created_at() == entry.created && self.player.as_ref().is_none_or(has_seat)
    }
}

/// One page of a list.
#[derive(Debug)]
pub(crate) struct GamesPage {
    /// The games, newest first, with the times of their shards.
    pub(crate) games: Vec<(Arc<HostedGame>, Millis)>,
    /// The entry to go on after; `None` at the end.
    pub(crate) last: Option<IndexEntry>,
}

/// What an entry of a list leads to.
enum Entry {
    Game(Arc<HostedGame>, Millis),
    /// No such game any more, so that the entry can go.
    Gone,
    /// A game that nobody can read.
    Unreadable,
}

impl Host {
    /// Games, newest first, at most `size`, from the one after `last` on. Looks at some hundred
    /// at most, so there may be fewer, or none, before the end.
    ///
    /// # Errors
    /// Where the store is away, or a game can be read by other replicas only. One that nobody can read
    /// is left out.
    pub(crate) async fn list(
        &self,
        wanted: &Wanted,
        mut last: Option<IndexEntry>,
        size: u32,
    ) -> Result<GamesPage, ApiError> {
        let mut games = Vec::new();
        let mut gone = Vec::new();
        let mut looked_at = 0;
        let mut more = true;
        while more && games.len() < size as usize && looked_at < MOST {
            let lacking = size - games.len() as u32;
            let count = if wanted.is_filtered() { AT_ONCE } else { lacking }.min(MOST - looked_at);
            // One more tells whether there are more.
            let mut entries = self.entries(wanted, last.as_ref(), count + 1).await?;
            more = entries.len() > count as usize;
            entries.truncate(count as usize);
            looked_at += count;
            let seen = self.look_at(wanted, &entries).await?;
            let mut seen = entries.into_iter().zip(seen);
            for (entry, seen) in seen.by_ref() {
                match seen {
                    Entry::Game(game, now) if wanted.matches(&game) => games.push((game, now)),
                    Entry::Game(..) | Entry::Unreadable => {}
                    Entry::Gone => gone.push(entry.clone()),
                }
                last = Some(entry);
                if games.len() == size as usize {
                    break;
                }
            }
            more |= seen.next().is_some();
        }
        self.clear(wanted, &gone).await;
        Ok(GamesPage { games, last: last.filter(|_| more) })
    }

    async fn entries(
        &self,
        wanted: &Wanted,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        match &wanted.player {
            Some(player) => self.store.index_page(player.as_str(), before, limit).await,
            None => self.store.listing_page(before, limit).await,
        }
    }

    async fn look_at(
        &self,
        wanted: &Wanted,
        entries: &[IndexEntry],
    ) -> Result<Vec<Entry>, ApiError> {
        let ids: Vec<_> = entries.iter().map(|entry| entry.game.clone()).collect();
        let found = self.store.load_many(&ids).await?;
        let seen = entries.iter().zip(found).map(|(entry, found)| self.see(wanted, entry, found));
        try_join_all(seen).await
    }

    async fn see(
        &self,
        wanted: &Wanted,
        entry: &IndexEntry,
        found: Found<Record>,
    ) -> Result<Entry, ApiError> {
        let record = match found {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(Entry::Gone),
            Err(error) => {
                tracing::error!(game = %entry.game, %error, "a game is left out of a list");
                return Ok(Entry::Unreadable);
            }
        };
        let Some(game) = self.revive_if_anybody_can(&entry.game, &record)? else {
            return Ok(Entry::Unreadable);
        };
        if !wanted.lists(entry, &game) {
            return Ok(Entry::Gone);
        }
        let now = self.now(&entry.game).await?;
        match self.enforce(game, now).await {
            Ok(game) => Ok(Entry::Game(game, now)),
            Err(error) if error.reason() == Reason::GameNotFound => Ok(Entry::Gone),
            Err(error) => Err(error),
        }
    }

    /// Clears entries whose games are gone. Whoever comes across those that fail tries again.
    async fn clear(&self, wanted: &Wanted, gone: &[IndexEntry]) {
        let cleared = gone.iter().map(|entry| async move {
            match &wanted.player {
                Some(player) => self.store.index_remove(player.as_str(), entry).await,
                None => self.store.listing_remove(entry).await,
            }
        });
        if let Err(error) = try_join_all(cleared).await {
            tracing::warn!(%error, "entries of games that are gone stay in a list");
        }
    }
}
