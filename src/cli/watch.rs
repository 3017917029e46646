//! `banqi watch`.

use std::io::{self, Write as _};

use clap::Args;
use serde_json::json;

use super::reasons;
use super::refusal::{self, Fills};
use super::remote::RemoteOptions;
use super::screen::{BACK, HISTORY_LOST, LOST, Screen, ScreenOptions, ending, happened};
use crate::api::proto::v1;
use crate::client::{CallError, ConnectError, Watched};

/// Watch a game until it ends
///
/// The watch goes on over lost connections, and tells every change once. While the service does not
/// answer, that is told on standard error; with --json as a line of its own on standard output, whose
/// `connection` is `lost` or `back`. Lines of changes have no such field.
#[derive(Args, Debug)]
pub(super) struct Watch {
    /// The game
    #[arg(value_name = "GAME")]
    game: String,

    /// The service that has it
    #[arg(long, value_name = "ADDRESS", env = "BANQI_SERVER", default_value = "127.0.0.1:50051")]
    server: String,

    #[command(flatten)]
    remote: RemoteOptions,

    #[command(flatten)]
    screen: ScreenOptions,

    /// Tell each change as a line of JSON: `game_id`, `revision`, `etag`, `happened`, `record`,
    /// `history_lost`, `position`, `result`; and `game_id`, `connection` when it is lost and back
    #[arg(long)]
    json: bool,
}

/// Why a game cannot be watched.
#[derive(Debug, thiserror::Error)]
pub(super) enum WatchError {
    #[error("--server: {0}")]
    Connect(#[from] ConnectError),
    #[error("{}", refusal::told(.0, OPTIONS))]
    Refused(Box<CallError>),
    #[error("input or output failed: {0}")]
    Io(#[from] io::Error),
}

/// What of a request is typed.
const OPTIONS: &[Fills] = &[Fills { field: "game_id", option: "GAME" }];

impl Watch {
    pub(super) fn run(self) -> Result<(), WatchError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.watch())
    }

    async fn watch(self) -> Result<(), WatchError> {
        let client = self.remote.connect(&self.server).await?;
        let refused = |error| WatchError::Refused(Box::new(error));
        let mut watch = client.watch(&self.game, "");
        let screen = self.screen.screen();
        while let Some(watched) = watch.next().await.map_err(refused)? {
            let game = match &watched {
                Watched::Snapshot(snapshot) => snapshot.game.as_ref(),
                Watched::Event(event) => event.game.as_ref(),
                Watched::Presence(_) => None,
                Watched::Lost => {
                    self.tell_connection("lost", LOST)?;
                    None
                }
                Watched::Back => {
                    self.tell_connection("back", BACK)?;
                    None
                }
            };
            let Some(game) = game else { continue };
            let entry = match &watched {
                Watched::Event(event) => event.entry.as_ref(),
                _ => None,
            };
            let lost = matches!(&watched, Watched::Snapshot(snapshot) if snapshot.history_lost);
            let mut out = io::stdout().lock();
            if self.json {
                writeln!(out, "{}", as_json(game, entry, lost))?;
            } else {
                out.write_all(shown(screen, game, entry, lost).as_bytes())?;
            }
            out.flush()?;
            if game.result.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Says that the connection is lost, or back.
    fn tell_connection(&self, state: &str, words: &str) -> io::Result<()> {
        if self.json {
            let mut out = io::stdout().lock();
            writeln!(out, "{}", json!({ "game_id": self.game, "connection": state }))?;
            return out.flush();
        }
        writeln!(io::stderr(), "{words}")
    }
}

fn shown(screen: Screen, game: &v1::Game, entry: Option<&v1::LogEntry>, lost: bool) -> String {
    let lost = lost.then(|| HISTORY_LOST.to_owned());
    let said = entry.and_then(|entry| happened(entry, game, &[]));
    let said: Vec<String> = lost.into_iter().chain(said).chain(ending(game, &[])).collect();
    screen.show(game, &[], &said)
}

/// A change for scripts: the texts of `docs/RULES.md` §9.
fn as_json(game: &v1::Game, entry: Option<&v1::LogEntry>, history_lost: bool) -> serde_json::Value {
    let record = match entry.and_then(|entry| entry.event.as_ref()) {
        Some(v1::log_entry::Event::Played(record)) => Some(record.text.as_str()),
        _ => None,
    };
    let result = game.result.as_ref().map(
        |result| json!({ "winners": result.winners, "reason": reasons::name(result.reason()) }),
    );
    json!({
        "game_id": game.game_id,
        "revision": game.revision,
        "etag": game.etag,
        "happened": entry.and_then(|entry| happened(entry, game, &[])),
        "record": record,
        "history_lost": history_lost,
        "position": game.position.as_ref().map(|position| &position.text),
        "result": result,
    })
}
