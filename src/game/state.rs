//! A game as it stands: its stored record and what replaying the log made of it.

use arrayvec::ArrayVec;

use super::clocks::{Clocks, Reading};
use super::deal::{Commitment, DealSource, derive_deal};
use super::entropy::Entropy;
use super::event::Entry;
use super::id::GameId;
use super::line::Line;
use super::offers::{Offer, Offers, Takeback};
use super::player::PlayerId;
use super::request::{Recall, Request};
use super::revision::{Revision, Version};
use super::seat_set::SeatSet;
use super::seats::Claim;
use super::secret::ServerSeed;
use super::stored::StoredGame;
use super::time::Millis;
use super::time_control::TimeControl;
use super::token::SeatToken;
use crate::rules::{Deal, LeaveReason, Outcome, Played, Position, Referee, RuleSet, Seat};

/// Where a game is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameState {
    /// For players, or for their entropy.
    Waiting,
    /// It is being played.
    Active,
    /// It has ended.
    Finished,
}

/// What replaying knows of a seat.
#[derive(Clone, Debug, Default)]
pub(super) struct Seated {
    pub(super) joined: bool,
    pub(super) entropy: Option<Entropy>,
    /// How many tokens it had before its present one.
    pub(super) generation: u32,
}

/// What one entry of the log did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deed {
    /// The seat that did it; `None` where it was nobody's doing.
    pub by: Option<Seat>,
    /// What an action did.
    pub played: Option<Played>,
    /// How many actions were taken back.
    pub undone: u32,
    /// Why a seat left.
    pub left: Option<LeaveReason>,
}

impl Deed {
    /// What nobody did: the creation, and ends that come with time.
    pub(super) const NOBODYS: Self = Self { by: None, played: None, undone: 0, left: None };

    /// What a seat did besides acting.
    pub(super) const fn of(seat: Seat) -> Self {
        Self { by: Some(seat), ..Self::NOBODYS }
    }
}

/// When something happened, and in which revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) revision: Revision,
    pub(super) at: Millis,
}

/// What others follow of a game's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Milestone {
    /// It was created.
    Created,
    /// Every seat was ready and play could begin.
    Started,
    /// It ended.
    Ended,
}

/// One hosted game. It changes only through [`decide`](super::decide) and [`Game::after`]; cloning
/// it copies a few kilobytes and shares the rest.
#[derive(Clone, Debug)]
pub struct Game {
    pub(super) stored: StoredGame,
    pub(super) referee: Referee,
    /// The deal, once an action was played or where it was given.
    pub(super) deal: Option<Deal>,
    pub(super) seated: ArrayVec<Seated, { Seat::MAX }>,
    pub(super) started: Option<Moment>,
    pub(super) ended: Option<Moment>,
    pub(super) clocks: Clocks,
    pub(super) offers: Offers,
    pub(super) line: Line,
    /// The seats that have ever acted, also where that was taken back.
    pub(super) acted: SeatSet,
    /// How many entries of the log tell what happened before the game came here.
    pub(super) imported: u64,
    pub(super) rematch: Option<GameId>,
    pub(super) last_deed: Deed,
    pub(super) last_action: Option<Played>,
}

impl Game {
    /// Its id.
    pub fn id(&self) -> &GameId {
        &self.stored.id
    }

    /// What is stored of it.
    pub fn stored(&self) -> &StoredGame {
        &self.stored
    }

    /// Revision and history.
    pub fn version(&self) -> Version {
        self.stored.log.version()
    }

    /// Its rules.
    pub fn rules(&self) -> &RuleSet {
        &self.stored.facts.rules
    }

    /// The referee: position, legal actions and departures. Nothing hidden is in it.
    pub fn referee(&self) -> &Referee {
        &self.referee
    }

    /// What everyone can see of the board.
    pub fn position(&self) -> &Position {
        self.referee.position()
    }

    /// Where it is in its life.
    pub fn state(&self) -> GameState {
        let awaited = |seat: &Seated| {
            !seat.joined || self.stored.facts.entropy_required && seat.entropy.is_none()
        };
        if self.outcome().is_some() {
            GameState::Finished
        } else if self.seated.iter().any(awaited) {
            GameState::Waiting
        } else {
            GameState::Active
        }
    }

