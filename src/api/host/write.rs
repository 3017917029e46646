//! Changing a game: load, decide, compare-and-set, and again where another was faster.

use std::sync::Arc;

use super::consequences::{milestones, with_consequences};
use super::failed_write::logged;
use super::random::no_randomness;
use super::{Credential, Host, HostedGame, Sight};
use crate::api::callers::Caller;
use crate::api::error::{ApiError, Reason};
use crate::game::{
    Change, Command, Etag, Event, Game, GameId, Millis, Recall, Refusal, Request, Revision,
    Version, decide,
};
use crate::rules::Seat;
use crate::store::{self, Commit, Durability, Outcome, Write};

/// How often a write is decided anew because another one was faster.
const ATTEMPTS: usize = 5;

/// A call's request id, with the name of the request that it was sent with and what was in it
/// (credentials left out).
#[derive(Clone, Debug)]
pub(crate) struct RequestId {
    pub(super) id: String,
    body: Vec<u8>,
    /// The name of the caller's key; empty without keys.
    pub(super) caller: String,
}

impl RequestId {
    pub(crate) fn new(id: String, body: Vec<u8>, caller: &Caller) -> Self {
        Self { id, body, caller: caller.name().to_owned() }
    }

    /// What the game remembers of it. Callers are told apart by the seat that they act for; those
    /// who act for none by their keys.
    pub(super) fn request(&self, seat: Option<Seat>) -> Request {
        Request::new(&self.bytes(&[], seat), seat, &self.id, &self.body)
    }

    /// What a rematch remembers of it, asked by a seat of the game before or by the platform.
    pub(super) fn rematch_request(&self, seat: Option<Seat>) -> Request {
        // A letter more than a seat of the rematch itself; no seat has its number.
        Request::new(&self.bytes(b"r", seat), None, &self.id, &self.body)
    }

    /// What tells the caller from others.
    fn bytes(&self, purpose: &[u8], seat: Option<Seat>) -> Vec<u8> {
        match seat {
            Some(seat) => [purpose, &[seat.number()]].concat(),
            None => [purpose, &[0], self.caller.as_bytes()].concat(),
        }
    }
}

/// One write on a game, as it was asked for.
#[derive(Debug)]
pub(crate) struct Asked<B> {
    pub(crate) game: GameId,
    pub(crate) request_id: Option<RequestId>,
    pub(crate) etag: Option<Etag>,
    pub(crate) by: B,
}

impl<B> Asked<B> {
    /// The same, asked by somebody else.
    pub(crate) fn by<C>(self, who: impl FnOnce(B) -> C) -> Asked<C> {
        let Self { game, request_id, etag, by } = self;
        Asked { game, request_id, etag, by: who(by) }
    }
}

/// Who asks for a write, and so what for.
pub(crate) trait By {
    /// The seat that acts, if one does, and the command.
    fn command(&self, game: &Game) -> Result<(Option<Seat>, Command), ApiError>;

    /// The version of the game that a refusal may tell.
    fn told(&self, game: &Game) -> Option<Version> {
        Some(game.version())
    }

    /// Whether the caller may not be told if this is a version of the game.
    fn is_ahead(&self, _: &Game, _: Version) -> Result<bool, ApiError> {
        Ok(false)
    }
}

/// Somebody without a seat, who is told no more than it sees.
#[derive(Debug)]
pub(crate) struct ByAnyone(pub(crate) Sight, pub(crate) Command);

impl By for ByAnyone {
    fn command(&self, _: &Game) -> Result<(Option<Seat>, Command), ApiError> {
        Ok((None, self.1.clone()))
    }

    fn told(&self, game: &Game) -> Option<Version> {
        self.0.version(game)
    }

    fn is_ahead(&self, game: &Game, version: Version) -> Result<bool, ApiError> {
        let is_ahead = |shown| version.revision > shown;
        Ok(self.0.sees_late(game)? && game.spectator_revision().is_some_and(is_ahead))
    }
}

