//! Games that were begun elsewhere: what happened there stands in the log, behind the creation and
//! before all that happens here, and takes no time.

use super::create::{NewGame, NewGameFault};
use super::event::{Entry, Event, Ruling};
use super::replay::Contradiction;
use super::revision::Revision;
use super::state::Game;
use super::time::Millis;
use crate::rules::{Action, EndReason, Event as Recorded, GameRecord, LeaveReason, Seat};

/// What happened in a game before it came here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The seat to move acted.
    Acted(Action),
    /// A seat left.
    Left {
        /// Which.
        seat: Seat,
        /// Why.
        reason: LeaveReason,
    },
    /// All seats still in agreed to a draw.
    Agreed,
    /// It was ended from outside: with places, or as aborted.
    Ended(Ruling),
}

impl Happening {
    /// What happened in a recorded game, its end included.
    pub fn all_of(record: &GameRecord) -> Vec<Self> {
        let happening = |event| match event {
            Recorded::Acted(record) => Self::Acted(record.action()),
            Recorded::Left { seat, reason } => Self::Left { seat, reason },
        };
        let end = record.outcome().and_then(|outcome| match outcome.reason {
            EndReason::Agreement => Some(Self::Agreed),
            EndReason::Aborted => Some(Self::Ended(Ruling::Aborted)),
            EndReason::Adjudicated => Some(Self::Ended(Ruling::Places(outcome.places.clone()))),
            _ => None,
        });
        record.entries().iter().map(|entry| happening(entry.event)).chain(end).collect()
    }
}

impl Game {
    /// A game in which all this happened before it was created here. The request that creates it is
    /// remembered for the revision that it comes to.
    ///
    /// # Errors
    /// Every fault at once, where the parts do not fit together; the first thing that cannot have
    /// happened, as a fault of `record`.
    pub fn import(
        mut new: NewGame,
        before: &[Happening],
        now: Millis,
    ) -> Result<Self, Vec<NewGameFault>> {
        let request = new.request.take();
        let mut game = Self::create(new, now)?;
        for (index, happening) in before.iter().enumerate() {
            game.happened(happening.clone(), now).map_err(|contradiction| {
                vec![NewGameFault {
                    field: "record",
                    value: format!("contradicting the rules in its entry {}", index + 1),
                    expected: format!("what can be played ({contradiction})"),
                }]
            })?;
        }
        if let Some(request) = request {
            let revision = game.version().revision;
            game.stored.requests.remember(request, revision, true);
        }
        Ok(game)
    }

    fn happened(&mut self, happening: Happening, now: Millis) -> Result<(), Contradiction> {
        let event = Event::Imported(happening);
        self.stored.log.push(&event, now);
        let (version, at) = (self.stored.log.version(), self.stored.log.last_at());
        self.step(&Entry { version, at, event })
    }

    /// The revision that its creation made: that of the last thing that happened before, if anything
    /// did.
    pub fn creation(&self) -> Revision {
        Revision(1 + self.imported)
    }
}
