//! Watchers that lose their streams and go on over another replica, and what they must have seen.

use std::cell::RefCell;
use std::fmt;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_game_response::{Message, Snapshot};
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use tokio::time::{Instant, sleep, timeout_at};
use tonic::Status;
use tonic_types::StatusExt as _;

use crate::call::Games;
use crate::history::History;
use crate::losses::Loss;
use crate::table::Table;

/// How long a watcher may take to see the end of what happened once nothing goes wrong any more:
/// streams that missed a hint are up to date with the next comparison.
const CATCH_UP: Duration = Duration::from_secs(10);

/// What a watcher was told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    /// It began, after this etag, over this replica.
    Began {
        after: String,
        replica: usize,
    },
    Snapshot {
        etag: String,
        history_lost: bool,
    },
    Event {
        entry: v1::LogEntry,
        etag: String,
    },
    KeepAlive {
        etag: String,
    },
}

/// What the watchers of a game share.
#[derive(Debug, Default)]
pub(crate) struct Gallery {
    /// The replicas that somebody watches at. One each, since two streams of one game at one
    /// replica are woken in an order that no seed decides.
    taken: RefCell<Vec<usize>>,
    /// Where the game stands once all is over.
    end: RefCell<Option<(String, Instant)>>,
}

impl Gallery {
    /// From now on watchers have only so long to see the last revision.
    pub(crate) fn close(&self, history: &History) {
        let etag = history.log.last().map(|entry| entry.etag.clone()).unwrap_or_default();
        *self.end.borrow_mut() = Some((etag, Instant::now() + CATCH_UP));
    }

    fn take(&self, random: &mut Xoshiro256PlusPlus, replicas: usize) -> usize {
        let mut taken = self.taken.borrow_mut();
        let free: Vec<usize> = (0..replicas).filter(|replica| !taken.contains(replica)).collect();
        let chosen = free[random.random_range(0..free.len())];
        taken.push(chosen);
        chosen
    }

    fn give_back(&self, replica: usize) {
        self.taken.borrow_mut().retain(|taken| *taken != replica);
    }
}

/// A watcher of a game.
pub(crate) struct Watcher<'a> {
    pub(crate) table: &'a Table,
    pub(crate) gallery: &'a Gallery,
    pub(crate) replicas: &'a [Games],
    pub(crate) random: Xoshiro256PlusPlus,
    pub(crate) seen: Vec<Seen>,
}