/// A seat, proven by a credential, or the platform without one; what is
/// asked for is made for it.
#[derive(Debug)]
pub(crate) struct BySeatOrPlatform<C>(pub(crate) Credential, pub(crate) C);

impl<C: Fn(Option<Seat>) -> Command> By for BySeatOrPlatform<C> {
    fn command(&self, game: &Game) -> Result<(Option<Seat>, Command), ApiError> {
        let seat = self.0.seat_or_platform(game)?;
        Ok((seat, (self.1)(seat)))
    }
}

/// A seat, proven by a credential; what it asks for is made for it.
#[derive(Debug)]
pub(crate) struct BySeat<C>(pub(crate) Credential, pub(crate) C);

impl<C: Fn(Seat) -> Command> By for BySeat<C> {
    fn command(&self, game: &Game) -> Result<(Option<Seat>, Command), ApiError> {
        let seat = self.0.seat(game)?;
        Ok((Some(seat), (self.1)(seat)))
    }
}

/// A write that had its effect, now or when it was first asked for.
#[derive(Debug)]
pub(crate) struct Done {
    /// The game as at the revision that the write made.
    pub(crate) game: Arc<HostedGame>,
    /// The shard's time.
    pub(crate) now: Millis,
    /// How many replicas of the store have it, where this call wrote it and writes wait for some.
    pub(crate) durability: Option<Durability>,
}

/// What a call comes to on one state of the game.
enum Verdict {
    /// It was asked before, and made this revision.
    Repeated(Revision),
    Change(Change, Option<Request>),
    /// A deadline has passed, which must be written first.
    Overdue,
}

impl<B: By> Asked<B> {
    /// What the call comes to on this state of the game, checked in the documented order: seat,
    /// request id, etag, state.
    fn consider(&self, host: &Host, game: &Game, now: Millis) -> Result<Verdict, ApiError> {
        let (seat, command) = self.by.command(game)?;
        let request = self.request_id.as_ref().map(|id| id.request(seat));
        if let Some(request) = &request {
            match game.recall(request) {
                Some(Recall::Done(revision)) => return Ok(Verdict::Repeated(revision)),
                Some(Recall::Reused) => return Err(reused()),
                None => {}
            }
        }
        if let Some(Etag(version)) = self.etag
            && self.by.is_ahead(game, version)?
        {
            return Err(changed_since(game, self.by.told(game)));
        }
        check_etag(game, self.etag, || self.by.told(game))?;
        match decide(game, &command, now, &host.options.limits) {
            Ok(change) => Ok(Verdict::Change(change, request)),
            Err(Refusal::Overdue) => Ok(Verdict::Overdue),
            Err(refusal) => Err(ApiError::refused(game.id(), &refusal)),
        }
    }
}

impl Host {
    /// Does what is asked.
    ///
    /// A change may be decided on this replica's own copy of the game, since the store compares
    /// versions; whatever is answered without a change is decided on what the store has.
    ///
    /// # Errors
    /// Why it cannot be done.
    pub(crate) async fn write(&self, asked: Asked<impl By>) -> Result<Done, ApiError> {
        logged(&asked.game, asked.request_id.as_ref(), self.attempt(&asked).await)
    }

