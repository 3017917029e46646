//! How a caller proves for which seat it acts.

use crate::api::error::{ApiError, Reason};
use crate::game::{Game, Refusal, SeatToken, SeatTokenError};
use crate::rules::Seat;

/// What a caller shows to act for a seat.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// Nothing.
    None,
    /// That it is the platform, and no more.
    Platform,
    /// A token, or what should have been one.
    Token(Result<SeatToken, SeatTokenError>),
    /// The seat's number, which only the platform may give instead of a token.
    Named(Seat),
}

impl Credential {
    /// The seat that the caller acts for, or `None` for the platform that names none.
    pub(super) fn seat_or_platform(&self, game: &Game) -> Result<Option<Seat>, ApiError> {
        match self {
            Self::Platform => Ok(None),
            shown => shown.seat(game).map(Some),
        }
    }

    /// The seat that the caller acts for.
    pub(super) fn seat(&self, game: &Game) -> Result<Seat, ApiError> {
        match self {
            Self::None | Self::Platform => Err(ApiError::new(
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
            Self::Named(seat) if game.has_seat(*seat) => Ok(*seat),
            Self::Named(seat) => {
                let refusal = Refusal::NoSuchSeat { seat: *seat, seats: game.rules().seats() };
                Err(ApiError::refused(game.id(), &refusal))
            }
        }
    }
}
