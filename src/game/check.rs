//! What may be done to a game as it stands: asked of commands, and of a log that is replayed.

use super::deal::DealSource;
use super::player::PlayerId;
use super::refusal::Refusal;
use super::seats::Claim;
use super::state::{Game, GameState};
use crate::rules::{Action, Seat};

impl Game {
    /// The seat that a player asks for, or that falls to the player.
    pub(super) fn seat_for(
        &self,
        asked: Option<Seat>,
        player: Option<&PlayerId>,
    ) -> Result<Seat, Refusal> {
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

    /// Whether the seat is free, and may bring entropy if it does.
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