    async fn attempt(&self, asked: &Asked<impl By>) -> Result<Done, ApiError> {
        let id = &asked.game;
        let mut arrival = self.now(id).await?;
        let mut copy = self.cache.get(id);
        for _ in 0..ATTEMPTS {
            let (game, verdict) = match copy.take() {
                Some(game) => match asked.consider(self, &game, arrival) {
                    Ok(verdict @ Verdict::Change(..)) => (game, verdict),
                    _ => self.considered_fresh(asked, arrival).await?,
                },
                None => self.considered_fresh(asked, arrival).await?,
            };
            let (change, request) = match verdict {
                Verdict::Repeated(revision) => return self.as_at(&game, revision).await,
                Verdict::Change(change, request) => (change, request),
                Verdict::Overdue => {
                    copy = Some(self.enforce(game, arrival).await?);
                    continue;
                }
            };
            match self.commit(&game, &change, request).await? {
                Committed::Done(done) => return Ok(done),
                Committed::Stands(current) => {
                    self.metrics.conflicts.inc();
                    copy = Some(current);
                }
                // The arrival was measured by the same clock that was off.
                Committed::Again => arrival = self.now(id).await?,
            }
        }
        let current = self.read(id).await?;
        Err(ApiError::version(
            Reason::Contention,
            current.id(),
            asked.by.told(&current),
            "other writes on this game were faster time and again: repeat the call",
        ))
    }

    /// Whether what is asked would be done now; nothing is changed.
    ///
    /// # Errors
    /// Why it could not be done.
    pub(crate) async fn validate(&self, asked: Asked<impl By>) -> Result<Done, ApiError> {
        let (game, now) = self.read_current(&asked.game).await?;
        let game = self.sure_of(game, asked.etag).await?;
        match asked.consider(self, &game, now)? {
            Verdict::Repeated(revision) => self.as_at(&game, revision).await,
            // What has come due since is for the next call.
            Verdict::Change(..) | Verdict::Overdue => Ok(Done { game, now, durability: None }),
        }
    }

    async fn considered_fresh(
        &self,
        asked: &Asked<impl By>,
        now: Millis,
    ) -> Result<(Arc<HostedGame>, Verdict), ApiError> {
        let game = self.read(&asked.game).await?;
        let game = self.sure_of(game, asked.etag).await?;
        let verdict = asked.consider(self, &game, now)?;
        Ok((game, verdict))
    }

    /// The answer to a repeated request.
    pub(super) async fn as_at(&self, game: &Game, revision: Revision) -> Result<Done, ApiError> {
        let then = game.as_at(revision).ok_or_else(|| ApiError::unreplayable(game, revision))?;
        Ok(Done { game: HostedGame::new(then), now: self.now(game.id()).await?, durability: None })
    }

    /// Writes a change that was decided on `game`.
    pub(super) async fn commit(
        &self,
        game: &HostedGame,
        change: &Change,
        request: Option<Request>,
    ) -> Result<Committed, ApiError> {
        let id = game.id();
        let next =
            game.after(change, request).map_err(|error| ApiError::contradiction(id, &error))?;
        let next = HostedGame::after(next, Some(game));
        let present = self.now(id).await?;
        self.put(next, change.event(), Some(game.version()), present).await
    }

    /// Writes a state of a game, to which `event` led, where `expected` stands, if the shard's time still
    /// is about `present`: a game that is created by a time which has jumped since would be over at once.
    pub(super) async fn put(
        &self,
        next: Arc<HostedGame>,
        event: &Event,
        expected: Option<Version>,
        present: Millis,
    ) -> Result<Committed, ApiError> {
        let commit = Commit::new(self.store.shards(), present, self.write_of(&next, expected)?);
        let commit = with_consequences(commit, &next, event, expected);
        match self.send(&commit, next.id()).await? {
            Outcome::Applied { now, durability } => {
                self.reached(&next, expected);
                Ok(Committed::Done(Done { durability, ..self.written(next, now) }))
            }
            Outcome::Conflict { current, .. } => match current.into_iter().next().flatten() {
                Some(record) => Ok(Committed::Stands(self.revive(next.id(), &record)?)),
                None => {
                    self.cache.forget(next.id());
                    Ok(Committed::Again)
                }
            },
            Outcome::ClockOff { .. } => Ok(Committed::Again),
        }
    }

