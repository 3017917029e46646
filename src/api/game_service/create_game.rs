//! `CreateGame`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::callers::{Caller, Role};
use crate::api::convert::{self, game::View};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Created, Creation, Host};
use crate::api::proto::v1;
use crate::api::traced;
use crate::game::{DealSource, Game, NewSeat, Seating, ServerSeed};
use crate::rules::{RuleSet, Seat};

/// How many labels a game may have, and how long their parts may be, in bytes.
const MAX_LABELS: usize = 16;
const MAX_LABEL_KEY: usize = 64;
const MAX_LABEL_VALUE: usize = 256;

pub(super) async fn call(
    host: Arc<Host>,
    caller: Caller,
    mut request: v1::CreateGameRequest,
) -> Result<v1::CreateGameResponse, ApiError> {
    caller.require(Role::Player)?;
    caller.count_creation()?;
    let mut faults = FieldFaults::default();
    let id = std::mem::take(&mut request.request_id);
    let request_id = fields::secret_request_id(id, &request, &caller, &mut faults);
    let id = fields::optional_game_id(&request.game_id, &mut faults);
    let rules = convert::rules::read(&request.preset, request.rules, &mut faults);
    let seats = seats(request.seats, rules.as_ref(), &mut faults);
    let seating = seating(request.seating, &mut faults);
    let labels = labels(request.labels, &mut faults);
    let time_control = convert::time_control::read(request.time_control, &mut faults);
    let spectators = convert::spectators::read(request.spectators, &mut faults);
    let (Some(rules), 0) = (rules, faults.count()) else { return Err(faults.into_error()) };
    let created = host
        .create(Creation {
            id,
            rules,
            seats,
            seating,
            deal: DealSource::Derived(ServerSeed::new(host.random_bytes()?)),
            before: Vec::new(),
            labels,
            entropy_required: request.entropy_required,
            spectators,
            time_control,
            request_id,
        })
        .await?;
    traced::about(created.game.id());
    Ok(v1::CreateGameResponse {
        game: Some(convert::game::game(&created.game, View::Basic, Some(created.now))),
        seat_tokens: seat_tokens(&created),
    })
}

/// The tokens of the seats that are taken from the creation on.
pub(in crate::api) fn seat_tokens(created: &Created) -> Vec<v1::SeatToken> {
    let game: &Game = &created.game;
    let token = |seat: Seat| {
        let token = game.token(seat)?.expose();
        Some(v1::SeatToken { seat: seat.number().into(), token })
    };
    game.seats().filter_map(token).collect()
}

/// The seats of a new game; all open where none is listed.
pub(in crate::api) fn seats(
    messages: Vec<v1::NewSeat>,
    rules: Option<&RuleSet>,
    faults: &mut FieldFaults,
) -> Vec<NewSeat> {
    let count = rules.map_or(messages.len(), |rules| rules.seats().into());
    if messages.is_empty() {
        return vec![NewSeat::Open; count];
    }
    if messages.len() != count {
        let listed = messages.len();
        faults.add("seats", format!("lists {listed}, but these rules have {count} seats"));
    }
    let read = messages.into_iter().enumerate().filter_map(|(index, seat)| {
        let field = |name: &str| format!("seats[{index}].{name}");
        let player = fields::player_id(&field("player_id"), &seat.player_id, faults);
        match v1::SeatClaim::try_from(seat.claim) {
            Ok(v1::SeatClaim::Assigned) => Some(NewSeat::Assigned(player)),
            Ok(v1::SeatClaim::Open) if seat.player_id.is_empty() => Some(NewSeat::Open),
            Ok(v1::SeatClaim::Open) => {
                faults.add(
                    field("player_id"),
                    "must be empty for an open seat: the player who joins names itself",
                );
                None
            }
            Ok(v1::SeatClaim::Reserved) => {
                if seat.player_id.is_empty() {
                    faults.add(field("player_id"), "is empty, but a reserved seat is for a player");
                }
                player.map(NewSeat::Reserved)
            }
            Ok(v1::SeatClaim::Unspecified | v1::SeatClaim::Rematch) | Err(_) => {
                let values = "SEAT_CLAIM_ASSIGNED, SEAT_CLAIM_OPEN or SEAT_CLAIM_RESERVED";
                faults.add(field("claim"), fields::unknown_value(seat.claim, values));
                None
            }
        }
    });
    read.collect()
}

fn seating(number: i32, faults: &mut FieldFaults) -> Seating {
    match v1::Seating::try_from(number) {
        Ok(v1::Seating::Unspecified | v1::Seating::AsGiven) => Seating::AsGiven,
        Ok(v1::Seating::Random) => Seating::Random,
        Err(_) => {
            let values = "SEATING_AS_GIVEN or SEATING_RANDOM";
            faults.add("seating", fields::unknown_value(number, values));
            Seating::AsGiven
        }
    }
}

/// The labels of a new game.
pub(in crate::api) fn labels(
    labels: BTreeMap<String, String>,
    faults: &mut FieldFaults,
) -> BTreeMap<String, String> {
    if labels.len() > MAX_LABELS {
        faults.add("labels", format!("has {}, but may have {MAX_LABELS}", labels.len()));
    }
    for (key, value) in &labels {
        if !(1..=MAX_LABEL_KEY).contains(&key.len()) {
            faults.add("labels", format!("key `{key}` must have 1 to {MAX_LABEL_KEY} bytes"));
        }
        if value.len() > MAX_LABEL_VALUE {
            let length = value.len();
            faults.add(
                format!("labels[{key}]"),
                format!("has {length} bytes, but may have {MAX_LABEL_VALUE}"),
            );
        }
    }
    labels
}
