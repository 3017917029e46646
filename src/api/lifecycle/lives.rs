//! One reader of the feeds.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use futures_util::stream::{self, StreamExt as _};
use tokio::time::{Instant, sleep};

use super::cursor::Cursor;
use crate::api::convert::game::{self, View};
use crate::api::error::ApiError;
use crate::api::host::{Host, HostedGame};
use crate::api::proto::v1;
use crate::api::proto::v1::stream_lifecycle_response::{KeepAlive, Message};
use crate::game::{GameId, Milestone, Millis};
use crate::store::codec::Lifecycle;
use crate::store::{EntryId, Shard, SystemTimeSource, TimeSource as _, by_place};

/// How long to wait after everything was read.
const PAUSE: Duration = Duration::from_millis(500);

/// How often a stream with no news says that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How many shards are read at the same time, and how many entries of each at once.
const SHARDS_AT_ONCE: usize = 32;
const ENTRIES_AT_ONCE: u32 = 100;

/// How many games are read at once.
const GAMES_AT_ONCE: usize = 50;

/// How many messages of a reader of all shards come without a cursor at most, since that is long.
const LONGEST_GAP: u32 = 64;

/// What was found, by the place of its shard in the list; and the game of it, if there is one, with
/// the time of its shard.
type Found = (usize, EntryId, Lifecycle);
type Read = (Found, Option<(Arc<HostedGame>, Millis)>);

/// A reader of the feeds of one shard or of all.
#[derive(Debug)]
pub(in crate::api) struct Lives {
    host: Arc<Host>,
    kinds: BTreeSet<Milestone>,
    shards: Vec<Shard>,
    /// Up to where each shard was read.
    read: Vec<EntryId>,
    /// Whether the store did not answer for some shards when they were read last.
    behind: bool,
    /// Up to where each shard was told.
    told: Cursor,
    /// What was read and is to be told.
    found: VecDeque<Found>,
    ready: VecDeque<v1::StreamLifecycleResponse>,
    told_at: Instant,
    /// After how many messages the next cursor is told, and how many of them have come.
    gap: u32,
    without_cursor: u32,
}

impl Lives {
    /// A reader that goes on after a cursor.
    ///
    /// # Errors
    /// Where what follows the cursor is not kept any more.
    pub(in crate::api) fn after(
        host: Arc<Host>,
        cursor: Cursor,
        kinds: BTreeSet<Milestone>,
    ) -> Result<Self, ApiError> {
        cursor.check_kept(SystemTimeSource.now())?;
        Ok(Self {
            shards: cursor.shards(host.store().shards()),
            host,
            kinds,
            read: cursor.places.clone(),
            behind: false,
            told: cursor,
            found: VecDeque::new(),
            ready: VecDeque::new(),
            told_at: Instant::now(),
            gap: 1,
            without_cursor: 0,
        })
    }

