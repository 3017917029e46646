//! `AnalyzePosition`.

use crate::api::convert;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::proto::v1;
use crate::api::proto::v1::analyze_position_request::Start;
use crate::api::start;
use crate::rules::Referee;

pub(super) fn analyze(
    request: v1::AnalyzePositionRequest,
) -> Result<v1::AnalyzePositionResponse, ApiError> {
    let mut faults = FieldFaults::default();
    let rules = convert::rules::read(&request.preset, request.rules, &mut faults);
    let position = match (&request.start, &rules) {
        (None, _) => {
            faults.add("position", "is not set: send `position` or `board`");
            None
        }
        (Some(Start::Position(text)), rules) => start::position(text, rules.as_ref(), &mut faults),
        (Some(Start::Board(board)), Some(rules)) => {
            start::board(board, rules, &mut faults).map(|(position, _)| position)
        }
        // Without rules nobody knows what size of board to expect.
        (Some(Start::Board(_)), None) => None,
    };
    let (Some(rules), Some(position)) = (rules, position) else {
        return Err(faults.into_error());
    };
    let referee = Referee::from_position(&rules, position);
    Ok(v1::AnalyzePositionResponse {
        position: Some(referee.position().into()),
        legal_actions: convert::action::legal_actions(&referee),
        result: referee.outcome().map(Into::into),
        departures: referee.departures().iter().map(Into::into).collect(),
    })
}