    /// How it ended, once it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.stored.outcome.as_ref()
    }

    /// Its seats, in order.
    pub fn seats(&self) -> impl DoubleEndedIterator<Item = Seat> + ExactSizeIterator + use<> {
        Seat::first(self.rules().seats())
    }

    /// Whether the game has this seat.
    pub fn has_seat(&self, seat: Seat) -> bool {
        seat.number() <= self.rules().seats()
    }

    /// How a seat is claimed; `None` for a seat that the game does not have.
    pub fn claim(&self, seat: Seat) -> Option<Claim> {
        self.stored.seats.get(seat.index()).map(|seat| seat.claim)
    }

    /// Whether the seat's player is there.
    pub fn has_joined(&self, seat: Seat) -> bool {
        self.seated.get(seat.index()).is_some_and(|seated| seated.joined)
    }

    /// Who sits there, or whom it is reserved for.
    pub fn player(&self, seat: Seat) -> Option<&PlayerId> {
        let stored = self.stored.seats.get(seat.index())?;
        // A record cut back to before a join still has the id that the join brought.
        let known = self.has_joined(seat) || stored.claim != Claim::Open;
        stored.player.as_ref().filter(|_| known)
    }

    /// What the seat's player added to the deal.
    pub fn entropy(&self, seat: Seat) -> Option<&Entropy> {
        self.seated.get(seat.index())?.entropy.as_ref()
    }

    /// The promise that the deal was not chosen after the players' entropy; `None` for a given deal.
    pub fn commitment(&self) -> Option<Commitment> {
        match &self.stored.facts.deal {
            DealSource::Derived(seed) => Some(Commitment::to(seed)),
            DealSource::Given(_) => None,
        }
    }

    /// The seed that the deal was derived from; `None` until the game has ended, and for a given
    /// deal.
    pub fn revealed_seed(&self) -> Option<&ServerSeed> {
        match &self.stored.facts.deal {
            DealSource::Derived(seed) if self.state() == GameState::Finished => Some(seed),
            _ => None,
        }
    }

    /// What lay where; `None` until the game has ended.
    pub fn revealed_deal(&self) -> Option<Deal> {
        (self.state() == GameState::Finished).then(|| self.secret_deal())
    }

    /// Seed and deal, whether or not the game has ended: only for one that was deleted, so that nobody
    /// plays it any more. No seed for a given deal.
    pub fn disclose(&self) -> (Option<&ServerSeed>, Deal) {
        let seed = match &self.stored.facts.deal {
            DealSource::Derived(seed) => Some(seed),
            DealSource::Given(_) => None,
        };
        (seed, self.secret_deal())
    }

    /// The deal as it is now. Entropy may still change it until an action was played.
    pub(super) fn secret_deal(&self) -> Deal {
        if let Some(deal) = &self.deal {
            return deal.clone();
        }
        match &self.stored.facts.deal {
            DealSource::Given(given) => given.hidden.clone(),
            DealSource::Derived(seed) => derive_deal(
                self.rules().board_size(),
                self.id(),
                seed,
                self.seated.iter().map(|seated| seated.entropy.as_ref()),
            ),
        }
    }

    /// Whether an action was played, taken back or not.
    pub fn has_begun(&self) -> bool {
        !self.acted.is_empty()
    }

    /// What the last action did that was not taken back.
    pub fn last_action(&self) -> Option<&Played> {
        self.last_action.as_ref()
    }

    /// When it was created.
    pub fn created_at(&self) -> Millis {
        self.stored.log.entries().next().map_or(self.updated_at(), |entry| entry.at)
    }

    /// When it last changed.
    pub fn updated_at(&self) -> Millis {
        self.stored.log.last_at()
    }

    /// When every seat was ready and play could begin.
    pub fn started_at(&self) -> Option<Millis> {
        self.started.map(|moment| moment.at)
    }

    /// When it ended.
    pub fn ended_at(&self) -> Option<Millis> {
        self.ended.map(|moment| moment.at)
    }

    /// What it came to in its life after a revision, in order, with the revision of each.
    pub fn milestones_after(
        &self,
        revision: Revision,
    ) -> impl Iterator<Item = (Milestone, Revision)> {
        let reached = |moment: Option<Moment>| moment.map(|moment| moment.revision);
        [
            (Milestone::Created, Some(Revision(1))),
            (Milestone::Started, reached(self.started)),
            (Milestone::Ended, reached(self.ended)),
        ]
        .into_iter()
        .filter_map(move |(milestone, reached)| {
            Some((milestone, reached.filter(|r| *r > revision)?))
        })
    }

    /// How much time the seats have.
    pub fn time_control(&self) -> &TimeControl {
        &self.stored.facts.time_control
    }

    /// What the clock of a seat showed when the game last changed.
    pub fn clock(&self, seat: Seat) -> Reading {
        self.clocks.reading(seat, self.position().to_move(), self.updated_at())
    }

    /// When the seat to move runs out of time; `None` where no clock runs, or it never does.
    pub fn deadline(&self) -> Option<Millis> {
        self.clocks.deadline(self.position().to_move())
    }

    /// The offer of a draw that stands.
    pub fn draw_offer(&self) -> Option<Offer> {
        self.offers.draw
    }

    /// The request to take back that stands.
    pub fn takeback_request(&self) -> Option<Takeback> {
        self.offers.takeback
    }

    /// What the last entry did.
    pub fn last_deed(&self) -> Deed {
        self.last_deed
    }

    /// The last entry of the log and what it did.
    pub fn last_entry(&self) -> Option<(Entry, Deed)> {
        self.stored.log.entries().last().map(|entry| (entry, self.last_deed))
    }

    /// What is known of a request: to be asked before the etag, the turn and the end are looked at.
    /// A repeated request is answered by the game [as at](Game::as_at) the revision that it made.
    pub fn recall(&self, request: &Request) -> Option<Recall> {
        self.stored.requests.recall(request)
    }

    /// The revision's version; `None` for 0 and for one still to come.
    pub fn version_at(&self, revision: Revision) -> Option<Version> {
        self.stored.log.version_at(revision)
    }

    /// The present token of a seat; `None` for a seat that the game does not have or that nobody has
    /// taken.
    pub fn token(&self, seat: Seat) -> Option<SeatToken> {
        let seated = self.seated.get(seat.index()).filter(|seated| seated.joined)?;
        Some(SeatToken::derive(&self.stored.facts.key, self.id(), seat, seated.generation))
    }

    /// The seat that a token is for, if it is a token of this game and not a dead one.
    pub fn authenticate(&self, token: &SeatToken) -> Option<Seat> {
        self.token(token.seat()).filter(|present| present == token).map(|present| present.seat())
    }
}
