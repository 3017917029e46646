//! Why an action is illegal.

use super::square::Square;

/// Why an action is illegal. It depends on nothing hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IllegalAction {
    /// The game has ended.
    #[error("the game is over")]
    GameOver,
    /// The square is not on this board.
    #[error("{square} is not on this board")]
    OffBoard {
        /// Which square.
        square: Square,
    },
    /// The seat has no colour yet, so it may only flip.
    #[error("the seat has no colour yet: only a flip is legal")]
    ColoursNotSet,
    /// Nothing is on the square.
    #[error("{square} is empty")]
    EmptySquare {
        /// Which square.
        square: Square,
    },
    /// A flip of a piece that is face up.
    #[error("the piece on {square} is face up already: move it with `{square}-…`")]
    NotFaceDown {
        /// Which square.
        square: Square,
    },
    /// A face-down piece cannot move.
    #[error("the piece on {square} is face down: turn it up with `{square}`")]
    FaceDownPiece {
        /// Which square.
        square: Square,
    },
    /// The piece is another seat's.
    #[error("the piece on {square} is not the seat's own")]
    NotYourPiece {
        /// Which square.
        square: Square,
    },
    /// The target is a piece of the seat itself.
    #[error("the piece on {square} is the seat's own and cannot be taken")]
    OwnPiece {
        /// Which square.
        square: Square,
    },
    /// The piece does not get there that way.
    #[error("the piece on {from} does not reach {to} that way")]
    OutOfReach {
        /// The piece's square.
        from: Square,
        /// The target.
        to: Square,
    },
    /// The ladder does not let the piece take that one.
    #[error("the piece on {from} may not take the one on {to}: the ladder forbids it")]
    RankTooLow {
        /// The piece's square.
        from: Square,
        /// The target.
        to: Square,
    },
    /// Face-down pieces cannot be taken under this rule set.
    #[error("the piece on {square} is face down and cannot be taken")]
    FaceDownTarget {
        /// The target.
        square: Square,
    },
    /// During a chain only the chain's piece may act.
    #[error("a chain is in progress: only the piece on {square} may capture, or `end` ends it")]
    ChainPiece {
        /// The square of the chain's piece.
        square: Square,
    },
    /// During a chain only captures are legal.
    #[error("a chain is in progress: the piece on {square} may only capture, or `end` ends it")]
    ChainNeedsCapture {
        /// The square of the chain's piece.
        square: Square,
    },
    /// No chain is in progress.
    #[error("no chain is in progress: there is nothing to end")]
    NoChain,
    /// The move would make a run of chases longer than the rule set allows.
    #[error("{from}-{to} would chase the same piece once more than the {limit} times allowed")]
    ChaseLimit {
        /// The chasing piece's square.
        from: Square,
        /// Where it would go.
        to: Square,
        /// The rule set's limit.
        limit: u8,
    },
}

impl IllegalAction {
    /// The reason's name, as programs compare it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::GameOver => "GAME_OVER",
            Self::OffBoard { .. } => "OFF_BOARD",
            Self::ColoursNotSet => "COLOURS_NOT_SET",
            Self::EmptySquare { .. } => "EMPTY_SQUARE",
            Self::NotFaceDown { .. } => "NOT_FACE_DOWN",
            Self::FaceDownPiece { .. } => "FACE_DOWN_PIECE",
            Self::NotYourPiece { .. } => "NOT_YOUR_PIECE",
            Self::OwnPiece { .. } => "OWN_PIECE",
            Self::OutOfReach { .. } => "OUT_OF_REACH",
            Self::RankTooLow { .. } => "RANK_TOO_LOW",
            Self::FaceDownTarget { .. } => "FACE_DOWN_TARGET",
            Self::ChainPiece { .. } => "CHAIN_PIECE",
            Self::ChainNeedsCapture { .. } => "CHAIN_NEEDS_CAPTURE",
            Self::NoChain => "NO_CHAIN",
            Self::ChaseLimit { .. } => "CHASE_LIMIT",
        }
    }
}
