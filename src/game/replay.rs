//! Replaying a log: the only way in which a game comes to its state.

use std::sync::Arc;

use super::clocks::Clocks;
use super::command::Change;
use super::deal::DealSource;
use super::event::{Entry, Event};
use super::line::Line;
use super::offers::Offers;
use super::refusal::Refusal;
use super::request::Request;
use super::revision::{Revision, Version};
use super::seat_set::SeatSet;
use super::seats::Claim;
use super::state::{Deed, Game, Moment, Seated};
use super::stored::{EngineVersion, StoredGame};
use crate::rules::{Outcome, Square};

/// A stored game that contradicts itself. Nothing may be played on it and nothing patched over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// A newer engine played it.
    #[error("engine {} played this game, and this release knows those up to {}", .found.0, .known.0)]
    NewerEngine {
        /// The one that played it.
        found: EngineVersion,
        /// The newest known.
        known: EngineVersion,
    },
    /// The seats are not as many as the rules say.
    #[error("{stored} seats are stored, but the rules say {rules}")]
    Seats {
        /// How many are stored.
        stored: usize,
        /// How many the rules say.
        rules: u8,
    },
    /// The given deal does not fit the start. What lies where is hidden, so it is not told.
    #[error("the given deal is not one of the start's")]
    Start,
    /// An entry of the log could not have happened.
    #[error("revision {revision} could not have happened: {refusal}")]
    Refused {
        /// Which entry.
        revision: Revision,
        /// Why not.
        refusal: Refusal,
    },
    /// An action that turned up what cannot lie there. What lies there is hidden, so it is not
    /// told.
    #[error("revision {revision} contradicts the deal: what lies on {square} cannot lie there")]
    Deal {
        /// Which entry.
        revision: Revision,
        /// The square that it turned up.
        square: Square,
    },
    /// The stored result is not what the log comes to.
    #[error("the stored result is {stored:?}, but the log comes to {replayed:?}")]
    Outcome {
        /// What is stored.
        stored: Option<Outcome>,
        /// What the log comes to.
        replayed: Option<Outcome>,
    },
    /// A change that was decided for another version.
    #[error("the change was decided for {decided:?}, but the game stands at {standing:?}")]
    Stale {
        /// What it was decided for.
        decided: Version,
        /// What stands.
        standing: Version,
    },
}

impl Game {
    /// The game at its first revision, whatever the log has besides. It has no result yet, unless it
    /// starts where it is over.
    pub(super) fn begin(mut stored: StoredGame) -> Self {
        let referee = stored.facts.referee_at_start();
        stored.outcome = referee.outcome().cloned();
        let seated = stored
            .seats
            .iter()
            .map(|seat| Seated { joined: seat.claim == Claim::Assigned, ..Seated::default() })
            .collect();
        let deal = match &stored.facts.deal {
            DealSource::Given(given) => Some(given.hidden.clone()),
            DealSource::Derived(_) => None,
        };
        let mut game = Self {
            referee,
            deal,
            seated,
            started: None,
            ended: None,
            clocks: Clocks::new(stored.facts.time_control),
            offers: Offers::default(),
            line: Line::default(),
            acted: SeatSet::EMPTY,
            imported: 0,
            rematch: None,
            last_deed: Deed::NOBODYS,
            last_action: None,
            stored,
        };
        let moment = Moment { revision: Revision(1), at: game.created_at() };
        game.ended = game.outcome().is_some().then_some(moment);
        game.begin_if_ready(moment);
        game
    }

    /// The game that a stored record is.
    ///
    /// # Errors
    /// Where the record contradicts itself.
    pub fn replay(mut stored: StoredGame) -> Result<Self, Contradiction> {
        let facts = &stored.facts;
        if facts.engine > EngineVersion::CURRENT {
            let known = EngineVersion::CURRENT;
            return Err(Contradiction::NewerEngine { found: facts.engine, known });
        }
        if stored.seats.len() != usize::from(facts.rules.seats()) {
            let rules = facts.rules.seats();
            return Err(Contradiction::Seats { stored: stored.seats.len(), rules });
        }
        if let DealSource::Given(given) = &facts.deal
            && given.check(&facts.rules).is_err()
        {
            return Err(Contradiction::Start);
        }
        // A game begins without a result; what the log comes to is compared with what was stored.
        let outcome = stored.outcome.take();
        Self::replayed(stored)?.expect_outcome(outcome)
    }