    /// Writes a rematch and the game before it, in which it is noted, at once; `None` where another
    /// write was faster.
    pub(super) async fn put_rematch(
        &self,
        rematch: Arc<HostedGame>,
        noted: Arc<HostedGame>,
        expected: Version,
    ) -> Result<Option<Done>, ApiError> {
        let shards = self.store.shards();
        let present = self.now(rematch.id()).await?;
        let commit = Commit::new(shards, present, self.write_of(&rematch, None)?)
            .and(shards, self.write_of(&noted, Some(expected))?)
            .map_err(|error| {
                tracing::error!(game = %noted.id(), %error, "a rematch cannot be written with its game");
                ApiError::fault()
            })?;
        let commit = with_consequences(commit, &rematch, &Event::Created, None);
        let Outcome::Applied { now, .. } = self.send(&commit, rematch.id()).await? else {
            return Ok(None);
        };
        self.reached(&rematch, None);
        self.written(noted, now);
        Ok(Some(self.written(rematch, now)))
    }

    /// The write of a state of a game.
    ///
    /// # Errors
    /// Where its record is to be sealed, and the operating system has no randomness to give.
    pub(super) fn write_of(
        &self,
        next: &Game,
        expected: Option<Version>,
    ) -> Result<Write, ApiError> {
        let schedule = next.schedule(&self.options.limits);
        let record = self.store.records().write(next.stored());
        Ok(Write {
            game: next.id().clone(),
            expected,
            change: store::Change::Put {
                record: record.map_err(|error| no_randomness(&error))?,
                deadline: schedule.deadline,
                expiry: schedule.keep,
            },
        })
    }

    /// Commits a write of a game.
    pub(super) async fn send(&self, commit: &Commit, id: &GameId) -> Result<Outcome, ApiError> {
        let outcome = self.store.commit(commit).await;
        let outcome = outcome.map_err(|error| ApiError::store_failed(id, &error))?;
        if !commit.outbox().is_empty() && matches!(outcome, Outcome::Applied { .. }) {
            // Where nobody listens or too many wait, a sweep finds it.
            let _ = self.outbox_written.try_send(commit.shard());
        }
        Ok(outcome)
    }

    /// Counts what a game has come to since it stood as expected.
    fn reached(&self, game: &Game, expected: Option<Version>) {
        milestones(game, expected).for_each(|(milestone, _)| self.metrics.reached(milestone));
    }

    /// Takes note of a state that was written.
    pub(super) fn written(&self, game: Arc<HostedGame>, now: Millis) -> Done {
        self.cache.put(&game);
        Done { game, now, durability: None }
    }
}

/// What came of a commit.
pub(super) enum Committed {
    Done(Done),
    /// Nothing: this stands instead of what was expected.
    Stands(Arc<HostedGame>),
    /// Nothing: nothing stands, or the time was off. What stands must be asked for.
    Again,
}

pub(super) fn reused() -> ApiError {
    ApiError::new(
        Reason::RequestIdReused,
        "`request_id` was used before for another call: choose a new one for each call, and the \
         same only to repeat it unchanged",
    )
}

/// Whether the game is in the state that the caller expects, if it expects one. `told` is the
/// version that the caller may know of.
pub(super) fn check_etag(
    game: &Game,
    etag: Option<Etag>,
    told: impl FnOnce() -> Option<Version>,
) -> Result<(), ApiError> {
    let Some(Etag(expected)) = etag.filter(|Etag(version)| *version != game.version()) else {
        return Ok(());
    };
    Err(if game.version_at(expected.revision) == Some(expected) {
        changed_since(game, told())
    } else {
        ApiError::version(
            Reason::HistoryLost,
            game.id(),
            told(),
            "`etag` is no state that this game was in: the store lost what followed, or the game \
             was deleted and created anew",
        )
    })
}

fn changed_since(game: &Game, told: Option<Version>) -> ApiError {
    ApiError::version(
        Reason::EtagMismatch,
        game.id(),
        told,
        "the game has changed since `etag`: read it and decide anew",
    )
}
