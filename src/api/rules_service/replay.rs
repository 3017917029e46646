//! `ReplayGame`.

use crate::api::convert;
use crate::api::error::{ApiError, FieldFaults, Reason};
use crate::api::proto::v1;
use crate::api::proto::v1::replay_game_request::Start;
use crate::api::start;
use crate::rules::{Action, ActionList, Deal, PlayError, Referee, RuleSet};

/// How many actions one call may play. The answer to so many, all quiet, stays below the 4 MiB
/// that clients take by default.
pub const MAX_ACTIONS: usize = 100_000;

pub(super) fn replay(request: v1::ReplayGameRequest) -> Result<v1::ReplayGameResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let rules = convert::rules::read(&request.preset, request.rules, &mut faults);
    let start = read_start(request.start.as_ref(), rules.as_ref(), &mut faults);
    let actions = read_actions(&request.actions, &mut faults);
    match (start, actions) {
        (Some((referee, deal)), Some(actions)) => play(referee, &deal, &actions),
        _ => Err(faults.into_error()),
    }
}

fn read_start(
    start: Option<&Start>,
    rules: Option<&RuleSet>,
    faults: &mut FieldFaults,
) -> Option<(Referee, Deal)> {
    let Some(start) = start else {
        faults.add("deal", "is not set: send `deal` or `board`");
        return None;
    };
    // Without rules nobody knows what size of board to expect.
    let rules = rules?;
    match start {
        Start::Deal(text) => {
            let deal = faults.check("deal", Deal::parse(rules.board_size(), text))?;
            Some((Referee::new(rules), deal))
        }
        Start::Board(board) => {
            let (position, deal) = start::board(board, rules, faults)?;
            Some((Referee::from_position(rules, position), deal))
        }
    }
}

fn read_actions(texts: &[String], faults: &mut FieldFaults) -> Option<Vec<Action>> {
    if texts.len() > MAX_ACTIONS {
        faults.add("actions", format!("has {} actions, at most {MAX_ACTIONS}", texts.len()));
        return None;
    }
    let mut actions = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        match text.parse() {
            Ok(action) => actions.push(action),
            Err(fault) => faults.add(format!("actions[{index}]"), fault),
        }
    }
    (actions.len() == texts.len()).then_some(actions)
}

fn play(
    mut referee: Referee,
    deal: &Deal,
    actions: &[Action],
) -> Result<v1::ReplayGameResponse, ApiError> {
    let mut response = v1::ReplayGameResponse::default();
    let mut legal = ActionList::new();
    for (index, &action) in (0..).zip(actions) {
        referee.legal_actions_into(&mut legal);
        match referee.play(action, |square| deal.at(square)) {
            Ok(played) => {
                response.records.push(convert::action::record(&played));
                // At most 320 of them.
                response.legal_counts.push(legal.len() as u32);
            }
            Err(PlayError::Illegal(illegal)) => {
                response.illegal = Some(v1::IllegalAction {
                    index,
                    reason: Reason::from(&illegal).name().to_owned(),
                    message: illegal.to_string(),
                });
                break;
            }
            // What was read as one deal fits the position it was read with.
            Err(contradiction) => {
                tracing::error!(%contradiction, "a deal that was checked contradicts its position");
                return Err(ApiError::new(Reason::Internal, contradiction.to_string()));
            }
        }
    }
    response.final_position = referee.position().to_string();
    response.legal_actions = convert::action::legal_actions(&referee);
    response.result = referee.outcome().map(Into::into);
    response.departures = referee.departures().iter().map(Into::into).collect();
    Ok(response)
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;

    #[test]
    fn the_answer_to_the_longest_game_fits_into_what_clients_take() {
        let piece = v1::Piece { colour: v1::Colour::Green.into(), kind: v1::Kind::Soldier.into() };
        let record = v1::ActionRecord {
            text: "h8-g8".to_owned(),
            kind: v1::RecordKind::Move.into(),
            seat: 4,
            // As many as there are actions.
            turn_number: MAX_ACTIONS as u32,
            from: v1::Square::H8.into(),
            to: v1::Square::G8.into(),
            piece: Some(piece),
            turned_up: None,
            captured: None,
        };
        let response = v1::ReplayGameResponse {
            records: vec![record; MAX_ACTIONS],
            legal_counts: vec![320; MAX_ACTIONS],
            ..Default::default()
        };
        assert!(response.encoded_len() < 4 * 1024 * 1024, "{} bytes", response.encoded_len());
    }
}