impl Watcher<'_> {
    /// Watches until it has seen the last revision, over one stream after the other.
    pub(crate) async fn watch(mut self) -> Result<Vec<Seen>, String> {
        loop {
            let replica = self.gallery.take(&mut self.random, self.replicas.len());
            let watched = self.watch_once(replica).await;
            self.gallery.give_back(replica);
            let end = self.gallery.end.borrow().clone();
            match end {
                Some((last, _)) if self.told() == Some(&last) => return Ok(self.seen),
                Some((last, until)) if until <= Instant::now() => {
                    let told = self.told();
                    return Err(format!("a watcher never saw {last}, only {told:?}:\n{self}"));
                }
                _ => {}
            }
            if let Err(status) = watched {
                let details = status.get_error_details();
                let reason = details.error_info().map_or("", |info| info.reason.as_str());
                let is_new = self.told().is_none();
                if !(reason == "STORE_UNAVAILABLE" || reason == "GAME_NOT_FOUND" && is_new) {
                    return Err(format!("a watcher was told {status:?}:\n{self}"));
                }
            }
            sleep(Duration::from_millis(self.random.random_range(1..50))).await;
        }
    }

    /// Where the watcher believes the game to stand.
    fn told(&self) -> Option<&String> {
        self.seen.iter().rev().find_map(|seen| match seen {
            Seen::Snapshot { etag, .. } | Seen::Event { etag, .. } => Some(etag),
            Seen::Began { .. } | Seen::KeepAlive { .. } => None,
        })
    }

    async fn watch_once(&mut self, replica: usize) -> Result<(), Status> {
        let game_id = self.table.known().game_id.clone();
        if game_id.is_empty() {
            return Ok(());
        }
        let after_etag = self.told().cloned().unwrap_or_default();
        let request =
            v1::WatchGameRequest { game_id, after_etag: after_etag.clone(), ..Default::default() };
        let mut client = self.replicas[replica].clone();
        let mut until = Instant::now() + Duration::from_millis(self.random.random_range(10..1_500));
        let Ok(opened) = timeout_at(until, client.watch_game(request)).await else { return Ok(()) };
        let mut messages = opened?.into_inner();
        self.seen.push(Seen::Began { after: after_etag, replica });
        loop {
            if let Some((last, end)) = &*self.gallery.end.borrow() {
                // Nobody leaves any more before he has seen all.
                until = *end;
                if self.told() == Some(last) {
                    return Ok(());
                }
            }
            let Ok(message) = timeout_at(until, messages.message()).await else {
                if self.gallery.end.borrow().as_ref().is_some_and(|(_, end)| *end != until) {
                    continue;
                }
                return Ok(());
            };
            let Some(message) = message?.and_then(|response| response.message) else {
                return Ok(());
            };
            self.note(message);
        }
    }

    fn note(&mut self, message: Message) {
        let seen = match message {
            Message::Snapshot(Snapshot { game, history_lost }) => {
                let etag = game.expect("a snapshot has a game").etag;
                Seen::Snapshot { etag, history_lost }
            }
            Message::Event(v1::GameEvent { entry, game }) => {
                let etag = game.expect("an event has the game after it").etag;
                Seen::Event { entry: entry.expect("an event has its entry"), etag }
            }
            Message::KeepAlive(keep_alive) => Seen::KeepAlive { etag: keep_alive.etag },
            Message::Presence(_) => return,
        };
        self.seen.push(seen);
    }
}

impl fmt::Display for Watcher<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&listed(&self.seen))
    }
}

fn listed(seen: &[Seen]) -> String {
    seen.iter().map(|seen| format!("  {seen:?}\n")).collect()
}

/// Whether a watcher was told each entry of the log once and in order, or of a loss that there was.
pub(crate) fn check_watcher(
    seen: &[Seen],
    history: &History,
    loss: Option<&Loss>,
) -> Result<(), String> {
    let logs: Vec<&[v1::LogEntry]> =
        [Some(&history.log[..]), loss.map(|loss| &loss.log[..])].into_iter().flatten().collect();
    let is_lost = |etag: &str| loss.is_some_and(|loss| loss.has_taken(etag));
    let is_known = |etag: &str| logs.iter().any(|log| log.iter().any(|entry| entry.etag == etag));
    let mut told: Option<&str> = None;
    for (index, seen_now) in seen.iter().enumerate() {
        let wrong = |what: &str| {
            let shown = listed(&seen[..=index]);
            Err(format!("a watcher who was told {told:?} {what}:\n{shown}"))
        };
        match seen_now {
            Seen::Began { .. } => {}
            Seen::Snapshot { etag, .. } if !is_known(etag) => {
                return wrong("is shown a state that never was");
            }
            Seen::Snapshot { etag, history_lost } => {
                match told {
                    None if *history_lost => return wrong("has nothing to lose"),
                    Some(_) if !*history_lost => return wrong("is shown the game anew"),
                    Some(told) if !is_lost(told) => {
                        return wrong("is told of a loss that was none");
                    }
                    _ => {}
                }
                told = Some(etag);
            }
            Seen::Event { entry, etag } => {
                let follows = |log: &&[v1::LogEntry]| {
                    log.windows(2)
                        .any(|pair| Some(pair[0].etag.as_str()) == told && pair[1] == *entry)
                };
                if !logs.iter().any(follows) || *etag != entry.etag {
                    return wrong("is told an entry that does not come next");
                }
                told = Some(etag);
            }
            Seen::KeepAlive { etag } if told != Some(etag) => {
                return wrong("is told of nothing new where it does not stand");
            }
            Seen::KeepAlive { .. } => {}
        }
    }
    Ok(())
}
