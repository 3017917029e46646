//! What a game refuses, told as reasons.

use tonic_types::PreconditionViolation;

use super::{ApiError, Reason};
use crate::game::{Etag, Game, GameId, Refusal};

impl From<&Refusal> for Reason {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::GameOver => Self::GameOver,
            Refusal::NotStarted => Self::GameNotStarted,
            Refusal::NotYourTurn { .. } => Self::NotYourTurn,
            Refusal::SeatOut { .. } => Self::SeatOut,
            Refusal::NoSuchSeat { .. } => Self::NoSuchSeat,
            Refusal::SeatTaken { .. } => Self::SeatTaken,
            Refusal::SeatReserved { .. } => Self::SeatReserved,
            Refusal::NoSeatOpen => Self::NoSeatOpen,
            Refusal::AlreadySeated { .. } => Self::AlreadySeated,
            Refusal::NotJoined { .. } => Self::SeatNotJoined,
            Refusal::EntropyAdded { .. } => Self::EntropyAdded,
            Refusal::DealFixed => Self::DealFixed,
            Refusal::DealGiven => Self::DealGiven,
            Refusal::Illegal(illegal) => illegal.into(),
            Refusal::NotOver => Self::GameNotOver,
            Refusal::DrawOfferPending { .. } => Self::DrawOfferPending,
            Refusal::DrawOfferSpent { .. } => Self::DrawOfferSpent,
            Refusal::NoDrawOffer => Self::NoDrawOffer,
            Refusal::OwnOffer { .. } => Self::OwnOffer,
            Refusal::OfferAnswered { .. } => Self::OfferAnswered,
            Refusal::TakebackPending { .. } => Self::TakebackPending,
            Refusal::TakebackSpent { .. } => Self::TakebackSpent,
            Refusal::NoTakebackRequest => Self::NoTakebackRequest,
            Refusal::NothingToTakeBack => Self::NothingToTakeBack,
            Refusal::TakebackRevealed => Self::TakebackRevealed,
            Refusal::TakebackSeatOut => Self::TakebackSeatOut,
            Refusal::TakebackLimit { .. } => Self::TakebackLimit,
            Refusal::AbortTooLate => Self::AbortTooLate,
            Refusal::Places(_) => Self::PlacementsWrong,
            // No call asks for what these refuse: the service sees to it by itself.
            Refusal::GameExists
            | Refusal::AlreadyBegun
            | Refusal::NotDue { .. }
            | Refusal::TimeIsUp { .. }
            | Refusal::RematchMade => Self::Internal,
        }
    }
}

/// The type of precondition that an action fails which the rules forbid, whatever the reason.
const ILLEGAL_ACTION: &str = "ILLEGAL_ACTION";

impl ApiError {
    /// The state of a game does not allow what was asked.
    pub(crate) fn refused(game: &GameId, refusal: &Refusal) -> Self {
        let reason = Reason::from(refusal);
        let kind = match refusal {
            Refusal::Illegal(_) => ILLEGAL_ACTION,
            _ => reason.name(),
        };
        let message = refusal.to_string();
        let violation = PreconditionViolation::new(kind, game.as_str(), message.as_str());
        Self::new(reason, message).about(game).with_detail(|details| {
            details.set_precondition_failure(vec![violation]);
        })
    }

    /// Only trusted callers may do that.
    pub(crate) fn platform_only() -> Self {
        Self::new(
            Reason::PlatformOnly,
            "only trusted callers may act by `seat` or for the platform: send a seat's token, or \
             start the service with --dev-platform",
        )
    }

    /// There is no such game.
    pub(crate) fn no_game(game: &GameId) -> Self {
        Self::new(Reason::GameNotFound, format!("there is no game `{game}`")).about(game)
    }

    /// The game is in another state than the caller expects; `reason` says which kind of other.
    pub(crate) fn version(reason: Reason, current: &Game, message: &str) -> Self {
        let version = current.version();
        Self::new(reason, message)
            .about(current.id())
            .with_metadata("etag", Etag(version))
            .with_metadata("revision", version.revision)
    }
}
