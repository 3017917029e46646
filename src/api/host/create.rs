//! Creating a game, once however often it is asked for.

use std::sync::Arc;

use super::failed_write::logged;
use super::write::{Committed, reused};
use super::{Host, HostedGame, RequestId};
use crate::api::error::{ApiError, FieldFaults, Reason};
use crate::game::{
    DealSource, Event, Game, GameId, GameKey, Happening, History, Millis, NewGame, NewSeat, Recall,
    Request, Seating, Spectators, TimeControl,
};
use crate::rules::RuleSet;

/// A game to be created.
#[derive(Debug)]
pub(crate) struct Creation {
    /// Its id, where the caller chose one.
    pub(crate) id: Option<GameId>,
    pub(crate) rules: RuleSet,
    pub(crate) seats: Vec<NewSeat>,
    pub(crate) seating: Seating,
    pub(crate) deal: DealSource,
    /// What happened before the game came here.
    pub(crate) before: Vec<Happening>,
    pub(crate) labels: std::collections::BTreeMap<String, String>,
    pub(crate) entropy_required: bool,
    pub(crate) spectators: Spectators,
    pub(crate) time_control: TimeControl,
    pub(crate) request_id: Option<RequestId>,
}

/// A game that was created, now or when it was first asked for.
#[derive(Debug)]
pub(crate) struct Created {
    /// The game as its creation left it.
    pub(crate) game: Arc<HostedGame>,
    /// The shard's time.
    pub(crate) now: Millis,
}

/// How often a creation is tried because the shard's time was off.
const ATTEMPTS: usize = 3;

impl Host {
    /// Creates a game.
    ///
    /// # Errors
    /// Where its id is taken or the store is away.
    pub(crate) async fn create(&self, mut creation: Creation) -> Result<Created, ApiError> {
        let id = match (&creation.id, &creation.request_id) {
            (Some(id), _) => id.clone(),
            (None, Some(request_id)) => derived_id(request_id)?,
            (None, None) => text_id(self.random_uuid()?)?,
        };
        let request_id = creation.request_id.take();
        let request = request_id.as_ref().map(|request_id| request_id.request(None));
        logged(&id, request_id.as_ref(), self.create_as(&id, creation, request).await)
    }

    async fn create_as(
        &self,
        id: &GameId,
        creation: Creation,
        request: Option<Request>,
    ) -> Result<Created, ApiError> {
        let new = NewGame {
            id: id.clone(),
            rules: creation.rules,
            seats: creation.seats,
            seating: creation.seating,
            deal: creation.deal,
            key: GameKey::new(self.random_bytes()?),
            origin: History(self.random_bytes()?),
            entropy_required: creation.entropy_required,
            spectators: creation.spectators,
            labels: creation.labels,
            time_control: creation.time_control,
            request,
        };
        for _ in 0..ATTEMPTS {
            let now = self.now(id).await?;
            let game = Game::import(new.clone(), &creation.before, now).map_err(|found| {
                let mut faults = FieldFaults::default();
                for fault in found {
                    faults.add(fault.field, &fault);
                }
                faults.into_error()
            })?;
            let standing = match self.put(HostedGame::new(game), &Event::Created, None, now).await?
            {
                Committed::Done(done) => return Ok(Created { game: done.game, now: done.now }),
                Committed::Stands(standing) => standing,
                Committed::Again => continue,
            };
            return match request.and_then(|request| standing.recall(&request)) {
                Some(Recall::Done(revision)) if revision == standing.creation() => {
                    let game = standing.as_at(revision).map(HostedGame::new).unwrap_or(standing);
                    Ok(Created { game, now: self.now(id).await? })
                }
                Some(_) => Err(reused()),
                None => Err(ApiError::new(
                    Reason::GameIdTaken,
                    format!("there is a game `{id}` already: choose another id"),
                )
                .about(id)),
            };
        }
        Err(ApiError::new(Reason::Contention, "the store's clock keeps jumping: repeat the call"))
    }
}

/// The id of a game that is created without one but with a request id: always the same one for the
/// same caller, so a repeated creation finds its game.
fn derived_id(request_id: &RequestId) -> Result<GameId, ApiError> {
    use sha2::{Digest as _, Sha256};
    // No name of a caller has a zero byte.
    let hash = Sha256::new()
        .chain_update("banqi-game-id\0")
        .chain_update(&request_id.caller)
        .chain_update([0])
        .chain_update(&request_id.id)
        .finalize();
    let mut cut = [0; 16];
    cut.copy_from_slice(&hash[..16]);
    text_id(uuid::Builder::from_custom_bytes(cut).into_uuid())
}

pub(super) fn text_id(uuid: uuid::Uuid) -> Result<GameId, ApiError> {
    uuid.to_string().parse().map_err(|_| ApiError::fault())
}
