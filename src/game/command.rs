//! Commands: what is asked of a game, and whether it may be.

use super::entropy::Entropy;
use super::event::Event;
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
    /// To abort the game if nobody has acted in time.
    ExpireUnbegun,
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
/// Why the command is refused.
pub fn decide(
    game: &Game,
    command: &Command,
    now: Millis,
    limits: &Limits,
) -> Result<Change, Refusal> {
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
            game.check_leave(*seat)?;
            Event::Resigned(*seat)
        }
        Command::ExpireUnbegun => {
            game.check_unbegun()?;
            let due = game.created_at() + limits.unbegun;
            if now < due {
                return Err(Refusal::NotDue { due });
            }
            Event::ExpiredUnbegun
        }
    };
    Ok(Change { decided_for: game.version(), at: now, event, player: joining })
}
