//! `banqi play`.

mod bot;
mod input;
mod own_service;
mod seating;
mod session;

use std::io;

use clap::{Args, ValueEnum};

use super::refusal::{self, Fills};
use super::remote::RemoteOptions;
use super::screen::ScreenOptions;
use crate::client::{CallError, ConnectError};
use crate::game::SeatToken;
use bot::Bot;
use own_service::{OwnService, OwnServiceError};
use seating::Seating;
use session::Session;

/// Play on the terminal: against a bot, a friend anywhere, or somebody beside you
///
/// Without --server a service of its own keeps the game until it is left.
#[derive(Args, Debug)]
pub(super) struct Play {
    /// Against whom a new game is [default: bot]
    #[arg(long, value_enum)]
    against: Option<Opponent>,

    /// How the bot plays
    #[arg(long, value_enum, default_value_t = Bot::Greedy)]
    bot: Bot,

    /// The service that keeps the game
    #[arg(long, value_name = "ADDRESS", env = "BANQI_SERVER")]
    server: Option<String>,

    /// Play in this game instead of a new one: a seat that is open, or the one of --token
    #[arg(long, value_name = "GAME", requires = "server")]
    game: Option<String>,

    /// The token of a seat that you have; of several at one terminal, with commas between them
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "TOKEN",
        env = "BANQI_SEAT_TOKEN",
        hide_env_values = true,
        requires = "game"
    )]
    token: Vec<SeatToken>,

    /// The rules, by the name of a preset
    #[arg(long, value_name = "PRESET", default_value = "TAIWANESE", conflicts_with = "game")]
    preset: String,

    /// Who begins
    #[arg(long, value_enum, default_value_t = First::Random, conflicts_with = "game")]
    first: First,

    /// Your name
    #[arg(long, value_name = "NAME", default_value = "")]
    name: String,

    #[command(flatten)]
    remote: RemoteOptions,

    #[command(flatten)]
    screen: ScreenOptions,
}

/// Against whom one plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Opponent {
    /// A bot, which plays from here and leaves with you, also with --server
    Bot,
    /// Whoever joins, over --server
    Friend,
    /// Somebody at the same terminal
    Here,
}

/// Who begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum First {
    /// Chance decides
    Random,
    /// You
    Me,
    /// The other one
    Other,
}

/// Why there is no game.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlayError {
    #[error("--against friend needs a service that both reach: name one with --server ADDRESS")]
    FriendWithoutServer,
    #[error(
        "--against {0}: a game that is there has its own players; leave out --against, or leave out \
         --game for a new game"
    )]
    AgainstInGame(&'static str),
    #[error("--game {game}: {source}; {}", ways_in(server, game))]
    NoSeat { server: String, game: String, source: Box<CallError> },
    #[error("--server: {0}")]
    Connect(#[from] ConnectError),
    #[error("the service of its own did not start: {0}")]
    OwnService(#[from] OwnServiceError),
    #[error("{}", refusal::told(.0, OPTIONS))]
    Refused(Box<CallError>),
    #[error("the service answered without a game")]
    NoGame,
    #[error("input or output failed: {0}")]
    Io(#[from] io::Error),
}

/// What of a request is typed.
const OPTIONS: &[Fills] = &[
    Fills { field: "preset", option: "--preset" },
    Fills { field: "player_id", option: "--name" },
    Fills { field: "game_id", option: "--game" },
    Fills { field: "seat_token", option: "--token" },
];

/// What there is to do for who finds no open seat.
fn ways_in(server: &str, game: &str) -> String {
    format!(
        "who has a seat comes back with its token, as --token TOKEN or BANQI_SEAT_TOKEN, and anyone may \
         look on with\n  banqi watch --server {server} {game}"
    )
}

impl From<CallError> for PlayError {
    fn from(error: CallError) -> Self {
        Self::Refused(Box::new(error))
    }
}

impl Play {
    pub(super) fn run(self) -> Result<(), PlayError> {
        match self.against {
            Some(Opponent::Friend) if self.server.is_none() => {
                return Err(PlayError::FriendWithoutServer);
            }
            Some(Opponent::Bot) if self.game.is_some() => {
                return Err(PlayError::AgainstInGame("bot"));
            }
            Some(Opponent::Here) if self.game.is_some() => {
                return Err(PlayError::AgainstInGame("here"));
            }
            _ => {}
        }
        crate::server::runtime(None)?.block_on(self.play())
    }

    async fn play(self) -> Result<(), PlayError> {
        let own = match &self.server {
            Some(_) => None,
            None => Some(OwnService::start().await?),
        };
        let address = match (&self.server, &own) {
            (Some(address), _) => address.clone(),
            (None, own) => own.as_ref().map(|own| own.address.to_string()).unwrap_or_default(),
        };
        let played = self.play_at(&address, own.is_none()).await;
        if let Some(own) = own {
            own.stop().await;
        }
        played
    }

    async fn play_at(&self, address: &str, kept: bool) -> Result<(), PlayError> {
        let client = self.remote.connect(address).await?;
        let seating = match (&self.game, &self.token[..]) {
            (Some(game), [_, ..]) => Seating::resume(game, &self.token),
            (Some(game), []) => match Seating::join(&client, game, &self.name).await {
                Err(PlayError::Refused(source)) if has_no_seat(&source) => {
                    let (server, game) = (address.to_owned(), game.clone());
                    return Err(PlayError::NoSeat { server, game, source });
                }
                joined => joined?,
            },
            (None, _) => self.create(&client).await?,
        };
        let from_elsewhere = kept.then(|| address.to_owned());
        Session::new(client, seating, self.bot, self.screen.screen(), from_elsewhere).run().await
    }

    async fn create(&self, client: &crate::client::Client) -> Result<Seating, PlayError> {
        let new = seating::NewGame {
            preset: &self.preset,
            name: &self.name,
            against: self.against.unwrap_or(Opponent::Bot),
            first: self.first,
        };
        Seating::create(client, new).await
    }
}

/// Whether nobody can come into the game any more.
fn has_no_seat(error: &CallError) -> bool {
    let reasons = ["NO_SEAT_OPEN", "SEAT_TAKEN", "SEAT_RESERVED", "ALREADY_SEATED", "GAME_OVER"];
    reasons.contains(&error.reason.as_str())
}
