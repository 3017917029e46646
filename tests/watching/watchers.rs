//! One watcher: it breaks off again and again, goes on elsewhere, and compares all that it was told
//! with the log.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_game_response::Message;
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use crate::replicas::{COUNT, Replicas, another, in_time, is_a_break};
use crate::support::PATIENCE;

/// How long a watcher may take, once all is played, to have been told all of it. Watched games are
/// compared with the store every 10 seconds, so that is how late news can be whose hint was lost.
const CATCH_UP: Duration = Duration::from_secs(40);

/// The logs of all games, once nothing more happens in them.
pub(crate) type Logs = Option<Arc<BTreeMap<String, Vec<v1::LogEntry>>>>;

/// What a watcher was told so far.
#[derive(Default)]
struct Told {
    /// The revision of the snapshot that it began with, and the etag of the last thing told.
    first: Option<u64>,
    after: String,
    events: Vec<v1::LogEntry>,
}

impl Told {
    fn note(&mut self, message: Message) {
        match message {
            Message::Snapshot(snapshot) => {
                let game = snapshot.game.expect("a game");
                assert!(!snapshot.history_lost, "no history was lost of {}", game.game_id);
                assert_eq!(self.first, None, "a second snapshot of {}", game.game_id);
                self.first = Some(game.revision);
                self.after = game.etag;
            }
            Message::Event(event) => {
                let (entry, game) = (event.entry.expect("an entry"), event.game.expect("a game"));
                assert_eq!((entry.revision, &entry.etag), (game.revision, &game.etag));
                let next = self.first.expect("a snapshot first") + self.events.len() as u64 + 1;
                assert_eq!(entry.revision, next, "the next event of {}", game.game_id);
                self.after.clone_from(&entry.etag);
                self.events.push(entry);
            }
            Message::KeepAlive(_) | Message::Presence(_) => {}
        }
    }

    /// The last revision that was told.
    fn revision(&self) -> Option<u64> {
        Some(self.first? + self.events.len() as u64)
    }
}

/// Watches a game until it was told all of its final log; answers how often it broke off, or was
/// broken off.
pub(crate) async fn watch_to_the_end(
    replicas: Arc<Replicas>,
    id: String,
    mut logs: watch::Receiver<Logs>,
    mut random: Xoshiro256PlusPlus,
) -> usize {
    let mut told = Told::default();
    let mut replica = random.random_range(0..COUNT);
    let mut breaks = 0;
    let mut limit = None;
    // Some come late.
    sleep(Duration::from_millis(random.random_range(0..2_000))).await;
    loop {
        let patience = Duration::from_millis(random.random_range(20..2_500));
        let most = random.random_range(1..25);
        visit(&replicas, replica, &id, &mut told, most, patience).await;
        let log = logs.borrow_and_update().as_ref().map(|logs| logs[&id].clone());
        if let Some(log) = log {
            if told.revision() == Some(log.len() as u64) {
                let first = told.first.expect("a snapshot") as usize;
                assert_eq!(told.events, log[first..], "what was told of {id}");
                return breaks;
            }
            let limit = *limit.get_or_insert_with(|| Instant::now() + CATCH_UP);
            let revision = told.revision();
            assert!(Instant::now() < limit, "{id}: told {revision:?} of {} in all", log.len());
        }
        replica = another(replica, &mut random);
        breaks += 1;
    }
}

/// Watches a game on one stream until it was told all of its final log.
pub(crate) async fn watch_on_one_stream(
    replicas: &Replicas,
    replica: usize,
    id: &str,
    mut logs: watch::Receiver<Logs>,
) {
    let request = v1::WatchGameRequest { game_id: id.to_owned(), ..Default::default() };
    let opened = in_time(replicas.games(replica).watch_game(request)).await;
    let mut stream = opened.expect("a watch").into_inner();
    let mut told = Told::default();
    let mut limit = None;
    loop {
        let log = logs.borrow_and_update().as_ref().map(|logs| logs[id].clone());
        if let Some(log) = log {
            if told.revision() == Some(log.len() as u64) {
                let first = told.first.expect("a snapshot") as usize;
                assert_eq!(told.events, log[first..]);
                return;
            }
            let limit = *limit.get_or_insert_with(|| Instant::now() + PATIENCE);
            assert!(Instant::now() < limit, "told {:?} of {}", told.revision(), log.len());
        }
        tokio::select! {
            message = in_time(stream.message()) => {
                let response = message.expect("no error").expect("no end");
                told.note(response.message.expect("a message says something"));
            }
            changed = logs.changed(), if limit.is_none() => changed.expect("they are told"),
        }
    }
}

/// Reads one stream, until so much was told, or for so long, or until it breaks.
async fn visit(
    replicas: &Replicas,
    replica: usize,
    id: &str,
    told: &mut Told,
    most: usize,
    patience: Duration,
) {
    let request = v1::WatchGameRequest {
        game_id: id.to_owned(),
        after_etag: told.after.clone(),
        ..Default::default()
    };
    let mut games = replicas.games(replica);
    let opened = in_time(games.watch_game(request)).await;
    let mut stream = match opened {
        Ok(stream) => stream.into_inner(),
        Err(status) => {
            assert!(is_a_break(&status), "{status:?}");
            // The replica may be starting anew.
            return sleep(Duration::from_millis(50)).await;
        }
    };
    let end = Instant::now() + patience;
    for _ in 0..most {
        let message = tokio::select! {
            message = stream.message() => message,
            () = sleep_until(end) => return,
        };
        match message {
            Ok(Some(response)) => told.note(response.message.expect("a message says something")),
            Ok(None) => return,
            Err(status) => {
                assert!(is_a_break(&status), "{status:?}");
                return;
            }
        }
    }
}
