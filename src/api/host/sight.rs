//! What a caller sees of a game: the one place that decides it.

use std::sync::Arc;

use super::{Credential, Host, HostedGame};
use crate::api::callers::{Caller, Role};
use crate::api::error::ApiError;
use crate::game::{Game, GameId, Millis, Version};
use crate::rules::Seat;

/// How a caller looks at games.
///
/// A seat's holder sees all that is public in its game, and the platform in every game. Everyone
/// else sees what the game shows its spectators.
#[derive(Clone, Debug)]
pub(crate) struct Sight {
    is_platform: bool,
    credential: Credential,
}

impl Sight {
    /// How a caller looks that shows no more than its metadata.
    ///
    /// # Errors
    /// Where that is nothing at all, and the service has keys.
    pub(crate) fn of(caller: &Caller) -> Result<Self, ApiError> {
        let credential = match caller.seat_token() {
            Some(token) => Credential::Token(token.clone()),
            None => {
                caller.require(Role::Reader)?;
                Credential::None
            }
        };
        Ok(Self::new(caller, credential))
    }

    /// How a caller looks that shows this.
    pub(crate) fn new(caller: &Caller, credential: Credential) -> Self {
        Self { is_platform: caller.is_platform(), credential }
    }

    /// The seat that the caller looks from, if it shows one.
    ///
    /// # Errors
    /// Where what it shows is no seat of this game: it would not see what it expects.
    pub(crate) fn seat(&self, game: &Game) -> Result<Option<Seat>, ApiError> {
        match &self.credential {
            Credential::None | Credential::Platform => Ok(None),
            shown => shown.seat(game).map(Some).map_err(|error| error.about(game.id())),
        }
    }

    /// Whether the caller sees more than spectators do.
    ///
    /// # Errors
    /// Where what it shows is no seat of this game.
    pub(crate) fn is_insider(&self, game: &Game) -> Result<bool, ApiError> {
        Ok(self.seat(game)?.is_some() || self.is_platform)
    }

    /// The game as the caller sees it.
    ///
    /// # Errors
    /// Where it is hidden from the caller.
    pub(crate) fn shown(&self, game: &Arc<HostedGame>) -> Result<Arc<HostedGame>, ApiError> {
        if self.is_insider(game)? { Ok(Arc::clone(game)) } else { as_spectators_see(game) }
    }

    /// Whether the caller sees the game late. He is then not told whether the game ever had a version
    /// later than what he sees: an etag follows from the one before and from what happened, so he could
    /// find out what happened by trying the etags that it would lead to.
    ///
    /// # Errors
    /// Where what it shows is no seat of this game.
    pub(crate) fn sees_late(&self, game: &Game) -> Result<bool, ApiError> {
        Ok(game.is_shown_late() && !self.is_insider(game)?)
    }

    /// The version of the game as the caller sees it, if it sees any.
    pub(super) fn version(&self, game: &Game) -> Option<Version> {
        if self.is_insider(game).unwrap_or(false) {
            Some(game.version())
        } else {
            game.version_at(game.spectator_revision()?)
        }
    }
}

/// The game as somebody sees it who has no seat in it; the same one where that is all of it.
///
/// # Errors
/// Where it is hidden.
pub(crate) fn as_spectators_see(game: &Arc<HostedGame>) -> Result<Arc<HostedGame>, ApiError> {
    let revision = game.spectator_revision().ok_or_else(|| ApiError::hidden(game.id()))?;
    if revision == game.version().revision {
        return Ok(Arc::clone(game));
    }
    game.as_at(revision).map(HostedGame::new).ok_or_else(|| ApiError::unreplayable(game, revision))
}

impl Host {
    /// The game as the caller sees it now, after what has come due, and the time of its shard.
    ///
    /// # Errors
    /// Where there is no such game, it is hidden or cannot be read, or the store is away.
    pub(crate) async fn show(
        &self,
        id: &GameId,
        sight: &Sight,
    ) -> Result<(Arc<HostedGame>, Millis), ApiError> {
        let (game, now) = self.read_current(id).await?;
        Ok((sight.shown(&game)?, now))
    }

    /// Many games as the caller sees them now, in the order asked for, each with the time of its
    /// shard.
    ///
    /// # Errors
    /// For the first of them that there is not, that is hidden, or that cannot be read.
    pub(crate) async fn show_many(
        &self,
        ids: &[GameId],
        sight: &Sight,
    ) -> Result<Vec<(Arc<HostedGame>, Millis)>, ApiError> {
        let mut shown = Vec::with_capacity(ids.len());
        for game in self.read_many(ids).await? {
            let now = self.now(game.id()).await?;
            let game = self.enforce(game, now).await?;
            shown.push((sight.shown(&game)?, now));
        }
        Ok(shown)
    }
}
