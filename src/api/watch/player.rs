//! All games of one player, followed on one stream.

use std::collections::{HashMap, HashSet, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

use super::Watches;
use super::topic::{Known, KnownGame, Topic};
use crate::api::convert::game::{self, View};
use crate::api::error::ApiError;
use crate::api::proto::v1;
use crate::api::proto::v1::watch_player_response::{KeepAlive, Message};
use crate::game::{Event, Game, GameId, GameState, Millis, Offer, PlayerId, Span, Version};
use crate::rules::Seat;
use crate::store::{SystemTimeSource, TimeSource as _};

/// How often a player's newest games are looked through for new ones.
const LOOK: Duration = Duration::from_secs(1);

/// After how many looks all games are looked through: a player may join a game that is older than
/// many others.
const LOOKS_A_ROUND: u32 = 60;

/// How many games are looked through at once, and in all.
const PAGE: u32 = 100;
const MOST: usize = 10_000;

/// How far the clocks of replicas may be apart.
const CLOCKS_APART: Span = Span(60_000);

type Change = Pin<Box<dyn Future<Output = (GameId, watch::Receiver<Known>)> + Send>>;

/// Follows the games of a player until each is over.
pub(in crate::api) struct PlayerWatcher {
    watches: Arc<Watches>,
    player: PlayerId,
    /// The games that are followed.
    followed: HashMap<GameId, Followed>,
    /// The games that are done with.
    over: HashSet<GameId>,
    changes: FuturesUnordered<Change>,
    /// What is to be told, and when that was found.
    ready: VecDeque<(Millis, v1::PlayerEvent)>,
    looks: tokio::time::Interval,
    look: u32,
    quiet_since: Instant,
}

impl PlayerWatcher {
    /// Begins with all games that are not over, and with what has happened since the cursor.
    ///
    /// # Errors
    /// Where the store is away.
    pub(super) async fn new(
        watches: Arc<Watches>,
        player: PlayerId,
        after: Option<Millis>,
    ) -> Result<Self, ApiError> {
        let mut looks = interval_at(Instant::now() + LOOK, LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut watcher = Self {
            watches,
            player,
            followed: HashMap::new(),
            over: HashSet::new(),
            changes: FuturesUnordered::new(),
            ready: VecDeque::new(),
            looks,
            look: 0,
            quiet_since: Instant::now(),
        };
        let away = after.map(|after| SystemTimeSource.now().since(after) + CLOCKS_APART);
        watcher.look_through(MOST, Since::Begun(away)).await?;
        Ok(watcher)
    }

    /// The next message, as soon as there is one.
    ///
    /// # Errors
    /// Where the store is away.
    pub(in crate::api) async fn next(&mut self) -> Result<v1::WatchPlayerResponse, ApiError> {
        loop {
            if let Some((_, mut event)) = self.ready.pop_front() {
                if let Some(game) = &mut event.game {
                    let id = game.game_id.parse().map_err(|_| ApiError::fault())?;
                    let now = self.watches.host.now(&id).await?;
                    game::set_server_time(game, now);
                }
                return Ok(self.message(Message::Event(event)));
            }
            let keep_alive = self.quiet_since + self.watches.pace.keep_alive;
            tokio::select! {
                Some((id, known)) = self.changes.next() => self.changed(id, known),
                _ = self.looks.tick() => {
                    self.look = (self.look + 1) % LOOKS_A_ROUND;
                    let most = if self.look == 0 { MOST } else { PAGE as usize };
                    self.look_through(most, Since::Looking).await?;
                }
                () = sleep_until(keep_alive) => {
                    return Ok(self.message(Message::KeepAlive(KeepAlive {})));
                }
            }
        }
    }

    fn message(&mut self, message: Message) -> v1::WatchPlayerResponse {
        self.quiet_since = Instant::now();
        // A slow reader goes on with what was found first of what he has not been told.
        let Millis(cursor) = match self.ready.front() {
            Some((found, _)) => *found,
            None => SystemTimeSource.now(),
        };
        v1::WatchPlayerResponse { cursor: cursor.to_string(), message: Some(message) }
    }

    /// Looks for games that are not known yet among the player's newest.
    async fn look_through(&mut self, most: usize, since: Since) -> Result<(), ApiError> {
        let store = Arc::clone(self.watches.host.store());
        let mut before = None;
        let mut looked = 0;
        while looked < most {
            let page = store.index_page(self.player.as_str(), before.as_ref(), PAGE).await?;
            looked += page.len();
            let full = page.len() == PAGE as usize;
            let is_new = |id: &GameId| !self.followed.contains_key(id) && !self.over.contains(id);
            let ids: Vec<GameId> =
                page.iter().map(|entry| entry.game.clone()).filter(is_new).collect();
            before = page.into_iter().last();
            for game in self.watches.host.read_those_there(&ids).await?.into_iter().flatten() {
                self.found(&game, since).await?;
            }
            if !full {
                break;
            }
        }
        Ok(())
    }

    /// A game that was not known yet.
    async fn found(&mut self, game: &Game, since: Since) -> Result<(), ApiError> {
        let Some(seat) = self.seats(game).next() else { return Ok(()) };
        let now = self.watches.host.now(game.id()).await?;
        // A shard's time never goes faster than any clock: what is older than this was told.
        let told_before = |at: Millis, away: Span| at + away < now;
        let (is_news, end_is_news) = match since {
            Since::Looking => (true, true),
            Since::Begun(None) => (true, false),
            Since::Begun(Some(away)) => (
                !told_before(self.had_since(game, seat), away),
                game.ended_at().is_some_and(|at| !told_before(at, away)),
            ),
        };
        if game.state() == GameState::Finished {
            self.over.insert(game.id().clone());
            if end_is_news {
                self.tell(v1::PlayerEventKind::Ended, seat, game);
            }
            return Ok(());
        }
        if is_news {
            self.tell(v1::PlayerEventKind::Game, seat, game);
        }
        let topic = self.watches.topic(game.id());
        let known = topic.known();
        self.followed.insert(game.id().clone(), Followed { _topic: topic, seen: None });
        self.changed_from_nothing(game.id().clone(), known);
        Ok(())
    }

    /// Since when the player has had the game.
    fn had_since(&self, game: &Game, seat: Seat) -> Millis {
        let joined = game.stored().log.entries().find(
            |entry| matches!(entry.event, Event::Joined { seat: joined, .. } if joined == seat),
        );
        joined.map_or(game.created_at(), |entry| entry.at)
    }

    /// Tells what a game that was just found holds, once its topic has read it.
    fn changed_from_nothing(&mut self, id: GameId, mut known: watch::Receiver<Known>) {
        self.changes.push(Box::pin(async move {
            let read = |known: &Known| !matches!(known.game, KnownGame::Nothing | KnownGame::Away);
            // A topic that is gone is seen to be when its game is asked for.
            let _ = known.wait_for(read).await;
            (id, known)
        }));
    }

    /// A game has changed: tells what is in it for the player, and waits for the next change.
    fn changed(&mut self, id: GameId, mut known: watch::Receiver<Known>) {
        let latest = match &known.borrow_and_update().game {
            KnownGame::Read(latest) => Some(Arc::clone(&latest.game)),
            KnownGame::Nothing | KnownGame::Away => None,
            KnownGame::Ended(_) => {
                self.followed.remove(&id);
                return;
            }
        };
        if let Some(game) = latest {
            if game.state() == GameState::Finished {
                let seat = self.seats(&game).next();
                if let Some(seat) = seat {
                    self.tell(v1::PlayerEventKind::Ended, seat, &game);
                }
                self.followed.remove(&id);
                self.over.insert(id);
                return;
            }
            let seen = self.followed.get_mut(&id).map(|followed| &mut followed.seen);
            if seen.is_some_and(|seen| seen.replace(game.version()) != Some(game.version())) {
                self.tell_what_is_to_do(&game);
            }
        }
        self.changes.push(Box::pin(async move {
            let _ = known.changed().await;
            (id, known)
        }));
    }

    fn tell_what_is_to_do(&mut self, game: &Game) {
        let unanswered = |offer: Offer, seat: Seat| {
            offer.by != seat && !offer.accepted.contains(seat) && !game.position().is_out(seat)
        };
        let offers: Vec<Offer> = [game.draw_offer(), game.takeback_request().map(|t| t.offer)]
            .into_iter()
            .flatten()
            .collect();
        let seats: Vec<Seat> = self.seats(game).collect();
        let to_answer =
            seats.iter().find(|seat| offers.iter().any(|offer| unanswered(*offer, **seat)));
        if let Some(&seat) = to_answer {
            self.tell(v1::PlayerEventKind::Offer, seat, game);
        }
        // Who goes on with a chain knows it from the answer to the action before.
        let to_move = game.position().to_move();
        let deed = game.last_deed();
        let acted_itself = deed.played.is_some() && deed.by == Some(to_move);
        if game.state() == GameState::Active && seats.contains(&to_move) && !acted_itself {
            self.tell(v1::PlayerEventKind::YourTurn, to_move, game);
        }
    }

    /// The player's seats in a game.
    fn seats<'a>(&'a self, game: &'a Game) -> impl Iterator<Item = Seat> + 'a {
        game.seats().filter(|seat| game.player(*seat) == Some(&self.player))
    }

    fn tell(&mut self, kind: v1::PlayerEventKind, seat: Seat, game: &Game) {
        let event = v1::PlayerEvent {
            kind: kind.into(),
            seat: seat.number().into(),
            game: Some(game::game(game, View::Basic, None)),
        };
        self.ready.push_back((SystemTimeSource.now(), event));
    }
}

/// A game that is followed.
struct Followed {
    /// Kept so that it is.
    _topic: Arc<Topic>,
    /// The version that was looked at last: a topic also tells who is present.
    seen: Option<Version>,
}

/// What of a game that is found is news.
#[derive(Clone, Copy, Debug)]
enum Since {
    /// All of it.
    Looking,
    /// What has happened for so long, or, where the reader begins, what is not over.
    Begun(Option<Span>),
}
