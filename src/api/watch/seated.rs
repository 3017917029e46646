//! A watcher that has proved to be a seat.

use std::sync::Arc;

use crate::api::error::ApiError;
use crate::api::host::{Attending, Credential, Host};
use crate::game::{Game, Revision};
use crate::rules::Seat;

/// A seat that is present because a watcher has proved to be it.
#[derive(Debug)]
pub(super) struct Seated {
    attending: Attending,
    credential: Credential,
    /// The revision up to which the credential is known to hold.
    proved: Revision,
}

impl Seated {
    /// The seat that a credential proves, from now on present; `None` without one. Boxed, since
    /// most watchers have none.
    ///
    /// # Errors
    /// Where what is shown proves no seat of the game.
    pub(super) fn prove(
        host: &Arc<Host>,
        game: &Game,
        credential: Credential,
    ) -> Result<Option<Box<Self>>, ApiError> {
        let Some(seat) = host.reading_seat(&credential, game)? else { return Ok(None) };
        let attending = host.attend(game.id(), seat)?;
        let proved = game.version().revision;
        Ok(Some(Box::new(Self { attending, credential, proved })))
    }

    pub(super) fn seat(&self) -> Seat {
        self.attending.seat()
    }

    /// Looks whether the credential still holds in what may be a later state of the game.
    ///
    /// # Errors
    /// Where the token was replaced by a newer one.
    pub(super) fn prove_again(&mut self, host: &Host, game: &Game) -> Result<(), ApiError> {
        let revision = game.version().revision;
        if revision > self.proved {
            host.reading_seat(&self.credential, game)?;
            self.proved = revision;
        }
        Ok(())
    }
}
