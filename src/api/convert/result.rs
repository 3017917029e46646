//! Results, places and departures.

use crate::api::proto::v1;
use crate::rules::{Departure, EndReason, Outcome};

impl From<EndReason> for v1::EndReason {
    fn from(reason: EndReason) -> Self {
        match reason {
            EndReason::AllCaptured => Self::AllCaptured,
            EndReason::NoPiecesLeft => Self::NoPiecesLeft,
            EndReason::NoLegalTurn => Self::NoLegalTurn,
            EndReason::ThreefoldRepetition => Self::ThreefoldRepetition,
            EndReason::QuietLimit => Self::QuietLimit,
            EndReason::PerpetualAttack => Self::PerpetualAttack,
            EndReason::LastStanding => Self::LastStanding,
            EndReason::Resignation => Self::Resignation,
            EndReason::Timeout => Self::Timeout,
            EndReason::Agreement => Self::Agreement,
            EndReason::Aborted => Self::Aborted,
            EndReason::Abandoned => Self::Abandoned,
            EndReason::Adjudicated => Self::Adjudicated,
        }
    }
}

impl From<&Outcome> for v1::Result {
    fn from(outcome: &Outcome) -> Self {
        Self {
            winners: outcome.winner().map(|seat| u32::from(seat.number())).into_iter().collect(),
            reason: v1::EndReason::from(outcome.reason).into(),
            placements: placements(&outcome.places),
        }
    }
}

/// The places of all seats, in their order.
pub fn placements(places: &[u8]) -> Vec<v1::Placement> {
    (1..).zip(places).map(|(seat, &place)| v1::Placement { seat, place: place.into() }).collect()
}

impl From<&Departure> for v1::Departure {
    fn from(departure: &Departure) -> Self {
        Self {
            seat: departure.seat.number().into(),
            reason: v1::EndReason::from(departure.reason).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_keeps_its_name() {
        for reason in EndReason::ALL {
            let name = v1::EndReason::from(reason).as_str_name();
            assert_eq!(name.strip_prefix("END_REASON_"), Some(reason.name()));
        }
    }
}
