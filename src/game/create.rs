//! Creating a game.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::deal::{DealSource, draw_seating};
use super::id::GameId;
use super::log::Log;
use super::request::{Request, Requests};
use super::revision::History;
use super::seats::{NewSeat, StoredSeat};
use super::secret::GameKey;
use super::state::Game;
use super::stored::{EngineVersion, Facts, Spectators, StoredGame};
use super::time::Millis;
use super::time_control::TimeControl;
use crate::rules::RuleSet;

/// Who sits where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Seating {
    /// In the order given.
    #[default]
    AsGiven,
    /// In an order drawn from the server seed.
    Random,
}

/// Everything that a new game is made of, randomness included: the deal's seed, the key and the
/// origin should come from the operating system.
#[derive(Clone, Debug)]
pub struct NewGame {
    /// Its id.
    pub id: GameId,
    /// Its rules.
    pub rules: RuleSet,
    /// Its seats, as many as the rules say.
    pub seats: Vec<NewSeat>,
    /// Who sits where.
    pub seating: Seating,
    /// Where the deal comes from.
    pub deal: DealSource,
    /// What its seat tokens are derived from.
    pub key: GameKey,
    /// Eight random bytes that tell it from every other game of the same id.
    pub origin: History,
    /// Whether it waits for every seat's entropy.
    pub entropy_required: bool,
    /// Who may read it without a seat.
    pub spectators: Spectators,
    /// The creator's own labels.
    pub labels: BTreeMap<String, String>,
    /// How much time the seats have.
    pub time_control: TimeControl,
    /// The request that creates it, to be recognised if it is repeated.
    pub request: Option<Request>,
}

/// One field of a new game that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is {value}, but must be {expected}")]
pub struct NewGameFault {
    /// The field.
    pub field: &'static str,
    /// What was given.
    pub value: String,
    /// What would be right.
    pub expected: String,
}

impl NewGame {
    fn faults(&self) -> Vec<NewGameFault> {
        let mut faults = Vec::new();
        if self.seats.len() != usize::from(self.rules.seats()) {
            faults.push(NewGameFault {
                field: "seats",
                value: format!("a list of {}", self.seats.len()),
                expected: format!("a list of {}, as the rules say", self.rules.seats()),
            });
        }
        if let DealSource::Given(given) = &self.deal {
            if let Err(fault) = given.check(&self.rules) {
                faults.push(NewGameFault {
                    field: "deal",
                    value: "another one than the start's".to_owned(),
                    expected: format!("what lies face down there ({fault})"),
                });
            }
            if self.seating == Seating::Random {
                faults.push(NewGameFault {
                    field: "seating",
                    value: "RANDOM".to_owned(),
                    expected: "AS_GIVEN with a given deal, which has no seed to draw from"
                        .to_owned(),
                });
            }
            if self.entropy_required {
                faults.push(NewGameFault {
                    field: "entropy_required",
                    value: "true".to_owned(),
                    expected: "false with a given deal, which nothing can be added to".to_owned(),
                });
            }
        }
        faults
    }
}

impl Game {
    /// A game at its first revision.
    ///
    /// # Errors
    /// Every fault at once, where the parts do not fit together.
    pub fn create(new: NewGame, now: Millis) -> Result<Self, Vec<NewGameFault>> {
        let faults = new.faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut seats = new.seats;
        if let (Seating::Random, DealSource::Derived(seed)) = (new.seating, &new.deal) {
            draw_seating(&new.id, seed, &mut seats);
        }
        let log = Log::begin(new.origin, now);
        let mut requests = Requests::default();
        if let Some(request) = new.request {
            requests.remember(request, log.revision(), true);
        }
        let facts = Facts {
            engine: EngineVersion::CURRENT,
            rules: new.rules,
            deal: new.deal,
            key: new.key,
            entropy_required: new.entropy_required,
            spectators: new.spectators,
            labels: new.labels,
            time_control: new.time_control,
            series: None,
        };
        Ok(Self::begin(StoredGame {
            id: new.id,
            facts: Arc::new(facts),
            seats: seats.into_iter().map(StoredSeat::from).collect(),
            log,
            requests,
            outcome: None,
        }))
    }
}
