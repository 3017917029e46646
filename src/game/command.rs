//! Commands: what is asked of a game, and whether it may be.

use super::entropy::Entropy;
use super::event::{Event, Ruling};
use super::id::GameId;
use super::player::PlayerId;
use super::refusal::Refusal;
use super::revision::Version;
use super::schedule::Limits;
use super::state::Game;
use super::time::Millis;
use crate::rules::{Action, Seat};

/// What is asked of a game. Whoever asks was authenticated before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// To take a seat.
    Join {
        /// Which; `None` for the one that is reserved for the player, or else the first open one.
        seat: Option<Seat>,
        /// Who takes it; `None` for a player without an id.
        player: Option<PlayerId>,
        /// What the player adds to the deal.
        entropy: Option<Entropy>,
    },
    /// To add to the deal.
    AddEntropy {
        /// For which seat.
        seat: Seat,
        /// What.
        entropy: Entropy,
    },
    /// To act.
    Play {
        /// For which seat.
        seat: Seat,
        /// How.
        action: Action,
    },
    /// To resign.
    Resign {
        /// Which seat.
        seat: Seat,
    },
    /// To take a seat of a rematch, for a player who has asked for it.
    JoinRematch {
        /// Which.
        seat: Seat,
    },
    /// To abort the game before every seat has acted.
    Abort {
        /// Which seat wants it; `None` for the platform.
        seat: Option<Seat>,
    },
    /// To offer a draw.
    OfferDraw {
        /// Which seat.
        seat: Seat,
    },
    /// To answer the offer of a draw.
    AnswerDraw {
        /// Which seat.
        seat: Seat,
        /// Whether it accepts.
        accept: bool,
    },
    /// To ask for one's last turn to be taken back.
    RequestTakeback {
        /// Which seat.
        seat: Seat,
    },
    /// To answer the request to take back.
    AnswerTakeback {
        /// Which seat.
        seat: Seat,
        /// Whether it accepts.
        accept: bool,
    },
    /// To replace a seat's token by a new one.
    ReissueToken {
        /// Of which seat.
        seat: Seat,
    },
    /// To note the rematch that is made in the same write.
    MakeRematch {
        /// Its id.
        id: GameId,
    },
    /// To end the game, for the platform.
    Adjudicate {
        /// How.
        ruling: Ruling,
    },
    /// To erase a player's id from a seat.
    ErasePlayer {
        /// Which seat.
        seat: Seat,
    },
    /// To do what is due: let the seat to move lose by time, or abort a game that nobody has begun.
    EnforceDeadline,
}

/// What a command that may be does: one entry of the log. Only [`decide`] makes it and only
/// [`Game::after`] takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub(super) decided_for: Version,
    pub(super) at: Millis,
    pub(super) event: Event,
    pub(super) player: Option<PlayerId>,
}

impl Change {
    /// The version that it was decided for, which the store must still have.
    pub fn decided_for(&self) -> Version {
        self.decided_for
    }

    /// What is written to the log.
    pub fn event(&self) -> &Event {
        &self.event
    }
}

/// Whether a command may be, and what it does then. Pure; never looks at anything hidden.
///
/// # Errors
/// Why the command is refused. [`Refusal::Overdue`] asks for [`Command::EnforceDeadline`] first,
/// and the command again after it.
pub fn decide(
    game: &Game,
    command: &Command,
    now: Millis,
    limits: &Limits,
) -> Result<Change, Refusal> {
    let now = now.max(game.updated_at());
    if *command != Command::EnforceDeadline && game.due(now, limits).is_ok() {
        return Err(Refusal::Overdue);
    }
    let mut joining = None;
    let event = match command {
        Command::Join { seat, player, entropy } => {
            let seat = game.seat_for(*seat, player.as_ref())?;
            game.check_join(seat, entropy.is_some())?;
            joining.clone_from(player);
            Event::Joined { seat, entropy: entropy.clone() }
        }
        Command::AddEntropy { seat, entropy } => {
            game.check_entropy(*seat)?;
            Event::EntropyAdded { seat: *seat, entropy: entropy.clone() }
        }
        Command::Play { seat, action } => {
            game.check_play(*seat, *action)?;
            Event::Played(*action)
        }
        Command::Resign { seat } => {
            game.check_player(*seat)?;
            Event::Resigned(*seat)
        }
        Command::JoinRematch { seat } => {
            game.check_join(*seat, false)?;
            Event::Joined { seat: *seat, entropy: None }
        }
        Command::Abort { seat } => {
            game.check_abort(*seat)?;
            Event::Aborted(*seat)
        }
        Command::OfferDraw { seat } => {
            game.check_draw_offer(*seat)?;
            Event::DrawOffered(*seat)
        }
        Command::AnswerDraw { seat, accept } => {
            game.check_draw_answer(*seat)?;
            Event::DrawAnswered { seat: *seat, accepted: *accept }
        }
        Command::RequestTakeback { seat } => {
            game.check_takeback(*seat)?;
            Event::TakebackAsked(*seat)
        }
        Command::AnswerTakeback { seat, accept } => {
            game.check_takeback_answer(*seat)?;
            Event::TakebackAnswered { seat: *seat, accepted: *accept }
        }
        Command::ReissueToken { seat } => {
            game.check_joined(*seat)?;
            Event::TokenReissued(*seat)
        }
        Command::MakeRematch { id } => {
            game.check_new_rematch()?;
            Event::RematchMade(id.clone())
        }
        Command::Adjudicate { ruling } => {
            game.check_ruling(ruling)?;
            Event::Adjudicated(ruling.clone())
        }
        Command::ErasePlayer { seat } => {
            game.check_erasure(*seat)?;
            Event::PlayerErased(*seat)
        }
        Command::EnforceDeadline => game.due(now, limits)?,
    };
    Ok(Change { decided_for: game.version(), at: now, event, player: joining })
}
