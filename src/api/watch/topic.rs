//! One watched game, followed by one task for all its watchers on this replica.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{Sleep, sleep};

use super::present::present_seats;
use crate::api::convert;
use crate::api::error::{ApiError, Reason};
use crate::api::host::{Host, HostedGame, Sight, as_spectators_see};
use crate::api::proto::v1;
use crate::game::{Game, GameId, SeatSet, Version};
use crate::store::{Hint, Subscription};

/// How long to wait before a store that was away is asked again.
const RETRY: Duration = Duration::from_millis(250);

/// The newest known state of a watched game, with the event that led to it, made once for all.
#[derive(Debug)]
pub(super) struct Latest {
    pub(super) game: Arc<HostedGame>,
    event: OnceLock<Option<v1::GameEvent>>,
    /// The same for spectators, where they see less.
    spectators: OnceLock<Option<Result<Arc<Latest>, ApiError>>>,
}

impl Latest {
    pub(super) fn new(game: Arc<HostedGame>) -> Self {
        Self { game, event: OnceLock::new(), spectators: OnceLock::new() }
    }

    /// What somebody knows of the game who looks at it so.
    ///
    /// # Errors
    /// Where it is hidden.
    pub(super) fn seen(self: &Arc<Self>, sight: &Sight) -> Result<Arc<Self>, ApiError> {
        if sight.is_insider(&self.game)? {
            return Ok(Arc::clone(self));
        }
        let less = || match as_spectators_see(&self.game) {
            Ok(seen) if Arc::ptr_eq(&seen, &self.game) => None,
            seen => Some(seen.map(|game| Arc::new(Self::new(game)))),
        };
        self.spectators.get_or_init(less).clone().unwrap_or_else(|| Ok(Arc::clone(self)))
    }

    /// The event of the game's last revision.
    pub(super) fn event(&self) -> Option<v1::GameEvent> {
        self.event.get_or_init(|| convert::game::event(&self.game)).clone()
    }
}

/// What a topic knows.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) game: KnownGame,
    /// Who is present; `None` for as long as that could not be read.
    pub(super) present: Option<SeatSet>,
}

/// What a topic knows of the game.
#[derive(Clone, Debug)]
pub(super) enum KnownGame {
    /// Nothing yet: the game was not read since hints are sure to arrive.
    Nothing,
    /// Nothing yet, because the store is away. It is asked on.
    Away,
    Read(Arc<Latest>),
    /// The game cannot be watched, or not any more.
    Ended(Arc<ApiError>),
}

/// A game that somebody on this replica watches; followed until the last watcher drops it.
#[derive(Debug)]
pub(super) struct Topic {
    id: GameId,
    known: watch::Receiver<Known>,
    again: Arc<Notify>,
    task: AbortHandle,
}

impl Topic {
    pub(super) fn follow(host: Arc<Host>, id: GameId) -> Arc<Self> {
        let (sender, known) = watch::channel(Known { game: KnownGame::Nothing, present: None });
        let again = Arc::new(Notify::new());
        let follower = Follower { host, id: id.clone(), sender, again: Arc::clone(&again) };
        let task = tokio::spawn(follower.follow());
        Arc::new(Self { id, known, again, task: task.abort_handle() })
    }

    pub(super) fn id(&self) -> &GameId {
        &self.id
    }

    /// Waits until every later change of the game is sure to be heard of, or the store is found
    /// away, so that a caller knows what it waits for.
    pub(super) async fn followed(&self) -> Result<(), ApiError> {
        let mut known = self.known.clone();
        let known = known.wait_for(|known| !matches!(known.game, KnownGame::Nothing)).await;
        match known.as_deref().map(|known| &known.game) {
            Ok(KnownGame::Ended(error)) => Err(ApiError::clone(error)),
            Ok(KnownGame::Away) => Err(ApiError::store_away().about(&self.id)),
            Ok(_) => Ok(()),
            Err(_) => Err(ApiError::new(Reason::Internal, "a fault of the service")),
        }
    }

    pub(super) fn known(&self) -> watch::Receiver<Known> {
        self.known.clone()
    }

    /// Whether it is followed no more. Some watcher may still have to be told.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.known.borrow().game, KnownGame::Ended(_))
    }

    /// The version last read.
    pub(super) fn version(&self) -> Option<Version> {
        match &self.known.borrow().game {
            KnownGame::Read(latest) => Some(latest.game.version()),
            KnownGame::Nothing | KnownGame::Away | KnownGame::Ended(_) => None,
        }
    }

    /// Who was present when that was last read.
    pub(super) fn present(&self) -> Option<SeatSet> {
        self.known.borrow().present
    }

    /// Has all of it read again, hint or no hint.
    pub(super) fn read_again(&self) {
        self.again.notify_one();
    }
}

