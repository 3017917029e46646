//! What each entry of a log does to a game.

use super::event::{Entry, Event, Ruling};
use super::import::Happening;
use super::offers::{Offer, Takeback};
use super::refusal::Refusal;
use super::replay::Contradiction;
use super::revision::Revision;
use super::seat_set::SeatSet;
use super::state::{Deed, Game, GameState, Moment};
use super::time::Millis;
use crate::rules::{Action, EndReason, LeaveReason, PlayError, Played, Seat};

/// Why an entry could not have happened.
enum Impossible {
    Refused(Refusal),
    /// What it turned up cannot lie on the square.
    Deal(crate::rules::Square),
}

impl From<Refusal> for Impossible {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Game {
    /// Does what an entry says that happened.
    pub(super) fn step(&mut self, entry: &Entry) -> Result<(), Contradiction> {
        let turn = (self.position().to_move(), self.position().turn_number());
        let departures = self.referee.departures().len();
        self.last_deed = self.happen(entry).map_err(|impossible| {
            let revision = entry.version.revision;
            match impossible {
                Impossible::Refused(refusal) => Contradiction::Refused { revision, refusal },
                Impossible::Deal(square) => Contradiction::Deal { revision, square },
            }
        })?;
        if self.referee.departures().len() > departures {
            self.offers.lapse();
        }
        let moment = Moment { revision: entry.version.revision, at: entry.at };
        self.turn_clocks(turn, moment, matches!(entry.event, Event::Imported(_)));
        self.begin_if_ready(moment);
        Ok(())
    }

    fn happen(&mut self, entry: &Entry) -> Result<Deed, Impossible> {
        if !matches!(entry.event, Event::TimedOut(_)) {
            self.check_time(entry.at)?;
        }
        Ok(match &entry.event {
            Event::Created => return Err(Refusal::GameExists.into()),
            Event::Joined { seat, entropy } => {
                self.check_join(*seat, entropy.is_some())?;
                let seated = &mut self.seated[seat.index()];
                seated.joined = true;
                seated.entropy.clone_from(entropy);
                Deed::of(*seat)
            }
            Event::EntropyAdded { seat, entropy } => {
                self.check_entropy(*seat)?;
                self.seated[seat.index()].entropy = Some(entropy.clone());
                Deed::of(*seat)
            }
            Event::Played(action) => {
                let played = self.play(*action)?;
                Deed { played: Some(played), ..Deed::of(played.seat) }
            }
            Event::Resigned(seat) => {
                self.check_player(*seat)?;
                self.leave(*seat, LeaveReason::Resignation)
            }
            Event::TimedOut(seat) => {
                self.check_player(*seat)?;
                if self.check_time(entry.at) != Err(Refusal::TimeIsUp { seat: *seat }) {
                    let due = self.deadline().unwrap_or(Millis(u64::MAX));
                    return Err(Refusal::NotDue { due }.into());
                }
                self.leave(*seat, self.clocks.lapse(*seat))
            }
            Event::ExpiredUnbegun => {
                self.check_unbegun()?;
                self.referee.end(EndReason::Aborted);
                Deed::NOBODYS
            }
            Event::Aborted(seat) => {
                self.check_abort(*seat)?;
                self.referee.end(EndReason::Aborted);
                seat.map_or(Deed::NOBODYS, Deed::of)
            }
            Event::DrawOffered(seat) => {
                self.check_draw_offer(*seat)?;
                self.offers.draw = Some(Offer::by(*seat));
                self.offers.draw_offered.insert(*seat);
                Deed::of(*seat)
            }
            Event::DrawAnswered { seat, accepted } => self.answer_draw(*seat, *accepted)?,
            Event::TakebackAsked(seat) => {
                let keep = self.check_takeback(*seat)?;
                self.offers.takeback = Some(Takeback { offer: Offer::by(*seat), keep });
                self.offers.takeback_asked.insert(*seat);
                Deed::of(*seat)
            }
            Event::TakebackAnswered { seat, accepted } => {
                self.answer_takeback(*seat, *accepted, entry.at)?
            }
            Event::TokenReissued(seat) => {
                self.check_joined(*seat)?;
                self.seated[seat.index()].generation += 1;
                Deed::of(*seat)
            }
            Event::Imported(happening) => self.imported(happening, entry.version.revision)?,
            Event::RematchMade(id) => {
                self.check_new_rematch()?;
                self.rematch = Some(id.clone());
                Deed::NOBODYS
            }
            Event::Adjudicated(ruling) => {
                self.end_as(ruling)?;
                Deed::NOBODYS
            }
            Event::PlayerErased(seat) => {
                self.check_erasure(*seat)?;
                Deed::NOBODYS
            }
        })
    }