    /// The next message, as soon as there is one.
    ///
    /// # Errors
    /// Where the store is away.
    pub(in crate::api) async fn next(&mut self) -> Result<v1::StreamLifecycleResponse, ApiError> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                self.told_at = Instant::now();
                return Ok(message);
            }
            if !self.found.is_empty() {
                self.make_ready().await?;
                continue;
            }
            // Entries of other kinds are done with as well.
            self.told.places.clone_from(&self.read);
            if self.told_at.elapsed() >= KEEP_ALIVE {
                self.told_at = Instant::now();
                return Ok(v1::StreamLifecycleResponse {
                    cursor: self.told.to_text(),
                    message: Some(Message::KeepAlive(KeepAlive {})),
                });
            }
            if !self.read_on().await? {
                sleep(PAUSE).await;
            }
        }
    }

    /// Reads what the shards have beyond. Whether there was anything. Where one server of several is
    /// away, its shards are read when it is back.
    async fn read_on(&mut self) -> Result<bool, ApiError> {
        let begun = SystemTimeSource.now();
        let store = self.host.store();
        let places: Vec<_> = self.shards.iter().copied().zip(self.read.iter().copied()).collect();
        let read = stream::iter(places.into_iter().enumerate())
            .map(|(index, (shard, place))| async move {
                (index, store.feed(shard, place, ENTRIES_AT_ONCE).await)
            })
            .buffer_unordered(SHARDS_AT_ONCE);
        let read: Vec<_> = read.collect().await;
        let all_away = read.iter().all(|(_, entries)| entries.is_err());
        let was_behind = std::mem::replace(&mut self.behind, false);
        let mut any = false;
        for (index, entries) in read {
            let entries = match entries {
                Ok(entries) => entries,
                Err(error) if all_away || !error.is_transient() => return Err(error.into()),
                Err(error) => {
                    if !std::mem::replace(&mut self.behind, true) && !was_behind {
                        tracing::warn!(%error, "some shards are not read");
                    }
                    continue;
                }
            };
            for entry in entries {
                any = true;
                self.read[index] = entry.id;
                match Lifecycle::from_bytes(&entry.content) {
                    Ok(life) if self.kinds.is_empty() || self.kinds.contains(&life.milestone) => {
                        self.found.push_back((index, entry.id, life));
                    }
                    Ok(_) => {}
                    Err(error) => {
                        let shard = self.shards[index];
                        tracing::error!(%shard, entry = %entry.id, %error, "passed over");
                    }
                }
            }
        }
        self.found.make_contiguous().sort_by_key(|(_, id, _)| *id);
        if !any && !self.behind {
            self.told.unread_since = begun;
        }
        Ok(any)
    }

    /// Reads the next games that something was found of.
    async fn make_ready(&mut self) -> Result<(), ApiError> {
        let count = self.found.len().min(GAMES_AT_ONCE);
        let found: Vec<_> = self.found.drain(..count).collect();
        let read = self.read_games(found).await?;
        let count = read.len();
        for (place, ((index, id, life), game)) in (1..).zip(read) {
            let game = game.map(|(game, now)| game::game(&game, View::Basic, Some(now)));
            let event = v1::LifecycleEvent {
                kind: v1::LifecycleKind::from(life.milestone).into(),
                game_id: life.game.to_string(),
                revision: life.revision.0,
                game,
            };
            self.told.places[index] = id;
            if !self.behind {
                self.told.unread_since = Millis(id.millis);
            }
            let is_last_known = place == count && self.found.is_empty();
            let cursor = self.cursor_if_due(is_last_known);
            let message = Some(Message::Event(event));
            self.ready.push_back(v1::StreamLifecycleResponse { cursor, message });
        }
        Ok(())
    }

    /// Reads the games of what was found, in the same order. Shards whose server is away by now are
    /// put off: what was found in them is read again when it is back.
    async fn read_games(&mut self, found: Vec<Found>) -> Result<Vec<Read>, ApiError> {
        let host = Arc::clone(&self.host);
        let store = host.store();
        let sorted = by_place(&**store, found, |(index, ..)| self.shards[*index]);
        let read = sorted.into_values().map(async |found: Vec<Found>| {
            let ids: Vec<GameId> = found.iter().map(|(_, _, life)| life.game.clone()).collect();
            let games = async {
                let games = host.read_those_there(&ids).await?;
                let timed = games.into_iter().map(async |game| match game {
                    Some(game) => Ok(Some((Arc::clone(&game), host.now(game.id()).await?))),
                    None => Ok(None),
                });
                try_join_all(timed).await
            };
            let games: Result<Vec<_>, ApiError> = games.await;
            (found, games)
        });
        let read = join_all(read).await;
        let all_away = read.iter().all(|(_, games)| games.is_err());
        let mut there = Vec::new();
        for (found, games) in read {
            match games {
                Ok(games) => there.extend(found.into_iter().zip(games)),
                Err(error) if all_away => return Err(error),
                Err(_) => {
                    self.behind = true;
                    for (index, ..) in found {
                        self.read[index] = self.told.places[index];
                        self.found.retain(|(other, ..)| *other != index);
                    }
                }
            }
        }
        there.sort_by_key(|((_, id, _), _)| *id);
        Ok(there)
    }

    /// The cursor after the next message, or an empty text. The first ones come soon, so that also
    /// a reader whose connections break again and again gets on; and so does that after which
    /// nothing more is known, since that may be the last message of the stream.
    fn cursor_if_due(&mut self, is_last_known: bool) -> String {
        self.without_cursor += 1;
        if self.without_cursor < self.gap && !is_last_known {
            return String::new();
        }
        self.without_cursor = 0;
        if self.shards.len() > 1 {
            self.gap = (2 * self.gap).min(LONGEST_GAP);
        }
        self.told.to_text()
    }
}

impl From<Milestone> for v1::LifecycleKind {
    fn from(milestone: Milestone) -> Self {
        match milestone {
            Milestone::Created => Self::Created,
            Milestone::Started => Self::Started,
            Milestone::Ended => Self::Ended,
        }
    }
}
