//! Watches that outlive their streams.

use std::time::Duration;

use tonic::{Code, Status, Streaming};

use super::backoff;
use super::calls::Client;
use super::error::CallError;
use crate::api::proto::v1;
use crate::api::proto::v1::watch_game_response::Message;

/// For so long a stream may say nothing; the service does every 15 s.
const SILENCE: Duration = Duration::from_secs(40);

/// What a watch tells.
#[derive(Clone, Debug)]
pub enum Watched {
    /// How the game stands: the first thing that is told, and again where the store has lost what was
    /// told before (`history_lost`).
    Snapshot(Box<v1::watch_game_response::Snapshot>),
    /// One revision, each once and in order.
    Event(Box<v1::GameEvent>),
    /// Which seats are present.
    Presence(v1::watch_game_response::Presence),
    /// The service does not answer, and is tried again; told once, until it is [`Watched::Back`].
    Lost,
    /// It answers again. What has happened meanwhile follows.
    Back,
}

/// After so many failures in a row the connection counts as lost. A stream that ends, as all do after a
/// while, or a replica that dies beside others, is one.
const FAILURES: u32 = 2;

/// A watch of one game, over as many streams as it takes: who reads it notices nothing of a replica
/// that dies beside others.
#[derive(Debug)]
pub struct Watch {
    client: Client,
    request: v1::WatchGameRequest,
    stream: Option<Streaming<v1::WatchGameResponse>>,
    failures: u32,
    /// Whether [`Watched::Lost`] was told, and [`Watched::Back`] not yet.
    lost: bool,
    /// What came with the answer that ended a loss.
    waiting: Option<Watched>,
}

impl Watch {
    pub(super) fn new(client: Client, game_id: &str, seat_token: &str) -> Self {
        let request = v1::WatchGameRequest {
            game_id: game_id.to_owned(),
            seat_token: seat_token.to_owned(),
            ..Default::default()
        };
        Self { client, request, stream: None, failures: 0, lost: false, waiting: None }
    }

    /// The etag up to which everything was told; empty before anything was.
    pub fn etag(&self) -> &str {
        &self.request.after_etag
    }

    /// What there is next; none some time after the game has ended. Nothing is lost if the future is
    /// dropped before it is ready.
    ///
    /// # Errors
    /// Of what trying again does not change, like `GAME_NOT_FOUND`.
    pub async fn next(&mut self) -> Result<Option<Watched>, CallError> {
        loop {
            if let Some(watched) = self.waiting.take() {
                return Ok(Some(watched));
            }
            if self.failures >= FAILURES && !self.lost {
                self.lost = true;
                return Ok(Some(Watched::Lost));
            }
            match self.read().await {
                Ok(Some(message)) => {
                    self.failures = 0;
                    let watched = self.take(message);
                    if std::mem::take(&mut self.lost) {
                        self.waiting = watched;
                        return Ok(Some(Watched::Back));
                    }
                    if let Some(watched) = watched {
                        return Ok(Some(watched));
                    }
                }
                // A stream that goes on elsewhere ends with an error.
                Ok(None) => return Ok(None),
                Err(status) => {
                    self.stream = None;
                    let error = CallError::from(status);
                    if !error.is_transient() {
                        return Err(error);
                    }
                    let delay = error.retry_delay.unwrap_or_else(|| backoff::after(self.failures));
                    self.failures += 1;
                    tokio::time::sleep(delay).await;
                }
            }
        }
    }

    async fn read(&mut self) -> Result<Option<Message>, Status> {
        let next = async {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                none => {
                    let request = self.client.request(self.request.clone(), &self.request.game_id);
                    none.insert(self.client.games().watch_game(request).await?.into_inner())
                }
            };
            stream.message().await
        };
        match tokio::time::timeout(SILENCE, next).await {
            Ok(Ok(Some(response))) => Ok(Some(
                response
                    .message
                    .unwrap_or(Message::KeepAlive(v1::watch_game_response::KeepAlive::default())),
            )),
            Ok(Ok(None)) => Ok(None),
            Ok(Err(status)) => Err(status),
            Err(_) => Err(Status::new(Code::Unavailable, "the stream has said nothing for 40 s")),
        }
    }

    fn take(&mut self, message: Message) -> Option<Watched> {
        match message {
            Message::Snapshot(snapshot) => {
                let game = snapshot.game.as_ref()?;
                self.request.after_etag.clone_from(&game.etag);
                Some(Watched::Snapshot(Box::new(snapshot)))
            }
            Message::Event(event) => {
                self.request.after_etag.clone_from(&event.entry.as_ref()?.etag);
                Some(Watched::Event(Box::new(event)))
            }
            Message::Presence(presence) => Some(Watched::Presence(presence)),
            Message::KeepAlive(_) => None,
        }
    }
}
