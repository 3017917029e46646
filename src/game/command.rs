//! Commands: what is asked of a game, and whether it may be.

use super::deal::DealSource;
use super::entropy::Entropy;
use super::event::Event;
use super::player::PlayerId;
use super::revision::Version;
use super::schedule::Limits;
use super::seats::Claim;
use super::state::{Game, GameState};
use super::time::Millis;
use crate::rules::{Action, IllegalAction, Seat};

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

/// Why a command is refused. A refusal changes nothing, and none depends on anything hidden.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The game has ended.
    #[error("the game is over")]
    GameOver,
    /// The game was created before.
    #[error("the game exists already")]
    GameExists,
    /// The game waits for players or for their entropy.
    #[error("the game has not started: it waits for players or for their entropy")]
    NotStarted,
    /// An action was played already.
    #[error("the game has begun: an action was played")]
    AlreadyBegun,
    /// Another seat is to move.
    #[error("it is seat {to_move}'s turn")]
    NotYourTurn {
        /// The seat that is to move.
        to_move: Seat,
    },
    /// The seat is out of the game.
    #[error("seat {seat} is out of the game")]
    SeatOut {
        /// Which.
        seat: Seat,
    },
    /// The game does not have this seat.
    #[error("there is no seat {seat}: the game has {seats}")]
    NoSuchSeat {
        /// The one asked for.
        seat: Seat,
        /// How many there are.
        seats: u8,
    },
    /// Somebody sits there.
    #[error("seat {seat} is taken")]
    SeatTaken {
        /// Which.
        seat: Seat,
    },
    /// The seat is for another player.
    #[error("seat {seat} is reserved for another player")]
    SeatReserved {
        /// Which.
        seat: Seat,
    },
    /// Every seat is taken, or reserved for other players.
    #[error("no seat is open to this player")]
    NoSeatOpen,
    /// The player has a seat, and did not ask for another one by its number.
    #[error("this player has seat {seat}")]
    AlreadySeated {
        /// Which.
        seat: Seat,
    },
    /// Nobody has taken the seat yet.
    #[error("nobody has taken seat {seat} yet")]
    NotJoined {
        /// Which.
        seat: Seat,
    },
    /// The seat has added to the deal already.
    #[error("seat {seat} has added its entropy")]
    EntropyAdded {
        /// Which.
        seat: Seat,
    },
    /// The deal can no longer be added to.
    #[error("the deal is fixed: entropy comes before the first action")]
    DealFixed,
    /// The deal was given, so nothing can be added to it.
    #[error("the deal was given at creation, so no entropy can be added")]
    DealGiven,
    /// It is too early.
    #[error("not due before {due:?}")]
    NotDue {
        /// When it will be due.
        due: Millis,
    },
    /// The rules do not allow the action.
    #[error(transparent)]
    Illegal(#[from] IllegalAction),
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

impl Game {
    /// The seat that a player asks for, or that falls to the player.
    fn seat_for(&self, asked: Option<Seat>, player: Option<&PlayerId>) -> Result<Seat, Refusal> {
        self.check_running()?;
        let is_theirs = |seat: &Seat| player.is_some() && self.player(*seat) == player;
        if let Some(seat) = asked {
            let reserved = self.claim(seat) == Some(Claim::Reserved) && !self.has_joined(seat);
            return if reserved && !is_theirs(&seat) {
                Err(Refusal::SeatReserved { seat })
            } else {
                Ok(seat)
            };
        }
        let free = |seat: &Seat| !self.has_joined(*seat);
        let is_open = |seat: &Seat| self.claim(*seat) == Some(Claim::Open);
        if let Some(seat) = self.seats().filter(free).find(is_theirs) {
            return Ok(seat);
        }
        if let Some(seat) = self.seats().find(is_theirs) {
            return Err(Refusal::AlreadySeated { seat });
        }
        self.seats().filter(free).find(is_open).ok_or(Refusal::NoSeatOpen)
    }

    fn check_seat(&self, seat: Seat) -> Result<(), Refusal> {
        if self.has_seat(seat) {
            Ok(())
        } else {
            Err(Refusal::NoSuchSeat { seat, seats: self.rules().seats() })
        }
    }

    fn check_running(&self) -> Result<(), Refusal> {
        if self.state() == GameState::Finished { Err(Refusal::GameOver) } else { Ok(()) }
    }

    /// Whether the game is being played.
    pub(super) fn check_active(&self) -> Result<(), Refusal> {
        match self.state() {
            GameState::Waiting => Err(Refusal::NotStarted),
            GameState::Active => Ok(()),
            GameState::Finished => Err(Refusal::GameOver),
        }
    }

    /// Whether the seat can be taken, by the right player.
    pub(super) fn check_join(&self, seat: Seat, with_entropy: bool) -> Result<(), Refusal> {
        self.check_running()?;
        self.check_seat(seat)?;
        if self.has_joined(seat) {
            return Err(Refusal::SeatTaken { seat });
        }
        if with_entropy { self.check_deal_open() } else { Ok(()) }
    }

    /// Whether the seat can add to the deal.
    pub(super) fn check_entropy(&self, seat: Seat) -> Result<(), Refusal> {
        self.check_running()?;
        self.check_seat(seat)?;
        if !self.has_joined(seat) {
            return Err(Refusal::NotJoined { seat });
        }
        self.check_deal_open()?;
        if self.entropy(seat).is_some() {
            return Err(Refusal::EntropyAdded { seat });
        }
        Ok(())
    }

    fn check_deal_open(&self) -> Result<(), Refusal> {
        match self.stored.facts.deal {
            DealSource::Given(_) => Err(Refusal::DealGiven),
            DealSource::Derived(_) if self.has_begun() => Err(Refusal::DealFixed),
            DealSource::Derived(_) => Ok(()),
        }
    }

    /// Whether the seat may act so now. Never looks at anything hidden.
    ///
    /// # Errors
    /// Why not.
    pub fn check_play(&self, seat: Seat, action: Action) -> Result<(), Refusal> {
        self.check_active()?;
        self.check_in(seat)?;
        let to_move = self.position().to_move();
        if seat != to_move {
            return Err(Refusal::NotYourTurn { to_move });
        }
        Ok(self.referee.check(action)?)
    }

    fn check_in(&self, seat: Seat) -> Result<(), Refusal> {
        self.check_seat(seat)?;
        if self.position().is_out(seat) { Err(Refusal::SeatOut { seat }) } else { Ok(()) }
    }

    /// Whether the seat can leave.
    pub(super) fn check_leave(&self, seat: Seat) -> Result<(), Refusal> {
        self.check_active()?;
        self.check_in(seat)
    }

    /// Whether the game has neither begun nor ended.
    pub(super) fn check_unbegun(&self) -> Result<(), Refusal> {
        self.check_running()?;
        if self.has_begun() { Err(Refusal::AlreadyBegun) } else { Ok(()) }
    }
}
