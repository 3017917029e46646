//! `ImportGame`.

mod board;
mod record;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::callers::Caller;
use crate::api::convert::{self, game::View};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::game_service::{labels, seat_tokens, seats};
use crate::api::host::{Creation, Host};
use crate::api::proto::v1;
use crate::api::proto::v1::import_game_request::Start;
use crate::api::traced;
use crate::game::{Given, Happening, NewSeat, Seating};
use crate::rules::{Deal, Piece, RuleSet};

/// Where a game comes from.
struct Origin {
    rules: RuleSet,
    given: Given,
    /// What happened in it.
    before: Vec<Happening>,
    seats: Vec<NewSeat>,
    labels: BTreeMap<String, String>,
}

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::ImportGameRequest,
) -> Result<v1::ImportGameResponse, ApiError> {
    caller.count_creation()?;
    let mut faults = FieldFaults::default();
    let id = std::mem::take(&mut request.request_id);
    let request_id = fields::secret_request_id(id, &request, &caller, &mut faults);
    let id = fields::optional_game_id(&request.game_id, &mut faults);
    let time_control = convert::time_control::read(request.time_control.take(), &mut faults);
    let spectators = convert::spectators::read(request.spectators, &mut faults);
    let key = host.random_bytes()?;
    let origin = match request.start.take() {
        Some(Start::Record(text)) => record::read(&text, request, &key, &mut faults),
        start => not_begun(start, request, &key, &mut faults),
    };
    let (Some(origin), 0) = (origin, faults.count()) else { return Err(faults.into_error()) };
    let created = host
        .create(Creation {
            id,
            rules: origin.rules,
            seats: origin.seats,
            seating: Seating::AsGiven,
            deal: origin.given.into(),
            before: origin.before,
            labels: origin.labels,
            entropy_required: false,
            spectators,
            time_control,
            request_id,
        })
        .await?;
    traced::about(created.game.id());
    Ok(v1::ImportGameResponse {
        game: Some(convert::game::game(&created.game, View::Basic, Some(created.now))),
        seat_tokens: seat_tokens(&created),
    })
}

/// A game in which nothing has happened yet.
fn not_begun(
    start: Option<Start>,
    request: v1::ImportGameRequest,
    key: &[u8; 32],
    faults: &mut FieldFaults,
) -> Option<Origin> {
    let rules = convert::rules::read(&request.preset, request.rules, faults);
    let seats = seats(request.seats, rules.as_ref(), faults);
    let labels = labels(request.labels, faults);
    let hidden = hidden(&request.hidden, faults);
    // Without rules nobody knows what size of board to expect.
    let given = match start {
        Some(Start::Board(board)) => board::read(board, rules.as_ref()?, &hidden?, key, faults)?,
        Some(Start::Deal(text)) => {
            if !request.hidden.is_empty() {
                faults.add("hidden", "is given, but `deal` says already what lies face down");
            }
            faults.check("deal", Deal::parse(rules.as_ref()?.board_size(), &text))?.into()
        }
        Some(Start::Record(_)) | None => {
            let kinds = "`deal` (the pieces in index order), `board` or `record`";
            faults.add("deal", format!("is missing: give {kinds}"));
            return None;
        }
    };
    Some(Origin { rules: rules?, given, before: Vec::new(), seats, labels })
}

/// The pieces that are given apart from the board or record.
fn hidden(text: &str, faults: &mut FieldFaults) -> Option<Vec<Piece>> {
    let words = text.split_ascii_whitespace();
    faults.check("hidden", words.map(str::parse).collect::<Result<_, _>>())
}
