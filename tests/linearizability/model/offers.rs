//! Offers of a draw, requests to take back, and what can be taken back.

use std::collections::BTreeSet;

use banqi::rules::{EndReason, Referee};

use super::{Event, Life, Model, Played};

/// An offer that stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) seat: u32,
    pub(super) accepted: BTreeSet<u32>,
}

/// The offers that stand, and who may make no other for now.
#[derive(Clone, Debug, Default)]
pub(super) struct Offers {
    pub(super) draw: Option<Offer>,
    pub(super) takeback: Option<Offer>,
    pub(super) drawn: BTreeSet<u32>,
    pub(super) asked: BTreeSet<u32>,
    pub(super) takebacks: u32,
}

/// One step of play that counts, and how to undo it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Who acted; `None` for a seat that left.
    pub(super) seat: Option<u32>,
    pub(super) turn: u32,
    /// Why it cannot be undone.
    pub(super) fixed: Option<&'static str>,
    pub(super) before: Referee,
    pub(super) last_action: Option<Played>,
}

/// How many takebacks a game sees at most.
const MOST_TAKEBACKS: u32 = 100;

fn refuse<T>(reason: &str) -> Result<T, String> {
    Err(reason.to_owned())
}

impl Model {
    pub(super) fn judge_draw_offer(&self, seat: u32) -> Result<Event, String> {
        self.check_player(seat)?;
        if self.offers.draw.is_some() {
            return refuse("DRAW_OFFER_PENDING");
        }
        if self.offers.drawn.contains(&seat) {
            return refuse("DRAW_OFFER_SPENT");
        }
        Ok(Event::DrawOffered { seat })
    }

    /// Whether a seat can answer an offer; `missing` where there is none.
    pub(super) fn check_answer(
        &self,
        offer: Option<&Offer>,
        seat: u32,
        missing: &str,
    ) -> Result<(), String> {
        self.check_player(seat)?;
        match offer {
            None => refuse(missing),
            Some(offer) if offer.seat == seat => refuse("OWN_OFFER"),
            Some(offer) if offer.accepted.contains(&seat) => refuse("OFFER_ANSWERED"),
            Some(_) => Ok(()),
        }
    }

    pub(super) fn judge_takeback(&self, seat: u32) -> Result<Event, String> {
        self.check_player(seat)?;
        if self.offers.takeback.is_some() {
            return refuse("TAKEBACK_PENDING");
        }
        if self.offers.takebacks >= MOST_TAKEBACKS {
            return refuse("TAKEBACK_LIMIT");
        }
        if self.offers.asked.contains(&seat) {
            return refuse("TAKEBACK_SPENT");
        }
        if !self.acted.contains(&seat) {
            return refuse("NOTHING_TO_TAKE_BACK");
        }
        self.steps_before_last_turn(seat)?;
        Ok(Event::TakebackRequested { seat })
    }

    /// How many steps stand before the last turn of a seat.
    fn steps_before_last_turn(&self, seat: u32) -> Result<usize, String> {
        let its = |step: &Step| step.seat == Some(seat);
        let last = self.steps.iter().rposition(its);
        let turn = last.map(|last| self.steps[last].turn);
        // The turn may have been of several actions.
        let first = self.steps.iter().position(|step| its(step) && Some(step.turn) == turn);
        let undone = &self.steps[first.unwrap_or(0)..];
        if let Some(reason) = undone.iter().rev().find_map(|step| step.fixed) {
            return refuse(reason);
        }
        first.ok_or_else(|| "NOTHING_TO_TAKE_BACK".to_owned())
    }

    pub(super) fn answer_draw(&mut self, seat: u32, accepted: bool) {
        let offer = self.offers.draw.take().filter(|_| accepted);
        if let Some(mut offer) = offer {
            offer.accepted.insert(seat);
            if self.all_accepted(&offer) {
                self.referee.end(EndReason::Agreement);
            } else {
                self.offers.draw = Some(offer);
            }
        }
    }

    pub(super) fn answer_takeback(&mut self, seat: u32, accepted: bool, at: i64) {
        let offer = self.offers.takeback.take().filter(|_| accepted);
        if let Some(mut offer) = offer {
            offer.accepted.insert(seat);
            if self.all_accepted(&offer) {
                let first = self.steps_before_last_turn(offer.seat).expect("it was asked for");
                let step = self.steps[first].clone();
                self.clocks.end(self.seat_to_move(), at, false);
                self.referee = step.before;
                self.last_action = step.last_action;
                self.steps.truncate(first);
                self.offers.draw = None;
                self.offers.asked.clear();
                self.offers.takebacks += 1;
                self.clocks.begin(at);
            } else {
                self.offers.takeback = Some(offer);
            }
        }
    }

    /// Whether all other seats that are still in have accepted.
    fn all_accepted(&self, offer: &Offer) -> bool {
        self.seats_in().all(|seat| seat == offer.seat || offer.accepted.contains(&seat))
    }

    /// A seat acted.
    pub(super) fn end_offers_of(&mut self, seat: u32) {
        self.offers.draw = self.offers.draw.take().filter(|offer| offer.seat != seat);
        self.offers.drawn.remove(&seat);
        self.offers.takeback = None;
        self.offers.asked.clear();
    }

    /// A seat went out, or the game ended.
    pub(super) fn end_all_offers(&mut self) {
        self.offers.draw = None;
        self.offers.takeback = None;
    }

    pub(super) fn judge_abort(&self, seat: Option<u32>) -> Result<Event, String> {
        if self.life() == Life::Finished {
            return refuse("GAME_OVER");
        }
        if let Some(seat) = seat {
            match self.chair(seat) {
                None => return refuse("NO_SUCH_SEAT"),
                Some(chair) if !chair.joined => return refuse("SEAT_NOT_JOINED"),
                Some(_) if !self.seats_in().any(|other| other == seat) => {
                    return refuse("SEAT_OUT");
                }
                Some(_) => {}
            }
        }
        if self.seats_in().all(|seat| self.acted.contains(&seat)) {
            return refuse("ABORT_TOO_LATE");
        }
        Ok(Event::Aborted { seat: seat.unwrap_or(0) })
    }
}
