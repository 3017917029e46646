//! A game as its record tells it (`RULES.md` §9).

use super::deal::DealSource;
use super::state::{Game, GameState};
use crate::rules::{EndReason, GameRecord, Scribe};

impl Game {
    /// The game written down: what counts, so nothing that was taken back; who sits where; its result
    /// and deal once it has ended, and nothing hidden before. When it was created is for the caller to
    /// say, unless the record that it comes from does.
    pub fn record(&self) -> GameRecord {
        let facts = &self.stored.facts;
        let given = match &facts.deal {
            DealSource::Given(given) => Some(given),
            DealSource::Derived(_) => None,
        };
        let mut scribe = Scribe::new(&facts.rules, given.and_then(|given| given.start.clone()));
        self.line.write(&mut scribe, &self.secret_deal());
        match self.outcome().map(|outcome| (outcome.reason, &outcome.places)) {
            Some((EndReason::Agreement, _)) => scribe.agree(),
            Some((EndReason::Aborted, _)) => scribe.abort(),
            Some((EndReason::Adjudicated, places)) => {
                scribe.adjudicate(places).expect("the game has ended with them");
            }
            _ => {}
        }
        let mut record = scribe.into_record();
        for (seat, player) in self.seats().filter_map(|seat| Some((seat, self.player(seat)?))) {
            record.name_seat(seat, player.as_str()).expect("an id has no control characters");
        }
        if let Some(created) = given.and_then(|given| given.created.as_ref()) {
            record.set_created(created.as_str()).expect("it was read as a time");
        }
        if self.state() == GameState::Finished {
            record.reveal(self.secret_deal()).expect("it is the deal of its start");
        }
        record
    }
}
