//! Fields that many requests have, read into the types of the game.

use std::fmt::Display;

use prost::{Message, Name};
use uuid::{Uuid, Variant};

use super::callers::{Caller, Role};
use super::convert::game::View;
use super::error::{ApiError, FieldFaults};
use super::host::{Credential, RequestId};
use super::proto::v1;
use super::traced;
use crate::game::{Entropy, Etag, GameId, PlayerId};
use crate::rules::Seat;

/// The longest request id, in bytes.
const MAX_REQUEST_ID: usize = 128;

/// The id of the game that a call is about.
pub(super) fn game_id(text: &str, faults: &mut FieldFaults) -> Option<GameId> {
    let game = faults.check("game_id", text.parse())?;
    traced::about(&game);
    Some(game)
}

/// The id that a caller chose for a new game, if it did.
pub(super) fn optional_game_id(text: &str, faults: &mut FieldFaults) -> Option<GameId> {
    if text.is_empty() { None } else { game_id(text, faults) }
}

/// An etag, if there is one.
pub(super) fn etag(field: &str, text: &str, faults: &mut FieldFaults) -> Option<Etag> {
    if text.is_empty() { None } else { faults.check(field, text.parse()) }
}

/// A seat's number; 0 is none.
pub(super) fn seat(number: u32, faults: &mut FieldFaults) -> Option<Seat> {
    if number == 0 {
        return None;
    }
    let seat = u8::try_from(number).ok().and_then(Seat::new);
    faults.check("seat", seat.ok_or_else(|| format!("is {number}, but must be a seat from 1 to 4")))
}

/// The number of a seat that must be named.
pub(super) fn needed_seat(number: u32, faults: &mut FieldFaults) -> Option<Seat> {
    if number == 0 {
        faults.add("seat", "is 0, but must be a seat from 1 to 4");
    }
    seat(number, faults)
}

/// A player's id, if there is one.
pub(super) fn player_id(field: &str, text: &str, faults: &mut FieldFaults) -> Option<PlayerId> {
    if text.is_empty() { None } else { faults.check(field, text.parse()) }
}

/// What a seat adds to the deal, if anything.
pub(super) fn entropy(bytes: &[u8], faults: &mut FieldFaults) -> Option<Entropy> {
    if bytes.is_empty() { None } else { faults.check("entropy", Entropy::new(bytes)) }
}

/// How much of a game to answer.
pub(super) fn view(number: i32, faults: &mut FieldFaults) -> View {
    match v1::GameView::try_from(number) {
        Ok(v1::GameView::Unspecified | v1::GameView::Basic) => View::Basic,
        Ok(v1::GameView::Full) => View::Full,
        Err(_) => {
            faults.add("view", unknown_value(number, "GAME_VIEW_BASIC or GAME_VIEW_FULL"));
            View::Basic
        }
    }
}

/// What is wrong with an enum's number.
pub(super) fn unknown_value(number: i32, values: impl Display) -> String {
    format!("{number} is none of the values: send {values}")
}

/// The request id of a call, if it has one. `body` is the request without it and without
/// credentials.
pub(super) fn request_id<M: Message + Name>(
    id: String,
    body: &M,
    caller: &Caller,
    faults: &mut FieldFaults,
) -> Option<RequestId> {
    if id.len() > MAX_REQUEST_ID {
        let length = id.len();
        faults.add("request_id", format!("has {length} bytes, but may have {MAX_REQUEST_ID}"));
    }
    if id.is_empty() {
        return None;
    }
    // Many requests have the same shape, and an offer is no resignation.
    let body = [M::full_name().as_bytes(), &[0], &body.encode_to_vec()].concat();
    Some(RequestId::new(id, body, caller))
}

/// The request id of a call that answers credentials: whoever can name it is answered them again,
/// so it must not be one that can be guessed.
pub(super) fn secret_request_id<M: Message + Name>(
    id: String,
    body: &M,
    caller: &Caller,
    faults: &mut FieldFaults,
) -> Option<RequestId> {
    let is_random = |text: &str| {
        Uuid::try_parse(text)
            .is_ok_and(|uuid| uuid.get_version_num() == 4 && uuid.get_variant() == Variant::RFC4122)
    };
    if !id.is_empty() && !is_random(&id) {
        faults.add(
            "request_id",
            "must be a random UUID (version 4), since whoever repeats this request is answered \
             its seat tokens",
        );
    }
    request_id(id, body, caller, faults)
}

/// What the caller shows to act for a seat: the token of the request or of its metadata, or else a
/// seat's number. A malformed number is noted.
///
/// # Errors
/// Where the caller shows nothing at all to a service with keys, or may not name a seat.
pub(super) fn credential(
    caller: &Caller,
    seat_token: &str,
    number: u32,
    faults: &mut FieldFaults,
) -> Result<Credential, ApiError> {
    let seat = seat(number, faults);
    Ok(match caller.seat_token() {
        _ if !seat_token.is_empty() => Credential::Token(seat_token.parse()),
        Some(token) => Credential::Token(token.clone()),
        None if number != 0 => {
            caller.require(Role::Platform)?;
            seat.map_or(Credential::None, Credential::Named)
        }
        None => {
            caller.require(Role::Reader)?;
            if caller.is_platform() { Credential::Platform } else { Credential::None }
        }
    })
}
