//! Making a rematch of a game that has ended.

use std::sync::Arc;

use super::deal::DealSource;
use super::id::GameId;
use super::log::Log;
use super::refusal::Refusal;
use super::request::{Request, Requests};
use super::revision::History;
use super::seat_set::SeatSet;
use super::seats::{Claim, StoredSeat};
use super::secret::{GameKey, ServerSeed};
use super::series::FirstSeat;
use super::state::{Game, GameState};
use super::stored::{EngineVersion, Facts, StoredGame};
use super::time::Millis;

/// What a rematch is made of beside the game before: all of it but the id should come from the
/// operating system.
#[derive(Clone, Debug)]
pub struct NewRematch {
    /// Its id.
    pub id: GameId,
    /// What the deal is derived from.
    pub seed: ServerSeed,
    /// What its seat tokens are derived from.
    pub key: GameKey,
    /// Eight random bytes that tell it from every other game of the same id.
    pub origin: History,
    /// Who moves first.
    pub first: FirstSeat,
    /// The seats of the game before that have asked for it.
    pub asked_by: SeatSet,
    /// The request that asked, to be recognised if it is repeated.
    pub request: Option<Request>,
}

impl Game {
    /// The rematch of this game, if there is one.
    pub fn rematch(&self) -> Option<&GameId> {
        self.rematch.as_ref()
    }

    /// Whether a rematch can be asked for.
    ///
    /// # Errors
    /// Why not.
    pub fn check_rematch(&self) -> Result<(), Refusal> {
        if self.state() != GameState::Finished {
            return Err(Refusal::NotOver);
        }
        // A seat that nobody had would wait in the rematch for somebody who cannot ask for it.
        match self.seats().find(|seat| !self.has_joined(*seat)) {
            Some(seat) => Err(Refusal::NotJoined { seat }),
            None => Ok(()),
        }
    }

    /// The rematch of this game at its first revision: the same rules, players and labels, a new
    /// deal. The seats that have asked have theirs; the others have theirs once they ask.
    ///
    /// # Errors
    /// Where the game is not over, or a seat was never taken.
    pub fn new_rematch(&self, new: NewRematch, now: Millis) -> Result<Self, Refusal> {
        self.check_rematch()?;
        let facts = &self.stored.facts;
        let series = self.series_of_rematch(new.first);
        let seats = series.before.iter().map(|&before| StoredSeat {
            claim: if new.asked_by.contains(before) { Claim::Assigned } else { Claim::Rematch },
            player: self.player(before).cloned(),
        });
        let log = Log::begin(new.origin, now);
        let mut requests = Requests::default();
        if let Some(request) = new.request {
            requests.remember(request, log.revision(), true);
        }
        Ok(Self::begin(StoredGame {
            id: new.id,
            seats: seats.collect(),
            facts: Arc::new(Facts {
                engine: EngineVersion::CURRENT,
                rules: facts.rules.clone(),
                deal: DealSource::Derived(new.seed),
                key: new.key,
                entropy_required: facts.entropy_required,
                spectators: facts.spectators,
                labels: facts.labels.clone(),
                time_control: facts.time_control,
                series: Some(series),
            }),
            log,
            requests,
            outcome: None,
        }))
    }
}
