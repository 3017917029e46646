//! Why games end, in words.

use crate::api::proto::v1::EndReason;

/// The name of a reason in `docs/RULES.md`, which scripts go by.
pub(super) fn name(reason: EndReason) -> &'static str {
    reason.as_str_name().trim_start_matches("END_REASON_")
}

/// A reason for people, with its name: `by resignation (RESIGNATION)`. It follows who has won, or who is
/// out.
pub(super) fn in_words(reason: EndReason) -> String {
    let words = match reason {
        EndReason::Unspecified => "for a reason that this release does not know",
        EndReason::AllCaptured => "a side has no pieces left",
        EndReason::NoPiecesLeft => "nobody has a piece left",
        EndReason::NoLegalTurn => "the side to move could do nothing",
        EndReason::ThreefoldRepetition => "the same position came again and again",
        EndReason::QuietLimit => "too long nothing was captured or turned up",
        EndReason::PerpetualAttack => "a side attacked the same piece on and on",
        EndReason::LastStanding => "all others are out",
        EndReason::Resignation => "by resignation",
        EndReason::Timeout => "a clock ran out",
        EndReason::Agreement => "all have agreed",
        EndReason::Aborted => "called off",
        EndReason::Abandoned => "a side did not act for too long",
        EndReason::Adjudicated => "the organiser decided",
    };
    format!("{words} ({})", name(reason))
}
