//! Watchers, who are told everything once and in order, or that what they were told was lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_game_response::Message;
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use tonic::Status;

use crate::replicas::{COUNT, Replicas, another, in_time, is_a_break};

/// How long a watcher may take, once all is played, to have been told all of it. Games are compared
/// with the store every 10 seconds, so that is how late news can be whose hint was lost.
const CATCH_UP: Duration = Duration::from_secs(15);

/// The logs of all games, once nothing more happens in them.
pub(crate) type Logs = Option<Arc<BTreeMap<String, Vec<v1::LogEntry>>>>;

/// What a watcher was told since it began, or since it was last told of a loss.
#[derive(Default)]
struct Told {
    first: Option<u64>,
    after: String,
    events: Vec<v1::LogEntry>,
    /// The etags of which it was told that they are no state of the game.
    lost: Vec<String>,
}

impl Told {
    fn note(&mut self, message: Message) {
        match message {
            Message::Snapshot(snapshot) => {
                let game = snapshot.game.expect("a game");
                let is_first = self.first.is_none();
                assert_ne!(is_first, snapshot.history_lost, "a snapshot of {}", game.game_id);
                if snapshot.history_lost {
                    self.lost.push(self.after.clone());
                }
                self.first = Some(game.revision);
                self.events.clear();
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
}

/// Watches a game until it was told all of its final log; answers the etags of which it was told
/// that they were lost.
pub(crate) async fn watch_to_the_end(
    replicas: Arc<Replicas>,
    id: String,
    mut logs: watch::Receiver<Logs>,
    mut random: Xoshiro256PlusPlus,
) -> Vec<String> {
    let mut told = Told::default();
    let mut replica = random.random_range(0..COUNT);
    let mut limit = None;
    loop {
        visit(&replicas, replica, &id, &mut told, &mut random).await;
        let log = logs.borrow_and_update().as_ref().map(|logs| logs[&id].clone());
        if let Some(log) = log {
            if log.last().is_some_and(|last| last.etag == told.after) {
                let first = told.first.expect("a snapshot") as usize;
                assert_eq!(told.events, log[first..], "what was told of {id}");
                return told.lost;
            }
            let limit = *limit.get_or_insert_with(|| Instant::now() + CATCH_UP);
            if Instant::now() >= limit {
                let shown = shown(&replicas, &id).await;
                let last = log.last().map(|entry| &entry.etag);
                panic!("{id}: told {:?} of {last:?}; replicas show {shown:?}", told.after);
            }
        }
        replica = another(replica, &mut random);
    }
}

/// The etag that each replica shows.
async fn shown(replicas: &Replicas, id: &str) -> Vec<Result<String, Status>> {
    let mut shown = Vec::new();
    for replica in 0..COUNT {
        let request = v1::GetGameRequest { game_id: id.to_owned(), ..Default::default() };
        let answer = in_time(replicas.games(replica).get_game(request)).await;
        shown.push(answer.map(|answer| answer.into_inner().game.expect("a game").etag));
    }
    shown
}

/// Reads one stream for a while, or until it breaks.
async fn visit(
    replicas: &Replicas,
    replica: usize,
    id: &str,
    told: &mut Told,
    random: &mut Xoshiro256PlusPlus,
) {
    let request = v1::WatchGameRequest {
        game_id: id.to_owned(),
        after_etag: told.after.clone(),
        ..Default::default()
    };
    let mut stream = match in_time(replicas.games(replica).watch_game(request)).await {
        Ok(stream) => stream.into_inner(),
        Err(status) => {
            assert!(is_a_break(&status), "{status:?}");
            return sleep(Duration::from_millis(50)).await;
        }
    };
    let end = Instant::now() + Duration::from_millis(random.random_range(100..2_500));
    loop {
        let message = tokio::select! {
            message = stream.message() => message,
            () = sleep_until(end) => return,
        };
        match message {
            Ok(Some(response)) => told.note(response.message.expect("a message says something")),
            Ok(None) => return,
            Err(status) => {
                assert!(is_a_break(&status), "{status:?}");
                return sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
