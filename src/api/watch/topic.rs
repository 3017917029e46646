//! One watched game, followed by one task for all its watchers on this replica.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::api::convert;
use crate::api::error::{ApiError, Reason};
use crate::api::host::{Host, Sight, as_spectators_see};
use crate::api::proto::v1;
use crate::game::{Game, GameId, Version};

/// How long to wait before a store that was away is asked again.
const RETRY: Duration = Duration::from_millis(250);

/// The newest known state of a watched game, with the event that led to it, made once for all.
#[derive(Debug)]
pub(super) struct Latest {
    pub(super) game: Arc<Game>,
    event: OnceLock<Option<v1::GameEvent>>,
    /// The same for spectators, where they see less.
    spectators: OnceLock<Option<Result<Arc<Latest>, ApiError>>>,
}

impl Latest {
    fn new(game: Arc<Game>) -> Self {
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
pub(super) enum Known {
    /// Nothing yet: the game was not read since hints are sure to arrive.
    Nothing,
    /// Nothing yet, because the store is away. It is asked on.
    Away,
    Game(Arc<Latest>),
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
        let (sender, known) = watch::channel(Known::Nothing);
        let again = Arc::new(Notify::new());
        let task = tokio::spawn(follow(host, id.clone(), sender, Arc::clone(&again)));
        Arc::new(Self { id, known, again, task: task.abort_handle() })
    }

    pub(super) fn id(&self) -> &GameId {
        &self.id
    }

    /// Waits until every later change of the game is sure to be heard of, or the store is found
    /// away, so that a caller knows what it waits for.
    pub(super) async fn followed(&self) -> Result<(), ApiError> {
        let mut known = self.known.clone();
        let known = known.wait_for(|known| !matches!(known, Known::Nothing)).await;
        match known.as_deref() {
            Ok(Known::Ended(error)) => Err(ApiError::clone(error)),
            Ok(Known::Away) => Err(ApiError::store_away().about(&self.id)),
            Ok(_) => Ok(()),
            Err(_) => Err(ApiError::new(Reason::Internal, "a fault of the service")),
        }
    }

    pub(super) fn known(&self) -> watch::Receiver<Known> {
        self.known.clone()
    }

    /// Whether it is followed no more. Some watcher may still have to be told.
    pub(super) fn has_ended(&self) -> bool {
        matches!(&*self.known.borrow(), Known::Ended(_))
    }

    /// The version last read.
    pub(super) fn version(&self) -> Option<Version> {
        match &*self.known.borrow() {
            Known::Game(latest) => Some(latest.game.version()),
            Known::Nothing | Known::Away | Known::Ended(_) => None,
        }
    }

    /// Has the game read again, hint or no hint.
    pub(super) fn read_again(&self) {
        self.again.notify_one();
    }
}

impl Drop for Topic {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads the game whenever it may have changed.
async fn follow(host: Arc<Host>, id: GameId, sender: watch::Sender<Known>, again: Arc<Notify>) {
    let mut hints = loop {
        match host.store().subscribe(&id).await {
            Ok(hints) => break hints,
            Err(error) => {
                tracing::warn!(game = %id, %error, "cannot hear of a watched game's changes");
                store_is_away(&sender);
                sleep(RETRY).await;
            }
        }
    };
    loop {
        match host.read(&id).await {
            Ok(game) => {
                sender.send_if_modified(|known| {
                    let news = !matches!(known, Known::Game(latest)
                        if latest.game.version() == game.version());
                    if news {
                        *known = Known::Game(Arc::new(Latest::new(game)));
                    }
                    news
                });
            }
            Err(error) if error.reason() == Reason::StoreUnavailable => {
                store_is_away(&sender);
                sleep(RETRY).await;
                continue;
            }
            Err(error) => {
                sender.send_replace(Known::Ended(Arc::new(error)));
                return;
            }
        }
        tokio::select! {
            () = hints.changed() => {}
            () = again.notified() => {}
        }
    }
}

/// Says so to those who wait for the first reading; whoever watches already waits on.
fn store_is_away(sender: &watch::Sender<Known>) {
    sender.send_if_modified(|known| {
        let waiting = matches!(known, Known::Nothing);
        if waiting {
            *known = Known::Away;
        }
        waiting
    });
}