impl Drop for Topic {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The task of a topic.
struct Follower {
    host: Arc<Host>,
    id: GameId,
    sender: watch::Sender<Known>,
    again: Arc<Notify>,
}

impl Follower {
    /// Reads the game, and who is present at it, whenever that may have changed.
    async fn follow(self) {
        let mut hints = self.hints().await;
        let mut due = Hint::ALL;
        let mut alarm = None;
        loop {
            let game = if due.record {
                match self.read().await {
                    Ok(game) => {
                        self.note_lag(&game).await;
                        Some(game)
                    }
                    Err(error) if error.reason() == Reason::StoreUnavailable => {
                        self.store_is_away();
                        sleep(RETRY).await;
                        continue;
                    }
                    Err(error) => {
                        let ended = KnownGame::Ended(Arc::new(error));
                        self.sender.send_modify(|known| known.game = ended);
                        return;
                    }
                }
            } else {
                None
            };
            let present = if due.presence {
                let (present, ends) = self.present().await;
                alarm = ends.map(|ends| Box::pin(sleep(ends)));
                present
            } else {
                None
            };
            self.tell(game, present);
            due = tokio::select! {
                // What comes seldom first, so that many hints keep it not waiting.
                biased;
                () = rung(&mut alarm) => Hint::PRESENCE,
                () = self.again.notified() => Hint::ALL,
                hint = hints.changed() => hint,
            };
        }
    }

    /// Takes note of how late watchers learn of what is new.
    async fn note_lag(&self, game: &Game) {
        let is_new = match &self.sender.borrow().game {
            KnownGame::Read(latest) => latest.game.version() != game.version(),
            KnownGame::Nothing | KnownGame::Away | KnownGame::Ended(_) => false,
        };
        if is_new && let Ok(now) = self.host.now(&self.id).await {
            self.host.metrics().event_was_there(game.updated_at(), now);
        }
    }

    /// The game as it stands. That one is gone which was there is not believed of any server.
    async fn read(&self) -> Result<Arc<HostedGame>, ApiError> {
        let was_there = matches!(self.sender.borrow().game, KnownGame::Read(_));
        match self.host.read(&self.id).await {
            Err(error) if error.reason() == Reason::GameNotFound && was_there => {
                self.host.read_confirmed(&self.id).await
            }
            read => read,
        }
    }

    async fn hints(&self) -> Subscription {
        loop {
            match self.host.store().subscribe(&self.id).await {
                Ok(hints) => return hints,
                Err(error) => {
                    let game = &self.id;
                    tracing::warn!(%game, %error, "cannot hear of a watched game's changes");
                    self.store_is_away();
                    sleep(RETRY).await;
                }
            }
        }
    }

    /// Who is present, if the store says, and when that is to be read again: nobody is told when
    /// presence ends because a replica has died.
    async fn present(&self) -> (Option<SeatSet>, Option<Duration>) {
        match self.host.store().present(std::slice::from_ref(&self.id)).await {
            Ok(found) => {
                let slots = found.first().map(Vec::as_slice).unwrap_or_default();
                let ends = slots.iter().map(|present| present.remaining).min();
                (Some(present_seats(slots)), ends.map(|ends| Duration::from_millis(ends.0)))
            }
            Err(error) => {
                tracing::debug!(game = %self.id, %error, "cannot read who is present");
                (None, Some(RETRY))
            }
        }
    }

    /// Tells watchers what was read, if it is new.
    fn tell(&self, game: Option<Arc<HostedGame>>, present: Option<SeatSet>) {
        self.sender.send_if_modified(|known| {
            let old = match &known.game {
                KnownGame::Read(latest) => Some(latest.game.version()),
                _ => None,
            };
            let game = game.filter(|game| Some(game.version()) != old);
            let news = game.is_some() || (present.is_some() && present != known.present);
            if let Some(game) = game {
                known.game = KnownGame::Read(Arc::new(Latest::new(game)));
            }
            known.present = present.or(known.present);
            news
        });
    }

    /// Says so to those who wait for the first reading; whoever watches already waits on.
    fn store_is_away(&self) {
        self.sender.send_if_modified(|known| {
            let waiting = matches!(known.game, KnownGame::Nothing);
            if waiting {
                known.game = KnownGame::Away;
            }
            waiting
        });
    }
}

/// Waits until an alarm rings; for ever where there is none.
async fn rung(alarm: &mut Option<Pin<Box<Sleep>>>) {
    match alarm {
        Some(alarm) => alarm.await,
        None => std::future::pending().await,
    }
}
