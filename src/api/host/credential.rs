//! How a caller proves for which seat it acts.

use super::Host;
use crate::api::error::{ApiError, Reason};
use crate::game::{Game, SeatToken, SeatTokenError};
use crate::rules::Seat;

/// What a caller shows to act for a seat.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// Nothing.
    None,
    /// A token, or what should have been one.
    Token(Result<SeatToken, SeatTokenError>),
    /// The seat's number, which only trusted callers may give instead of a token.
    Named(Seat),
}

impl Credential {
    /// The seat that the caller acts for, or `None` for the platform that shows nothing.
    pub(super) fn seat_or_platform(
        &self,
        game: &Game,
        trusted: bool,
    ) -> Result<Option<Seat>, ApiError> {
        match self {
            Self::None if trusted => Ok(None),
            shown => shown.seat(game, trusted).map(Some),
        }
    }

    /// The seat that the caller acts for.
    pub(super) fn seat(&self, game: &Game, trusted: bool) -> Result<Seat, ApiError> {
        match self {
            Self::None => Err(ApiError::new(
                Reason::SeatTokenMissing,
                "send the seat's token as `seat_token` or as metadata `authorization: Bearer`",
            )),
            Self::Token(Ok(token)) => game.authenticate(token).ok_or_else(|| {
                ApiError::new(
                    Reason::SeatTokenWrong,
                    "the token is of another game, or was replaced by a newer one",
                )
            }),
            Self::Token(Err(fault)) => {
                Err(ApiError::new(Reason::SeatTokenWrong, fault.to_string()))
            }
            Self::Named(seat) if trusted => {
                if game.has_seat(*seat) {
                    Ok(*seat)
                } else {
                    let refusal = crate::game::Refusal::NoSuchSeat {
                        seat: *seat,
                        seats: game.rules().seats(),
                    };
                    Err(ApiError::refused(game.id(), &refusal))
                }
            }
            Self::Named(_) => Err(ApiError::platform_only()),
        }
    }
}

impl Host {
    /// The seat of somebody who reads a game; `None` for one who shows nothing.
    ///
    /// # Errors
    /// Where what is shown proves no seat of the game.
    pub(crate) fn reading_seat(
        &self,
        credential: &Credential,
        game: &Game,
    ) -> Result<Option<Seat>, ApiError> {
        match credential {
            Credential::None => Ok(None),
            shown => shown.seat(game, self.options.dev_platform).map(Some),
        }
    }
}
