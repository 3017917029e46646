//! Watching a game, as lightly as can be: a hundred thousand watchers share the machine with what they
//! measure.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::uri::PathAndQuery;
use tokio::sync::{Semaphore, watch};
use tokio::time::sleep;
use tonic::client::Grpc;
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use super::connect::Connection;
use super::events::{Events, Place, Watched};
use super::tally::reason;
use crate::api::error::Reason;
use crate::api::proto::v1;

/// How long a watcher waits after a stream that ended before its game.
const AFTER_END: Duration = Duration::from_millis(50);

/// What a watcher reads of a `WatchGameResponse`; all else is passed over undecoded.
#[derive(Clone, PartialEq, prost::Message)]
struct Glance {
    #[prost(message, optional, tag = "1")]
    snapshot: Option<GlanceAtSnapshot>,
    #[prost(message, optional, tag = "2")]
    event: Option<GlanceAtEvent>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct GlanceAtSnapshot {
    #[prost(message, optional, tag = "1")]
    game: Option<GlanceAtGame>,
    #[prost(bool, tag = "2")]
    history_lost: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
struct GlanceAtEvent {
    #[prost(message, optional, tag = "2")]
    game: Option<GlanceAtGame>,
}

/// How a game stands.
#[derive(Clone, PartialEq, prost::Message)]
struct GlanceAtGame {
    #[prost(uint64, tag = "2")]
    revision: u64,
    #[prost(string, tag = "3")]
    etag: String,
    #[prost(enumeration = "v1::GameState", tag = "4")]
    state: i32,
}

impl GlanceAtGame {
    fn is_finished(&self) -> bool {
        self.state == i32::from(v1::GameState::Finished)
    }
}

/// What a message tells of the game.
#[derive(Debug)]
enum Told {
    /// How it stands.
    Snapshot(GlanceAtGame),
    /// One revision.
    Event(GlanceAtGame),
    /// It is not the game that it was.
    HistoryLost,
    /// Nothing.
    Nothing,
}

impl Glance {
    fn told(self) -> Told {
        match self {
            Self { snapshot: Some(snapshot), .. } if snapshot.history_lost => Told::HistoryLost,
            Self { snapshot: Some(GlanceAtSnapshot { game: Some(game), .. }), .. } => {
                Told::Snapshot(game)
            }
            Self { event: Some(GlanceAtEvent { game: Some(game) }), .. } => Told::Event(game),
            _ => Told::Nothing,
        }
    }
}

/// Opens a watch.
async fn open(
    connection: Connection,
    game_id: &str,
    after_etag: &str,
) -> Result<Streaming<Glance>, Status> {
    let mut calls = Grpc::new(connection);
    calls.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let request = v1::WatchGameRequest {
        game_id: game_id.to_owned(),
        after_etag: after_etag.to_owned(),
        ..Default::default()
    };
    let path = PathAndQuery::from_static("/banqi.v1.GameService/WatchGame");
    let codec: ProstCodec<v1::WatchGameRequest, Glance> = ProstCodec::default();
    Ok(calls.server_streaming(Request::new(request), path, codec).await?.into_inner())
}

/// Watches the games of a table, one after the other, each to its end.
#[derive(Debug)]
pub(super) struct Watcher {
    pub(super) connection: Connection,
    pub(super) games: watch::Receiver<Option<Arc<Watched>>>,
    pub(super) place: Arc<Place>,
    pub(super) events: Arc<Events>,
    /// Who may open a stream now.
    pub(super) opening: Arc<Semaphore>,
}

impl Watcher {
    /// Watches until the table is no more.
    pub(super) async fn watch(mut self) {
        while self.games.changed().await.is_ok() {
            let game = self.games.borrow_and_update().clone();
            if let Some(game) = game {
                self.place.stands(&game, 0);
                self.follow(&game).await;
            }
        }
    }

    /// Watches a game to its end, or until it is given up at its table and cannot be watched.
    async fn follow(&mut self, game: &Arc<Watched>) {
        let mut etag = String::new();
        loop {
            match self.follow_stream(game, &mut etag).await {
                Ok(true) => return,
                Ok(false) => self.events.tally().resumed += 1,
                Err(status) => {
                    let reason = reason(&status);
                    let mut tally = self.events.tally();
                    if [Reason::StreamExpired, Reason::ShuttingDown]
                        .iter()
                        .any(|expected| expected.name() == reason)
                    {
                        tally.resumed += 1;
                    } else {
                        *tally.failures.entry(reason).or_default() += 1;
                        if self.games.has_changed().unwrap_or(true) {
                            return;
                        }
                    }
                }
            }
            sleep(AFTER_END).await;
        }
    }

    /// Whether the game was watched to its end.
    async fn follow_stream(&self, game: &Arc<Watched>, etag: &mut String) -> Result<bool, Status> {
        // Opening it all at once would be a load of another kind.
        let mut opening = self.opening.acquire().await.ok();
        let mut stream = open(self.connection.clone(), &game.game_id, etag).await?;
        while let Some(glance) = stream.message().await? {
            let at = Instant::now();
            drop(opening.take());
            let now = match glance.told() {
                Told::Event(now) => {
                    game.seen(now.revision, at, &self.events);
                    now
                }
                Told::Snapshot(now) => now,
                Told::HistoryLost => {
                    etag.clear();
                    return Err(Status::data_loss("the history was lost"));
                }
                Told::Nothing => continue,
            };
            self.place.stands(game, now.revision);
            if now.is_finished() {
                return Ok(true);
            }
            *etag = now.etag;
        }
        Ok(false)
    }
}
