//! What a game refuses, told as reasons.

use tonic_types::PreconditionViolation;

use super::{ApiError, Reason};
use crate::game::{Etag, GameId, Refusal, Version};

impl From<&Refusal> for Reason {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::GameOver => Self::GameOver,
            Refusal::NotStarted => Self::GameNotStarted,
            Refusal::NotYourTurn { .. } => Self::NotYourTurn,
            Refusal::SeatOut { .. } => Self::SeatOut,
            Refusal::NoSuchSeat { .. } => Self::NoSuchSeat,
            Refusal::SeatTaken { .. } => Self::SeatTaken,
            Refusal::SeatReserved { .. } | Refusal::SeatOfRematch { .. } => Self::SeatReserved,
            Refusal::NoSeatOpen => Self::NoSeatOpen,
            Refusal::AlreadySeated { .. } => Self::AlreadySeated,
            Refusal::NotJoined { .. } => Self::SeatNotJoined,
            Refusal::EntropyAdded { .. } => Self::EntropyAdded,
            Refusal::DealFixed => Self::DealFixed,
            Refusal::DealGiven => Self::DealGiven,
            Refusal::Illegal(illegal) => illegal.into(),
            Refusal::NotOver => Self::GameNotOver,
            Refusal::RematchOver { .. } => Self::RematchOver,
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
            | Refusal::Overdue
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

    /// Without a service key no player tokens can be made.
    pub(crate) fn no_service_key() -> Self {
        let message = "this service has no key to make player tokens with: start every replica \
                       with --service-key and the same file of at least 32 random bytes";
        let reason = Reason::NoServiceKey;
        let violation = PreconditionViolation::new(reason.name(), "--service-key", message);
        Self::new(reason, message).with_detail(|details| {
            details.set_precondition_failure(vec![violation]);
        })
    }

    /// There is no such game.
    pub(crate) fn no_game(game: &GameId) -> Self {
        Self::new(Reason::GameNotFound, format!("there is no game `{game}`")).about(game)
    }

    /// Nobody without a seat may see the game.
    pub(crate) fn hidden(game: &GameId) -> Self {
        let message = "the game is hidden until it has ended: send a seat's token as metadata \
                       `authorization: Bearer`";
        Self::new(Reason::SpectatorsHidden, message).about(game)
    }

    /// The game is in another state than the caller expects; `reason` says which kind of other.
    /// `seen` is the newest state that the caller may know of.
    pub(crate) fn version(
        reason: Reason,
        game: &GameId,
        seen: Option<Version>,
        message: &str,
    ) -> Self {
        let error = Self::new(reason, message).about(game);
        match seen {
            Some(seen) => {
                error.with_metadata("etag", Etag(seen)).with_metadata("revision", seen.revision)
            }
            None => error,
        }
    }
}
