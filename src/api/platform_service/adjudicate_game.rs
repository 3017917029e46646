//! `AdjudicateGame`.

use std::sync::Arc;

use arrayvec::ArrayVec;

use crate::api::callers::Caller;
use crate::api::convert::{self, game::View};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Asked, ByAnyone, Host, Sight};
use crate::api::proto::v1;
use crate::game::{Command, Ruling};
use crate::rules::{Outcome, Seat};

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::AdjudicateGameRequest,
) -> Result<v1::AdjudicateGameResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let id = std::mem::take(&mut request.request_id);
    let request_id = fields::request_id(id, &request, &caller, &mut faults);
    let game = fields::game_id(&request.game_id, &mut faults);
    let ruling = ruling(&request.placements, request.abort, &mut faults);
    let etag = fields::etag("etag", &request.etag, &mut faults);
    let (Some(game), Some(ruling), 0) = (game, ruling, faults.count()) else {
        return Err(faults.into_error());
    };
    let by = ByAnyone(Sight::of(&caller)?, Command::Adjudicate { ruling });
    let done = host.write(Asked { game, request_id, etag, by }).await?;
    let game = convert::game::game(&done.game, View::Basic, Some(done.now));
    Ok(v1::AdjudicateGameResponse { game: Some(game) })
}

/// How the game is to end. Whether it has just these seats is for the game to say.
fn ruling(placements: &[v1::Placement], abort: bool, faults: &mut FieldFaults) -> Option<Ruling> {
    match (placements.is_empty(), abort) {
        (true, true) => return Some(Ruling::Aborted),
        (false, false) => {}
        (true, false) => {
            faults.add("placements", "is empty: give every seat's place, or set abort");
            return None;
        }
        (false, true) => {
            faults.add("abort", "is set, but so are placements: give one of them");
            return None;
        }
    }
    let mut places: Vec<(u32, u8)> = Vec::with_capacity(Seat::MAX);
    for (index, &v1::Placement { seat, place }) in placements.iter().enumerate().take(Seat::MAX) {
        let place = u8::try_from(place).ok().filter(|place| (1..=4).contains(place));
        let wrong = || "must be a place from 1 to 4";
        let place = faults.check(&format!("placements[{index}].place"), place.ok_or_else(wrong));
        places.extend(place.map(|place| (seat, place)));
    }
    places.sort_unstable();
    let each_once = (1..).zip(&places).all(|(number, (seat, _))| number == *seat);
    if places.len() != placements.len() || !each_once {
        faults.add("placements", "must list every seat once, seats being numbered from 1");
        return None;
    }
    let places: ArrayVec<u8, { Seat::MAX }> = places.into_iter().map(|(_, place)| place).collect();
    if !Outcome::is_ranking(&places) {
        faults.add(
            "placements",
            "are no ranking: each place must be one more than there are better ones, like 1, 2, 2, 4",
        );
    }
    Some(Ruling::Places(places))
}
