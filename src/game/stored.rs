//! What is kept of a game: everything else comes from replaying its log.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::sync::Arc;

use arrayvec::ArrayVec;

use super::deal::DealSource;
use super::id::GameId;
use super::log::Log;
use super::request::Requests;
use super::seats::StoredSeat;
use super::secret::GameKey;
use super::series::Series;
use super::time_control::TimeControl;
use crate::rules::{Outcome, Referee, RuleSet, Seat};

/// Which engine replays a log. It rises when a release would play some log differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EngineVersion(pub u32);

impl EngineVersion {
    /// The engine of this release.
    pub const CURRENT: Self = Self(1);
}

/// Who may read a game without a seat in it, before it has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Spectators {
    /// Everyone, as it is played.
    #[default]
    Open,
    /// Everyone, so many turns late.
    Delayed {
        /// How many.
        turns: NonZeroU16,
    },
    /// Nobody.
    Hidden,
}

/// What never changes in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The engine that its log is replayed by.
    pub engine: EngineVersion,
    /// The rules, spelled out, so that a changed preset changes no game.
    pub rules: RuleSet,
    /// Where the deal comes from.
    pub deal: DealSource,
    /// What its seat tokens are derived from.
    pub key: GameKey,
    /// Whether it waits for every seat's entropy.
    pub entropy_required: bool,
    /// Who may read it without a seat.
    pub spectators: Spectators,
    /// The creator's own labels.
    pub labels: BTreeMap<String, String>,
    /// How much time the seats have.
    pub time_control: TimeControl,
    /// The series that it goes on with, where it is a rematch.
    pub series: Option<Series>,
}

impl Facts {
    /// A referee at the start of the game.
    pub(super) fn referee_at_start(&self) -> Referee {
        let start = match &self.deal {
            DealSource::Given(given) => given.start.as_ref(),
            DealSource::Derived(_) => None,
        };
        match start {
            None => Referee::new(&self.rules),
            Some(start) => Referee::from_position(&self.rules, start.clone()),
        }
    }
}

/// A game as it is stored. Its id is the key that it is stored under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGame {
    /// Its id.
    pub id: GameId,
    /// What never changes.
    pub facts: Arc<Facts>,
    /// The seats, in order; as many as the rules say.
    pub seats: ArrayVec<StoredSeat, { Seat::MAX }>,
    /// What happened.
    pub log: Log,
    /// The requests that are safe to repeat.
    pub requests: Requests,
    /// How it ended, once it has.
    pub outcome: Option<Outcome>,
}