    /// What the log comes to.
    fn replayed(stored: StoredGame) -> Result<Self, Contradiction> {
        let log = stored.log.clone();
        let mut game = Self::begin(stored);
        log.entries().skip(1).try_for_each(|entry| game.step(&entry))?;
        Ok(game)
    }

    /// The game that a stored record is, where the record goes on from this game; costs only what
    /// was added. Falls back on [`Game::replay`] where it does not go on.
    ///
    /// # Errors
    /// Where the record contradicts itself.
    pub fn catch_up(&self, mut stored: StoredGame) -> Result<Self, Contradiction> {
        let known = &self.stored;
        let same = stored.id == known.id
            && stored.log.bytes().starts_with(known.log.bytes())
            && stored.log.origin() == known.log.origin()
            && stored.seats.len() == known.seats.len()
            && stored.facts == known.facts;
        if !same {
            return Self::replay(stored);
        }
        let outcome = stored.outcome.take();
        stored.facts = Arc::clone(&known.facts);
        let log = stored.log.clone();
        let mut game = Self {
            stored: StoredGame { outcome: known.outcome.clone(), ..stored },
            ..self.clone()
        };
        log.entries_after(&known.log).try_for_each(|entry| game.step(&entry))?;
        game.expect_outcome(outcome)
    }

    fn expect_outcome(self, stored: Option<Outcome>) -> Result<Self, Contradiction> {
        if self.stored.outcome == stored {
            Ok(self)
        } else {
            Err(Contradiction::Outcome { stored, replayed: self.stored.outcome })
        }
    }

    /// This game as it was at a revision: what a repeated request is answered with. `None` for 0 and
    /// for a revision still to come. Replays the log up to there.
    pub fn as_at(&self, revision: Revision) -> Option<Self> {
        if revision == self.version().revision {
            return Some(self.clone());
        }
        let log = self.stored.log.cut(revision)?;
        let requests = self.stored.requests.cut(revision);
        // Every beginning of a log that replays does so too, to an outcome of its own.
        let stored = StoredGame { log, requests, outcome: None, ..self.stored.clone() };
        Self::replayed(stored).ok()
    }

    /// The log and what each entry did, the first one first. What they did is not kept: this
    /// replays the log.
    pub fn entries(&self) -> impl Iterator<Item = (Entry, Deed)> + '_ {
        let mut game = Self::begin(StoredGame { outcome: None, ..self.stored.clone() });
        self.stored.log.entries().map_while(move |entry| {
            // The first entry, the creation, is what the game begins with. The log was replayed
            // when this game was made, so no entry is refused.
            if entry.event != Event::Created {
                game.step(&entry).ok()?;
            }
            Some((entry, game.last_deed))
        })
    }

    /// The game after a change, with the request that asked for it remembered.
    ///
    /// # Errors
    /// Where the change was decided for another version, or a given deal contradicts the position.
    pub fn after(&self, change: &Change, request: Option<Request>) -> Result<Self, Contradiction> {
        if change.decided_for != self.version() {
            let (decided, standing) = (change.decided_for, self.version());
            return Err(Contradiction::Stale { decided, standing });
        }
        let mut game = self.clone();
        let log = &mut game.stored.log;
        log.push(&change.event, change.at);
        let (version, at) = (log.version(), log.last_at());
        match change.event {
            Event::Joined { seat, .. } => {
                if let Some(stored) = game.stored.seats.get_mut(seat.index())
                    && stored.claim == Claim::Open
                {
                    stored.player.clone_from(&change.player);
                }
            }
            Event::PlayerErased(seat) => {
                if let Some(stored) = game.stored.seats.get_mut(seat.index()) {
                    stored.player = None;
                }
            }
            _ => {}
        }
        if let Some(request) = request {
            let lasting = matches!(change.event, Event::Joined { .. });
            game.stored.requests.remember(request, version.revision, lasting);
        }
        game.step(&Entry { version, at, event: change.event.clone() })?;
        Ok(game)
    }
}
