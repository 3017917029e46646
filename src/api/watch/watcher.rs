//! One watcher: what it has been told, and what to tell it next.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::pace::WatchPace;
use super::present;
use super::topic::{Known, KnownGame, Latest, Topic};
use crate::api::convert::{self, game::View};
use crate::api::error::{ApiError, Reason};
use crate::api::host::{Attending, Host, HostedGame, Sight, Watching};
use crate::api::proto::v1;
use crate::api::proto::v1::watch_game_response::{KeepAlive, Message, Snapshot};
use crate::game::{Etag, Game, GameState, Millis, SeatSet, Version};

/// One watcher of a game. It holds nothing but where it stands: what it has not been told yet is
/// read from the game's log when it asks, so a slow reader costs no memory.
#[derive(Debug)]
pub(in crate::api) struct Watcher {
    host: Arc<Host>,
    pace: WatchPace,
    sight: Sight,
    known: watch::Receiver<Known>,
    /// Kept so that the game is followed.
    topic: Arc<Topic>,
    /// The game as it was read for the first message.
    first: Option<Arc<HostedGame>>,
    /// The state that the reader is told to be in; `None` before a first snapshot.
    told: Option<Version>,
    /// Whether that is a state of the game: the etag that a reader came with may not be one, or lie
    /// ahead of what he may be told.
    told_is_known: bool,
    /// Who the reader was told is present; `None` before he was told.
    told_present: Option<SeatSet>,
    /// The seat that is present because this watcher is.
    attending: Option<Box<Attending>>,
    quiet_since: Instant,
    _counted: Watching,
}

impl Watcher {
    /// A watcher that has been told everything up to `after`.
    pub(super) fn new(
        host: Arc<Host>,
        pace: WatchPace,
        topic: Arc<Topic>,
        sight: Sight,
        game: Arc<HostedGame>,
        after: Option<Etag>,
    ) -> Self {
        let counted = host.metrics().watching();
        Self {
            host,
            pace,
            sight,
            known: topic.known(),
            topic,
            first: Some(game),
            told: after.map(|Etag(version)| version),
            told_is_known: false,
            told_present: None,
            attending: None,
            quiet_since: Instant::now(),
            _counted: counted,
        }
    }

    /// The same, whose seat, if it has one, is present for as long as it watches.
    ///
    /// # Errors
    /// Where the operating system has no randomness to give.
    pub(in crate::api) fn attending(mut self) -> Result<Self, ApiError> {
        let seat = self.first.as_deref().map(|game| self.sight.seat(game)).transpose()?.flatten();
        let attend = |seat| self.host.attend(self.topic.id(), seat).map(Box::new);
        self.attending = seat.map(attend).transpose()?;
        Ok(self)
    }

    /// The next message, as soon as there is one; `None` a while after the end of the game.
    ///
    /// # Errors
    /// Where the game cannot be watched any more, or not by this watcher.
    pub(in crate::api) async fn next(&mut self) -> Result<Option<Message>, ApiError> {
        let message = self.await_message().await?;
        // Comings and goings do not hold up the end of a stream whose game is over.
        if !matches!(message, Some(Message::Presence(_))) {
            self.quiet_since = Instant::now();
        }
        Ok(message)
    }

    /// The game as it stands for this reader, if nothing was told since.
    ///
    /// # Errors
    /// Where it cannot be read any more.
    pub(in crate::api) async fn game(&self) -> Result<v1::Game, ApiError> {
        let known = self.known.borrow().game.clone();
        let game = match &known {
            KnownGame::Read(latest) => {
                let (_, seen) = self.look_at(latest).await?;
                Arc::clone(&seen.game)
            }
            KnownGame::Ended(error) => return Err(ApiError::clone(error)),
            KnownGame::Nothing | KnownGame::Away => return Err(ApiError::fault()),
        };
        let told = self.told.map(|version| version.revision);
        // It may be an older reading than the one that was told, and nobody goes back.
        let game = match told {
            Some(told) if self.told_is_known && game.version().revision < told => {
                self.sight.shown(&self.host.read(game.id()).await?)?
            }
            _ => game,
        };
        // What this reader was told comes before anything newer.
        let then = told.and_then(|revision| game.as_at(revision)).map(HostedGame::new);
        Ok(convert::game::game(&then.unwrap_or(game), View::Basic, None))
    }

    /// The time of the game's shard.
    ///
    /// # Errors
    /// Where the store is away.
    pub(in crate::api) async fn now(&self) -> Result<Millis, ApiError> {
        self.host.now(self.topic.id()).await
    }

