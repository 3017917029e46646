//! What every call of a seat has: the game, the credential, the etag and the request id.

use prost::{Message, Name};

use crate::api::callers::Caller;
use crate::api::convert::{self, game::View};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Asked, Credential, Done};
use crate::api::proto::v1;

/// A request that acts for a seat.
pub(super) trait SeatRequest: Message + Name {
    /// Takes the request id and the seat's token out of it, so that what is left is its body.
    fn take_secrets(&mut self) -> (String, String);
    /// `game_id`.
    fn game_id(&self) -> &str;
    /// `seat`.
    fn seat(&self) -> u32;
    /// `etag`.
    fn etag(&self) -> &str;
}

macro_rules! seat_requests {
    ($($request:ident),+ $(,)?) => {$(
        impl SeatRequest for v1::$request {
            fn take_secrets(&mut self) -> (String, String) {
                (std::mem::take(&mut self.request_id), std::mem::take(&mut self.seat_token))
            }

            fn game_id(&self) -> &str {
                &self.game_id
            }

            fn seat(&self) -> u32 {
                self.seat
            }

            fn etag(&self) -> &str {
                &self.etag
            }
        }
    )+};
}

seat_requests!(
    AbortGameRequest,
    AddEntropyRequest,
    AnswerDrawRequest,
    AnswerTakebackRequest,
    OfferDrawRequest,
    PlayActionRequest,
    RequestTakebackRequest,
    ResignGameRequest,
);

/// Reads what every call of a seat has; `None` with the faults noted.
///
/// # Errors
/// Where the caller may not call at all, or may not name a seat.
pub(super) fn read(
    caller: &Caller,
    request: &mut impl SeatRequest,
    faults: &mut FieldFaults,
) -> Result<Option<Asked<Credential>>, ApiError> {
    let (id, token) = request.take_secrets();
    let by = fields::credential(caller, &token, request.seat(), faults)?;
    let request_id = fields::request_id(id, request, caller, faults);
    let game = fields::game_id(request.game_id(), faults);
    let etag = fields::etag("etag", request.etag(), faults);
    Ok(game.map(|game| Asked { game, request_id, etag, by }))
}

/// The game that a call made, as it is answered.
pub(super) fn told(done: &Done) -> Option<v1::Game> {
    Some(convert::game::game(&done.game, View::Basic, Some(done.now)))
}
