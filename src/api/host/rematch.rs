//! Rematches: the first to ask makes the new game, in one write with the old one.

use std::sync::Arc;

use super::failed_write::logged;
use super::write::{Committed, Done};
use super::write::{check_etag, reused};
use super::{Asked, Credential, Host, HostedGame};
use crate::api::error::{ApiError, Reason};
use crate::game::{
    Command, FirstSeat, Game, GameId, GameKey, GameState, History, Millis, NewRematch, Recall,
    Refusal, Request, SeatSet, ServerSeed, decide,
};
use crate::rules::Seat;

/// How often a rematch is tried because another write was faster.
const ATTEMPTS: usize = 5;

/// A rematch that was asked for.
#[derive(Debug)]
pub(crate) struct Rematched {
    /// The new game.
    pub(crate) done: Done,
    /// The seats in it of those who asked.
    pub(crate) seats: Vec<Seat>,
}

/// Who asks for a rematch of which game, and how.
struct Asking {
    old: Arc<HostedGame>,
    seats: SeatSet,
    first: FirstSeat,
    request: Option<Request>,
    now: Millis,
}

impl Host {
    /// Asks for a rematch: makes it, or takes the caller's seat in the one that there is.
    ///
    /// # Errors
    /// Why it cannot be done.
    pub(crate) async fn rematch(
        &self,
        asked: Asked<Credential>,
        first: FirstSeat,
    ) -> Result<Rematched, ApiError> {
        logged(&asked.game, asked.request_id.as_ref(), self.attempt_rematch(&asked, first).await)
    }

    async fn attempt_rematch(
        &self,
        asked: &Asked<Credential>,
        first: FirstSeat,
    ) -> Result<Rematched, ApiError> {
        for _ in 0..ATTEMPTS {
            let (old, now) = self.read_current(&asked.game).await?;
            let old = self.sure_of(old, asked.etag).await?;
            let seat = asked.by.seat_or_platform(&old)?;
            let request_id = asked.request_id.as_ref();
            if request_id.is_some_and(|id| old.recall(&id.request(seat)).is_some()) {
                return Err(reused());
            }
            let seats = seat.map_or_else(|| old.seats().collect(), SeatSet::of);
            let request = request_id.map(|id| id.rematch_request(seat));
            let asking = Asking { old, seats, first, request, now };
            let made = match asking.old.rematch() {
                Some(id) => self.join_rematch(&asking, id, asked.etag).await?,
                None => {
                    check_etag(&asking.old, asked.etag, || Some(asking.old.version()))?;
                    self.make_rematch(&asking).await?
                }
            };
            if let Some(done) = made {
                let seats = seats_in(&done.game, asking.seats);
                return Ok(Rematched { done, seats });
            }
        }
        let current = self.read(&asked.game).await?;
        Err(ApiError::version(
            Reason::Contention,
            current.id(),
            Some(current.version()),
            "other writes on the rematch were faster time and again: repeat the call",
        ))
    }

    /// Makes the rematch; `None` where somebody else was faster.
    async fn make_rematch(&self, asking: &Asking) -> Result<Option<Done>, ApiError> {
        let Asking { old, seats, first, request, now } = asking;
        let refused = |refusal| ApiError::refused(old.id(), &refusal);
        old.check_rematch().map_err(refused)?;
        let id = self.id_beside(old.id())?;
        let new = NewRematch {
            id: id.clone(),
            seed: ServerSeed::new(self.random_bytes()?),
            key: GameKey::new(self.random_bytes()?),
            origin: History(self.random_bytes()?),
            first: *first,
            asked_by: *seats,
            request: *request,
        };
        let new = old.new_rematch(new, *now).map_err(refused)?;
        let change = decide(old, &Command::MakeRematch { id }, *now, &self.options.limits);
        let change = change.map_err(refused)?;
        let noted =
            old.after(&change, None).map_err(|error| ApiError::contradiction(old.id(), &error))?;
        let (new, noted) = (HostedGame::new(new), HostedGame::after(noted, Some(old)));
        self.put_rematch(new, noted, old.version()).await
    }

    /// Takes the seats of those who ask in the rematch that there is; `None` where another write was
    /// faster.
    async fn join_rematch(
        &self,
        asking: &Asking,
        id: &GameId,
        etag: Option<crate::game::Etag>,
    ) -> Result<Option<Done>, ApiError> {
        let (mut game, now) = self.read_current(id).await?;
        let series = game.stored().facts.series.as_ref();
        if series.is_none_or(|series| series.previous != *asking.old.id()) {
            return Err(ApiError::no_game(id));
        }
        match asking.request.and_then(|request| game.recall(&request)) {
            Some(Recall::Done(revision)) => return self.as_at(&game, revision).await.map(Some),
            Some(Recall::Reused) => return Err(reused()),
            None => {}
        }
        if game.state() == GameState::Finished && game.started_at().is_none() {
            let over = Refusal::RematchOver { id: id.clone() };
            return Err(ApiError::refused(asking.old.id(), &over));
        }
        let mut missing: Vec<Seat> = seats_in(&game, asking.seats);
        missing.retain(|seat| !game.has_joined(*seat));
        if !missing.is_empty() {
            check_etag(&asking.old, etag, || Some(asking.old.version()))?;
        }
        for (index, &seat) in missing.iter().enumerate() {
            let command = Command::JoinRematch { seat };
            let change = match decide(&game, &command, now, &self.options.limits) {
                Ok(change) => change,
                // What has come due meanwhile is written when the game is read again.
                Err(Refusal::Overdue) => return Ok(None),
                Err(refusal) => return Err(ApiError::refused(id, &refusal)),
            };
            // Remembered when all is done: a call that is cut off before goes on when repeated.
            let request = asking.request.filter(|_| index + 1 == missing.len());
            match self.commit(&game, &change, request).await? {
                Committed::Done(done) => game = done.game,
                Committed::Stands(_) | Committed::Again => return Ok(None),
            }
        }
        Ok(Some(Done { game, now, durability: None }))
    }

    /// An id that falls in the shard of another game.
    fn id_beside(&self, other: &GameId) -> Result<GameId, ApiError> {
        let shards = self.store.shards();
        let shard = shards.shard_of(other);
        loop {
            let id = super::create::text_id(self.random_uuid()?)?;
            if shards.shard_of(&id) == shard {
                return Ok(id);
            }
        }
    }
}

/// The seats of a rematch of those who had these seats before.
fn seats_in(rematch: &Game, before: SeatSet) -> Vec<Seat> {
    let series = rematch.stored().facts.series.as_ref();
    series.map_or_else(Vec::new, |series| {
        let is_asking = |seat: &Seat| {
            series.before.get(seat.index()).is_some_and(|before_seat| before.contains(*before_seat))
        };
        rematch.seats().filter(is_asking).collect()
    })
}
