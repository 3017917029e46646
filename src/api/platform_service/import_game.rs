//! `ImportGame`.

use std::sync::Arc;

use crate::api::callers::Caller;
use crate::api::convert::{self, game::View};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::game_service::{labels, seat_tokens, seats};
use crate::api::host::{Creation, Host};
use crate::api::proto::v1;
use crate::api::proto::v1::import_game_request::Start;
use crate::game::{DealSource, Seating};
use crate::rules::{Deal, RuleSet};

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::ImportGameRequest,
) -> Result<v1::ImportGameResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let id = std::mem::take(&mut request.request_id);
    let request_id = fields::secret_request_id(id, &request, &caller, &mut faults);
    let id = fields::optional_game_id(&request.game_id, &mut faults);
    let rules = convert::rules::read(&request.preset, request.rules, &mut faults);
    let seats = seats(request.seats, rules.as_ref(), &mut faults);
    let labels = labels(request.labels, &mut faults);
    let deal = deal(request.start, rules.as_ref(), &mut faults);
    let time_control = convert::time_control::read(request.time_control, &mut faults);
    let spectators = convert::time_control::read_spectators(request.spectators, &mut faults);
    let (Some(rules), Some(deal), 0) = (rules, deal, faults.count()) else {
        return Err(faults.into_error());
    };
    let created = host
        .create(Creation {
            id,
            rules,
            seats,
            seating: Seating::AsGiven,
            deal: DealSource::Given(deal),
            labels,
            entropy_required: false,
            spectators,
            time_control,
            request_id,
        })
        .await?;
    Ok(v1::ImportGameResponse {
        game: Some(convert::game::game(&created.game, View::Basic, Some(created.now))),
        seat_tokens: seat_tokens(&created),
    })
}

/// Where the game begins. Without rules, only that something is given is checked.
fn deal(start: Option<Start>, rules: Option<&RuleSet>, faults: &mut FieldFaults) -> Option<Deal> {
    let Some(Start::Deal(text)) = start else {
        faults.add("deal", "is missing: give the pieces in index order, split by blanks");
        return None;
    };
    faults.check("deal", Deal::parse(rules?.board_size(), &text))
}
