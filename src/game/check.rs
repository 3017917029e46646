//! What may be done to a game as it stands: asked of commands, and of a log that is replayed.

use super::deal::DealSource;
use super::event::{Event, Ruling};
use super::offers::{MOST_TAKEBACKS, Offer};
use super::player::PlayerId;
use super::refusal::Refusal;
use super::revision::Revision;
use super::schedule::Limits;
use super::seats::Claim;
use super::state::{Game, GameState};
use super::time::Millis;
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
            let free = !self.has_joined(seat);
            return match self.claim(seat) {
                Some(Claim::Reserved) if free && !is_theirs(&seat) => {
                    Err(Refusal::SeatReserved { seat })
                }
                Some(Claim::Rematch) if free => Err(self.seat_of_rematch(seat)),
                _ => Ok(seat),
            };
        }
        let free = |seat: &Seat| !self.has_joined(*seat);
        let is_open = |seat: &Seat| self.claim(*seat) == Some(Claim::Open);
        if let Some(seat) = self.seats().filter(free).find(is_theirs) {
            return if self.claim(seat) == Some(Claim::Rematch) {
                Err(self.seat_of_rematch(seat))
            } else {
                Ok(seat)
            };
        }
        if let Some(seat) = self.seats().find(is_theirs) {
            return Err(Refusal::AlreadySeated { seat });
        }
        self.seats().filter(free).find(is_open).ok_or(Refusal::NoSeatOpen)
    }

    /// Why nobody can join a seat that waits for its player of the game before.
    fn seat_of_rematch(&self, seat: Seat) -> Refusal {
        match &self.stored.facts.series {
            Some(series) => Refusal::SeatOfRematch { seat, previous: series.previous.clone() },
            None => Refusal::SeatReserved { seat },
        }
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
        self.check_joined(seat)?;
        self.check_deal_open()?;
        if self.entropy(seat).is_some() {
            return Err(Refusal::EntropyAdded { seat });
        }
        Ok(())
    }

    /// Whether somebody has taken the seat.
    pub(super) fn check_joined(&self, seat: Seat) -> Result<(), Refusal> {
        self.check_seat(seat)?;
        if self.has_joined(seat) { Ok(()) } else { Err(Refusal::NotJoined { seat }) }
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

    pub(super) fn check_in(&self, seat: Seat) -> Result<(), Refusal> {
        self.check_seat(seat)?;
        if self.position().is_out(seat) { Err(Refusal::SeatOut { seat }) } else { Ok(()) }
    }

    /// Whether the game has neither begun nor ended; one that was begun elsewhere also where it still
    /// waits for its players.
    pub(super) fn check_unbegun(&self) -> Result<(), Refusal> {
        self.check_running()?;
        if self.is_awaited() { Ok(()) } else { Err(Refusal::AlreadyBegun) }
    }

    /// Whether this entry can tell of what happened before the game came here: only others of the kind
    /// stand between it and the creation.
    pub(super) fn check_import(&self, revision: Revision) -> Result<(), Refusal> {
        self.check_running()?;
        if revision == self.creation().next() { Ok(()) } else { Err(Refusal::AlreadyBegun) }
    }

    /// Whether the seat to move still has time.
    pub(super) fn check_time(&self, now: Millis) -> Result<(), Refusal> {
        match self.deadline() {
            Some(deadline) if now >= deadline => {
                Err(Refusal::TimeIsUp { seat: self.position().to_move() })
            }
            _ => Ok(()),
        }
    }

    /// What has come due.
    pub(super) fn due(&self, now: Millis, limits: &Limits) -> Result<Event, Refusal> {
        self.check_running()?;
        if let Err(Refusal::TimeIsUp { seat }) = self.check_time(now) {
            return Ok(Event::TimedOut(seat));
        }
        match self.schedule(limits).deadline {
            Some(due) if now < due => Err(Refusal::NotDue { due }),
            Some(_) => Ok(Event::ExpiredUnbegun),
            None => Err(Refusal::AlreadyBegun),
        }
    }

    /// Whether the game can be aborted: some seat that is still in has never acted.
    pub(super) fn check_abort(&self, seat: Option<Seat>) -> Result<(), Refusal> {
        self.check_running()?;
        if let Some(seat) = seat {
            self.check_joined(seat)?;
            self.check_in(seat)?;
        }
        if self.acted.covers(self.seats_in()) { Err(Refusal::AbortTooLate) } else { Ok(()) }
    }

    /// Whether the seat is playing: what resigning and every offer needs.
    pub(super) fn check_player(&self, seat: Seat) -> Result<(), Refusal> {
        self.check_active()?;
        self.check_in(seat)
    }

    /// Whether the seat can offer a draw.
    pub(super) fn check_draw_offer(&self, seat: Seat) -> Result<(), Refusal> {
        self.check_player(seat)?;
        if let Some(offer) = self.offers.draw {
            return Err(Refusal::DrawOfferPending { by: offer.by });
        }
        if self.offers.draw_offered.contains(seat) {
            return Err(Refusal::DrawOfferSpent { seat });
        }
        Ok(())
    }

    /// Whether the seat can answer the offer of a draw.
    pub(super) fn check_draw_answer(&self, seat: Seat) -> Result<(), Refusal> {
        self.check_player(seat)?;
        check_answer(&self.offers.draw.ok_or(Refusal::NoDrawOffer)?, seat)
    }

    /// Whether the seat can ask for a takeback, and how many steps of the line would stay.
    pub(super) fn check_takeback(&self, seat: Seat) -> Result<usize, Refusal> {
        self.check_player(seat)?;
        if let Some(takeback) = self.offers.takeback {
            return Err(Refusal::TakebackPending { by: takeback.offer.by });
        }
        if self.offers.takebacks >= MOST_TAKEBACKS {
            return Err(Refusal::TakebackLimit { most: MOST_TAKEBACKS });
        }
        if self.offers.takeback_asked.contains(seat) {
            return Err(Refusal::TakebackSpent { seat });
        }
        if !self.acted.contains(seat) {
            return Err(Refusal::NothingToTakeBack);
        }
        self.line.before_last_turn_of(seat)
    }

    /// Whether the seat can answer the request to take back.
    pub(super) fn check_takeback_answer(&self, seat: Seat) -> Result<(), Refusal> {
        self.check_player(seat)?;
        check_answer(&self.offers.takeback.ok_or(Refusal::NoTakebackRequest)?.offer, seat)
    }

    /// Whether a rematch can be made.
    pub(super) fn check_new_rematch(&self) -> Result<(), Refusal> {
        self.check_rematch()?;
        if self.rematch().is_some() { Err(Refusal::RematchMade) } else { Ok(()) }
    }
}

impl Game {
    /// Whether the platform can end the game so.
    pub(super) fn check_ruling(&self, ruling: &Ruling) -> Result<(), Refusal> {
        self.check_running()?;
        match ruling {
            Ruling::Places(places) => Ok(self.referee.check_places(places)?),
            Ruling::Aborted => Ok(()),
        }
    }

    /// Whether a seat can have its player's id erased. A log that is replayed has been through it
    /// already, so whether there is an id is for whoever asks.
    pub(super) fn check_erasure(&self, seat: Seat) -> Result<(), Refusal> {
        self.check_seat(seat)
    }
}

fn check_answer(offer: &Offer, seat: Seat) -> Result<(), Refusal> {
    if offer.by == seat {
        Err(Refusal::OwnOffer { seat })
    } else if offer.accepted.contains(seat) {
        Err(Refusal::OfferAnswered { seat })
    } else {
        Ok(())
    }
}
