//! How games end: what is checked after an action and after a turn (`RULES.md` §2.6, §4 and §7),
//! and what happens when a seat leaves.

use arrayvec::ArrayVec;

use super::outcome::{Departure, EndReason, Outcome, PlacesError};
use super::perpetual::sole_attacker;
use super::record::Record;
use super::referee::{Played, Referee};
use super::repetition::QuietTurn;
use super::rule_set::RepetitionRule;
use super::seat::Seat;

impl Referee {
    /// Checks what an action brought about, and passes the turn where it is over.
    #[inline]
    pub(super) fn settle(&mut self, played: &Played) {
        let in_chain = self.position.chain.take().is_some();
        if !played.record.is_quiet() {
            self.position.quiet_turns = 0;
            self.drop_seats_without_pieces();
            if self.outcome.is_some() {
                // Only a flip's end shows the turn as passed: it gave the last seat in the win.
                if matches!(played.record, Record::Flip { .. }) {
                    self.count_turn(false);
                    self.position.to_move = self.next_seat_in(played.seat);
                }
                return;
            }
            if self.goes_on_as_chain(&played.record) {
                return;
            }
        }
        let quiet = match played.record {
            Record::Move { from, to } => Some(QuietTurn { seat: played.seat, from, to }),
            _ => None,
        };
        self.end_chase_turn(played.seat, quiet);
        self.count_turn(quiet.is_some() && !in_chain);
        let seats_in = self.seats_in();
        self.hand_turn_to(played.seat.next(self.position.seats));
        if self.outcome.is_some() {
            return;
        }
        if self.counts_standings() {
            match (quiet, played.piece) {
                (Some(turn), Some(piece)) if self.seats_in() == seats_in => {
                    self.standings.add(turn, piece.index(), self.position.to_move);
                    self.judge_repetition();
                }
                _ => self.standings.restart(self.position.to_move),
            }
        }
        self.judge_quiet_limit();
    }

    /// A seat leaves: it resigned, or its time ran out. Of two the other wins; of four it is out
    /// (`RULES.md` §7). Nothing happens where the seat is out already or the game is over.
    pub fn leave(&mut self, seat: Seat, reason: EndReason) {
        if self.outcome.is_some() || self.position.is_out(seat) {
            return;
        }
        self.depart(&[seat], reason);
        if self.position.seats == 2 {
            return;
        }
        let on_its_turn = seat == self.position.to_move;
        if on_its_turn {
            let in_chain = self.position.chain.take().is_some();
            self.end_chase_turn(seat, None);
            self.count_turn(!in_chain);
            let next = self.next_seat_in(seat);
            if self.outcome.is_some() {
                self.position.to_move = next;
                return;
            }
            self.hand_turn_to(next);
        }
        self.standings.restart(self.position.to_move);
        self.judge_quiet_limit();
    }

    /// Ends the game by agreement (a draw of all seats that are in) or as aborted (no places).
    /// Nothing happens where it is over already.
    pub fn end(&mut self, reason: EndReason) {
        if self.outcome.is_none() {
            self.finish(reason);
            if let (EndReason::Aborted, Some(outcome)) = (reason, &mut self.outcome) {
                outcome.places.clear();
            }
        }
    }

    /// Ends the game with places that whoever runs it gives; those of seats that are out stay as they
    /// are. Nothing happens where the game is over already.
    ///
    /// # Errors
    /// The first seat whose place cannot be that one: because it is out and has another, or because
    /// the places are not those of so many seats.
    pub fn adjudicate(&mut self, places: &[u8]) -> Result<(), PlacesError> {
        self.check_places(places)?;
        if self.outcome.is_none() {
            let places = places.iter().copied().collect();
            self.outcome = Some(Outcome { reason: EndReason::Adjudicated, places });
        }
        Ok(())
    }

    /// Whether the game can end with these places.
    ///
    /// # Errors
    /// As [`Self::adjudicate`].
    pub fn check_places(&self, places: &[u8]) -> Result<(), PlacesError> {
        let seats = self.position.seats;
        if places.len() != usize::from(seats) {
            return Err(PlacesError::Count { given: places.len(), seats });
        }
        if !Outcome::is_ranking(places) {
            return Err(PlacesError::NoRanking);
        }
        for (seat, &place) in Seat::first(seats).zip(places) {
            let has = self.places[seat.index()];
            if self.position.is_out(seat) && place != has {
                return Err(PlacesError::Out { seat, has });
            }
        }
        Ok(())
    }