    async fn await_message(&mut self) -> Result<Option<Message>, ApiError> {
        if let Some(game) = self.first.take() {
            let seen = self.sight.shown(&game)?;
            let news = self.news(&game, &seen).await?;
            return Ok(Some(match news {
                Some(message) => message,
                None => self.keep_alive(&seen).await?,
            }));
        }
        loop {
            let known = self.known.borrow_and_update().clone();
            let (game, seen) = match &known.game {
                KnownGame::Read(latest) => {
                    let (latest, seen) = self.look_at(latest).await?;
                    if let Some(message) = self.presence(&seen.game, known.present) {
                        return Ok(Some(message));
                    }
                    if let Some(message) = self.event_of(&seen) {
                        return Ok(Some(message));
                    }
                    (Arc::clone(&latest.game), Arc::clone(&seen.game))
                }
                KnownGame::Ended(error) => return Err(ApiError::clone(error)),
                KnownGame::Nothing | KnownGame::Away => {
                    return Err(ApiError::new(Reason::Internal, "not followed"));
                }
            };
            if let Some(message) = self.news(&game, &seen).await? {
                return Ok(Some(message));
            }
            let over = seen.state() == GameState::Finished;
            let wait = if over { self.pace.linger } else { self.pace.keep_alive };
            tokio::select! {
                // News rather than word that there is none.
                biased;
                changed = self.known.changed() => changed.map_err(|_| ApiError::fault())?,
                () = sleep_until(self.quiet_since + wait) => {
                    return if over { Ok(None) } else { Ok(Some(self.keep_alive(&seen).await?)) };
                }
            }
        }
    }

    /// What the topic has read, and what this watcher sees of it. Where it sees nothing of that, it may
    /// just be an old reading, in which its seat is not taken yet or has another token: only the store can
    /// be sure.
    async fn look_at(&self, latest: &Arc<Latest>) -> Result<(Arc<Latest>, Arc<Latest>), ApiError> {
        if let Ok(seen) = latest.seen(&self.sight) {
            return Ok((Arc::clone(latest), seen));
        }
        let game = self.host.read_confirmed(latest.game.id()).await?;
        let latest = Arc::new(Latest::new(game));
        let seen = latest.seen(&self.sight)?;
        Ok((latest, seen))
    }

    /// Who is present, where that is not what was told last.
    fn presence(&mut self, game: &Game, known: Option<SeatSet>) -> Option<Message> {
        // While this stream stands its seat is present, whether or not the store knows yet.
        let own = self.attending.as_ref().map(|attending| attending.seat());
        let present: SeatSet = known?.iter().chain(own).collect();
        if self.told_present == Some(present) {
            return None;
        }
        self.told_present = Some(present);
        Some(Message::Presence(present::message(present, game.rules().seats())))
    }

    /// The event that everybody is told who sees as much and knows the revision before it.
    fn event_of(&mut self, latest: &Latest) -> Option<Message> {
        let told = self.told?;
        let version = latest.game.version();
        let follows = told.revision.next() == version.revision
            && latest.game.version_at(told.revision) == Some(told);
        let event = if follows { latest.event() } else { None };
        event.map(|event| {
            self.tell(version);
            Message::Event(event)
        })
    }

    fn tell(&mut self, version: Version) {
        self.told = Some(version);
        self.told_is_known = true;
    }

    /// What a state of the game, of which this watcher may be told `seen`, has to tell beyond what
    /// was told, if anything.
    async fn news(
        &mut self,
        game: &Arc<HostedGame>,
        seen: &Arc<HostedGame>,
    ) -> Result<Option<Message>, ApiError> {
        let Some(told) = self.told else { return self.snapshot(seen, false).await.map(Some) };
        if told.revision > seen.version().revision && self.sight.sees_late(game)? {
            return Ok(None);
        }
        // Who once saw more than now has lost no history.
        if game.version_at(told.revision) == Some(told) {
            return self.event_after(seen, told);
        }
        // It may just be an old reading of the game, or one of a server that was replaced: only the
        // store can be sure.
        let game = self.host.read_confirmed(game.id()).await?;
        let seen = self.sight.shown(&game)?;
        if game.version_at(told.revision) == Some(told) {
            self.event_after(&seen, told)
        } else {
            self.snapshot(&seen, true).await.map(Some)
        }
    }

    fn event_after(&mut self, game: &Game, told: Version) -> Result<Option<Message>, ApiError> {
        self.told_is_known = true;
        let Some(version) = game.version_at(told.revision.next()) else { return Ok(None) };
        let event = game.as_at(version.revision).as_ref().and_then(convert::game::event);
        let event = event.ok_or_else(|| {
            ApiError::new(Reason::RecordBroken, "the stored record of this game is broken")
        })?;
        self.tell(version);
        Ok(Some(Message::Event(event)))
    }

    async fn snapshot(&mut self, game: &Game, history_lost: bool) -> Result<Message, ApiError> {
        let now = self.host.now(game.id()).await?;
        if history_lost {
            self.host.metrics().told_of_a_loss();
        }
        self.tell(game.version());
        let game = Some(convert::game::game(game, View::Basic, Some(now)));
        Ok(Message::Snapshot(Snapshot { game, history_lost }))
    }

    async fn keep_alive(&self, game: &Game) -> Result<Message, ApiError> {
        let now = self.host.now(game.id()).await?;
        // `game` may be an older reading than the one that was told.
        let told = self.told.filter(|_| self.told_is_known);
        Ok(Message::KeepAlive(KeepAlive {
            etag: Etag(told.unwrap_or(game.version())).to_string(),
            server_time: Some(convert::game::time(now.max(game.updated_at()))),
        }))
    }
}
