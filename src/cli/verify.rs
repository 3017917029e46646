//! `banqi verify`: whether a deal was fair.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::refusal::{self, Fills};
use super::remote::RemoteOptions;
use crate::api::export::{DocumentFault, GameDocument, Hexadecimal, Verdict};
use crate::api::proto::v1;
use crate::client::{CallError, ConnectError};

/// The largest document that is read, in bytes.
const MAX_DOCUMENT: u64 = 16 * 1024 * 1024;

/// The exit code of a game that nothing contradicts, and that is not proven. 2 is that of a command line
/// that cannot be read.
const UNPROVEN: u8 = 3;

/// Checks a game's deal, and everything in its log that rests on it (docs/fairness.md).
///
/// The exit code is 0 for VERIFIED, 3 for UNPROVEN, 1 for FAILED and for a game that cannot be read,
/// and 2 for a command line that cannot be read.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// The game as EXPORT_FORMAT_JSON; `-` for standard input
    #[arg(value_name = "FILE", required_unless_present = "server", conflicts_with = "server")]
    file: Option<PathBuf>,
    /// The service that has the game, for example 127.0.0.1:50051
    #[arg(long, value_name = "ADDRESS", requires = "game")]
    server: Option<String>,
    /// The game there
    #[arg(long, value_name = "ID", requires = "server")]
    game: Option<String>,
    #[command(flatten)]
    remote: RemoteOptions,
    /// The commitment that a player kept, without which nothing is proven
    #[arg(long, value_name = "HEX")]
    commitment: Option<Hexadecimal>,
    /// Tell the verdict as JSON
    #[arg(long)]
    json: bool,
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub(super) enum VerifyError {
    #[error("{}: cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}: it is longer than {MAX_DOCUMENT} bytes", path.display())]
    TooLong { path: PathBuf },
    #[error("{}: {fault}", path.display())]
    Document { path: PathBuf, fault: DocumentFault },
    #[error("--server: {0}")]
    Connect(#[from] ConnectError),
    #[error("{address}: {}", refusal::told(source, OPTIONS))]
    Refused { address: String, source: Box<CallError> },
    #[error("{address}: no game that can be checked: {fault}")]
    Answer { address: String, fault: DocumentFault },
    #[error("input or output failed: {0}")]
    Io(#[from] io::Error),
}

/// What of a request is typed.
const OPTIONS: &[Fills] = &[Fills { field: "game_id", option: "--game" }];

impl Verify {
    pub(super) fn run(self) -> Result<ExitCode, VerifyError> {
        let document = match (&self.file, &self.server) {
            (Some(path), _) => read(path)?,
            (None, server) => {
                let address = server.as_deref().unwrap_or_default();
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(self.fetch(address))?
            }
        };
        let verdict = document.verify(self.commitment.as_ref());
        self.tell(&document, &verdict)?;
        Ok(match verdict {
            Verdict::Verified => ExitCode::SUCCESS,
            Verdict::Failed(_) => ExitCode::FAILURE,
            Verdict::Unproven(_) => ExitCode::from(UNPROVEN),
        })
    }

    async fn fetch(&self, address: &str) -> Result<GameDocument, VerifyError> {
        let client = self.remote.connect(address).await?;
        let request = v1::ExportGameRequest {
            game_id: self.game.clone().unwrap_or_default(),
            format: v1::ExportFormat::Json.into(),
        };
        let refused =
            |source| VerifyError::Refused { address: address.to_owned(), source: Box::new(source) };
        let text = client.export_game(request).await.map_err(refused)?.text;
        GameDocument::read(&text)
            .map_err(|fault| VerifyError::Answer { address: address.to_owned(), fault })
    }

    fn tell(&self, document: &GameDocument, verdict: &Verdict) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let (name, game) = (verdict.name(), &document.game_id);
        if self.json {
            let mut told = json!({ "verdict": name, "game_id": game });
            match verdict {
                Verdict::Verified => {}
                Verdict::Unproven(missing) => told["missing"] = json!(missing),
                Verdict::Failed(DocumentFault { field, value, expected }) => {
                    told["difference"] =
                        json!({ "field": field, "value": value, "expected": expected });
                }
            }
            return writeln!(out, "{told}");
        }
        match verdict {
            Verdict::Verified => writeln!(out, "{name}: {game}"),
            Verdict::Unproven(missing) => writeln!(out, "{name}: {game}: {missing}"),
            Verdict::Failed(difference) => writeln!(out, "{name}: {game}: {difference}"),
        }
    }
}

fn read(path: &Path) -> Result<GameDocument, VerifyError> {
    let failed = |source| VerifyError::Read { path: path.to_owned(), source };
    let input: Box<dyn io::Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(std::fs::File::open(path).map_err(failed)?)
    };
    let mut text = String::new();
    input.take(MAX_DOCUMENT + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_DOCUMENT {
        return Err(VerifyError::TooLong { path: path.to_owned() });
    }
    GameDocument::read(&text)
        .map_err(|fault| VerifyError::Document { path: path.to_owned(), fault })
}