    /// Judges a given position as after a turn (`RULES.md` §9).
    pub(super) fn judge_given_position(&mut self) {
        let seats_in = self.seats_in();
        for seat in Seat::first(self.position.seats) {
            if self.position.is_out(seat) {
                self.places[seat.index()] = seats_in + 1;
            }
        }
        if seats_in == 1 {
            self.finish(EndReason::LastStanding);
            return;
        }
        self.drop_seats_without_pieces();
        if self.outcome.is_some() {
            return;
        }
        self.hand_turn_to(self.position.to_move);
        if self.outcome.is_some() {
            return;
        }
        self.standings.restart(self.position.to_move);
        self.judge_quiet_limit();
    }

    /// Whether the capture is followed by another of the same piece (`RULES.md` §5).
    #[inline]
    fn goes_on_as_chain(&mut self, record: &Record) -> bool {
        let Record::Capture { to, .. } = *record else { return false };
        if !self.rules.set.chain()
            || self.position.captures_from(&self.rules.captures, to).is_empty()
        {
            return false;
        }
        self.position.chain = Some(to);
        true
    }

    #[inline]
    fn end_chase_turn(&mut self, seat: Seat, quiet: Option<QuietTurn>) {
        if self.rules.set.chase_limit() == 0 {
            return;
        }
        let prey = quiet.and_then(|turn| {
            self.chases.prey_of(&self.rules.captures, &self.position, seat, turn.to)
        });
        self.chases.turn_over(seat, prey);
    }

    #[inline]
    fn count_turn(&mut self, quiet: bool) {
        let position = &mut self.position;
        position.turn_number = position.turn_number.saturating_add(1);
        if quiet {
            position.quiet_turns = position.quiet_turns.saturating_add(1);
        }
    }

    /// Gives the turn to the first seat from `first` on that is in and can act, and puts out those
    /// that cannot. After an end the turn is with the last seat that could not.
    #[inline]
    fn hand_turn_to(&mut self, first: Seat) {
        let mut seat = first;
        loop {
            if !self.position.is_out(seat) {
                self.position.to_move = seat;
                if self.position.chain.is_some() || self.legal().any() {
                    return;
                }
                self.depart(&[seat], EndReason::NoLegalTurn);
                if self.outcome.is_some() {
                    return;
                }
            }
            seat = seat.next(self.position.seats);
        }
    }

    fn next_seat_in(&self, seat: Seat) -> Seat {
        let mut next = seat.next(self.position.seats);
        while self.position.is_out(next) && next != seat {
            next = next.next(self.position.seats);
        }
        next
    }

    /// How many seats are not out. Of two seats, both are in until the end.
    #[inline]
    fn seats_in(&self) -> u8 {
        Seat::first(self.position.seats).filter(|&seat| !self.position.is_out(seat)).count() as u8
    }

    #[inline]
    fn drop_seats_without_pieces(&mut self) {
        let fallen: ArrayVec<Seat, { Seat::MAX }> = Seat::first(self.position.seats)
            .filter(|&seat| !self.position.is_out(seat) && self.position.has_no_piece(seat))
            .collect();
        if !fallen.is_empty() {
            self.depart(&fallen, EndReason::AllCaptured);
        }
    }

    /// Puts seats out by one action; they share the better place. Ends the game if at most one is
    /// left.
    fn depart(&mut self, seats: &[Seat], reason: EndReason) {
        let left = self.seats_in() - seats.len() as u8;
        for &seat in seats {
            self.places[seat.index()] = left + 1;
            self.departures.push(Departure { seat, reason });
            // Of two seats none is shown as out: the game is over.
            self.position.out[seat.index()] = self.position.seats > 2;
        }
        match left {
            0 => self.finish(EndReason::NoPiecesLeft),
            1 if self.position.seats == 2 => self.finish(reason),
            1 => self.finish(EndReason::LastStanding),
            _ => {}
        }
    }

    fn judge_repetition(&mut self) {
        let count = self.rules.set.repetition_count();
        let Some(turns) = self.standings.repeated(&self.position.board, count) else { return };
        let attacker = match self.rules.set.repetition() {
            RepetitionRule::AttackerLoses => {
                sole_attacker(&self.rules.captures, &self.position, turns)
            }
            RepetitionRule::Draw | RepetitionRule::Off => None,
        };
        let Some(attacker) = attacker else {
            self.finish(EndReason::ThreefoldRepetition);
            return;
        };
        self.depart(&[attacker], EndReason::PerpetualAttack);
        if self.outcome.is_none() {
            self.hand_turn_to(self.position.to_move);
            self.standings.restart(self.position.to_move);
        }
    }

    #[inline]
    fn judge_quiet_limit(&mut self) {
        if self.outcome.is_none() && self.position.quiet_turns >= self.rules.set.quiet_limit() {
            self.finish(EndReason::QuietLimit);
        }
    }

    /// Ends the game: the seats that are in take, or share, the first place.
    fn finish(&mut self, reason: EndReason) {
        let places =
            Seat::first(self.position.seats).map(|seat| self.places[seat.index()].max(1)).collect();
        self.outcome = Some(Outcome { reason, places });
    }
}
