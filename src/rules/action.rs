//! Actions: the smallest things that a seat does (`RULES.md` §1 and §9).

use std::fmt;
use std::str::FromStr;

use arrayvec::ArrayString;

use super::square::Square;

/// What a seat does. Its text is `b3`, `b3-b4` or `end`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Turns up the face-down piece on a square.
    Flip(Square),
    /// Moves the piece on `from` to `to`, captures there, or aims at a face-down piece there.
    Move {
        /// Where the piece stands.
        from: Square,
        /// Where it goes or aims.
        to: Square,
    },
    /// Ends a chain of captures (`RULES.md` §5).
    EndChain,
}

impl Action {
    /// Its text.
    pub fn text(self) -> ArrayString<5> {
        let mut text = ArrayString::new();
        match self {
            Self::Flip(square) => square.name().into_iter().for_each(|char| text.push(char)),
            Self::Move { from, to } => {
                let ([file, rank], [to_file, to_rank]) = (from.name(), to.name());
                [file, rank, '-', to_file, to_rank].into_iter().for_each(|char| text.push(char));
            }
            Self::EndChain => text.push_str("end"),
        }
        text
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no action: write `b3` to flip, `b3-b4` to move or capture, `end` to end a chain")]
pub struct ActionError(pub String);

impl FromStr for Action {
    type Err = ActionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = |_| ActionError(text.to_owned());
        match text.split_once('-') {
            None if text == "end" => Ok(Self::EndChain),
            None => text.parse().map(Self::Flip).map_err(fault),
            Some((from, to)) => {
                let (from, to) = (from.parse().map_err(fault)?, to.parse().map_err(fault)?);
                if from == to {
                    Err(ActionError(text.to_owned()))
                } else {
                    Ok(Self::Move { from, to })
                }
            }
        }
    }
}