    /// What happened before the game came here: nobody needs to have joined for it.
    fn imported(&mut self, happening: &Happening, revision: Revision) -> Result<Deed, Impossible> {
        self.check_import(revision)?;
        self.imported += 1;
        Ok(match *happening {
            Happening::Acted(action) => {
                let played = self.act(action)?;
                Deed { played: Some(played), ..Deed::of(played.seat) }
            }
            Happening::Left { seat, reason } => {
                self.check_in(seat)?;
                self.leave(seat, reason)
            }
            Happening::Agreed => {
                self.referee.end(EndReason::Agreement);
                Deed::NOBODYS
            }
            Happening::Ended(ref ruling) => {
                self.end_as(ruling)?;
                Deed::NOBODYS
            }
        })
    }

    /// Ends the game as the platform says.
    fn end_as(&mut self, ruling: &Ruling) -> Result<(), Refusal> {
        self.check_ruling(ruling)?;
        match ruling {
            Ruling::Places(places) => self.referee.adjudicate(places).map_err(Refusal::Places),
            Ruling::Aborted => {
                self.referee.end(EndReason::Aborted);
                Ok(())
            }
        }
    }

    fn play(&mut self, action: Action) -> Result<Played, Impossible> {
        self.check_active()?;
        self.act(action)
    }

    fn act(&mut self, action: Action) -> Result<Played, Impossible> {
        let departures = self.referee.departures().len();
        let deal = match self.deal.take() {
            Some(deal) => deal,
            None => self.secret_deal(),
        };
        let result = self.referee.play(action, |square| deal.at(square));
        self.deal = Some(deal);
        let played = result.map_err(|error| match error {
            PlayError::Illegal(reason) => Refusal::Illegal(reason).into(),
            PlayError::UnknownPiece { square } | PlayError::ImpossiblePiece { square, .. } => {
                Impossible::Deal(square)
            }
        })?;
        self.last_action = Some(played);
        self.acted.insert(played.seat);
        self.line.acted(&played, self.referee.departures().len() > departures);
        self.offers.acted(played.seat);
        Ok(played)
    }

    fn leave(&mut self, seat: Seat, reason: LeaveReason) -> Deed {
        self.referee.leave(seat, reason.into());
        self.line.left(seat, reason);
        Deed { left: Some(reason), ..Deed::of(seat) }
    }

    fn answer_draw(&mut self, seat: Seat, accepted: bool) -> Result<Deed, Impossible> {
        self.check_draw_answer(seat)?;
        let offer = self.offers.draw.take().filter(|_| accepted);
        if let Some(mut offer) = offer {
            offer.accepted.insert(seat);
            if self.is_agreed(&offer) {
                self.referee.end(EndReason::Agreement);
            } else {
                self.offers.draw = Some(offer);
            }
        }
        Ok(Deed::of(seat))
    }

    fn answer_takeback(
        &mut self,
        seat: Seat,
        accepted: bool,
        at: Millis,
    ) -> Result<Deed, Impossible> {
        self.check_takeback_answer(seat)?;
        let takeback = self.offers.takeback.take().filter(|_| accepted);
        let mut deed = Deed::of(seat);
        if let Some(mut takeback) = takeback {
            takeback.offer.accepted.insert(seat);
            if self.is_agreed(&takeback.offer) {
                deed.undone = self.take_back(takeback.keep, at)?;
            } else {
                self.offers.takeback = Some(takeback);
            }
        }
        Ok(deed)
    }

    /// Whether all other seats that are still in have accepted.
    fn is_agreed(&self, offer: &Offer) -> bool {
        let others: SeatSet = self.seats_in().iter().filter(|seat| *seat != offer.by).collect();
        offer.accepted.covers(others)
    }

    /// The position as before some turns. What they took of the clocks stays spent.
    fn take_back(&mut self, keep: usize, at: Millis) -> Result<u32, Impossible> {
        self.clocks.stop(self.position().to_move(), at);
        let deal = self.secret_deal();
        let rewound = self.line.rewind(keep, self.stored.facts.referee_at_start(), &deal);
        let (referee, last_action, undone) = rewound.ok_or(Refusal::NothingToTakeBack)?;
        self.referee = referee;
        self.last_action = last_action;
        self.offers.taken_back();
        self.clocks.begin_turn(at);
        Ok(undone)
    }

    /// Lets the clocks follow the turn. `before` is whose turn it was, and the number of that turn. A
    /// turn of before the game came here is none that a clock knows of.
    fn turn_clocks(&mut self, before: (Seat, u32), moment: Moment, imported: bool) {
        let at = moment.at;
        self.stored.outcome = self.referee.outcome().cloned();
        let (seat, number) = before;
        if self.ended.is_some() {
            return;
        }
        if self.stored.outcome.is_some() {
            self.clocks.stop(seat, at);
            self.offers.lapse();
            self.ended = Some(moment);
        } else if self.position().turn_number() > number && !imported {
            if self.position().is_out(seat) {
                self.clocks.stop(seat, at);
            } else {
                self.clocks.complete_turn(seat, at);
            }
            self.clocks.begin_turn(at);
        }
    }

    /// Begins the first turn when every seat is ready.
    pub(super) fn begin_if_ready(&mut self, moment: Moment) {
        if self.started.is_none() && self.state() == GameState::Active {
            self.started = Some(moment);
            self.clocks.begin_turn(moment.at);
        }
    }
}
