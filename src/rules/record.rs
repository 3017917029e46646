//! Records: what an action did, with what it turned up (`RULES.md` §9).

use std::fmt;
use std::str::FromStr;

use super::action::Action;
use super::piece::Piece;
use super::square::Square;

/// What an action did. Its text is that of `RULES.md` §9, like `b3(n)` or `b3xb4`.
///
/// `turned_up` is the piece that stood face down on the square acted on; `None` where it was
/// face up.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Record {
    /// A face-down piece was turned up: `b3(k)`.
    Flip {
        /// Where.
        square: Square,
        /// What it proved to be.
        piece: Piece,
    },
    /// A piece moved to an empty square: `b3-b4`.
    Move {
        /// From where.
        from: Square,
        /// To where.
        to: Square,
    },
    /// A piece took another and stands in its place: `b3xb4`, `b3xb4(p)`.
    Capture {
        /// From where.
        from: Square,
        /// To where.
        to: Square,
        /// What was taken, where that was face down.
        turned_up: Option<Piece>,
    },
    /// An aim at a face-down piece took nothing, and both stay: `b3?b4(p)`.
    Probe {
        /// From where.
        from: Square,
        /// Aimed at where.
        to: Square,
        /// What was turned up.
        turned_up: Piece,
    },
    /// An aim at a face-down piece cost the attacker: `b3#b4(p)`.
    Trade {
        /// From where.
        from: Square,
        /// Aimed at where.
        to: Square,
        /// What was turned up, and stays.
        turned_up: Piece,
    },
    /// Two pieces of the same kind left the board: `b3*b4`, `b3*b4(p)`.
    BothRemoved {
        /// Where the attacker stood.
        from: Square,
        /// Where the other stood.
        to: Square,
        /// The other, where that was face down.
        turned_up: Option<Piece>,
    },
    /// A chain was ended: `end`.
    EndChain,
}

impl Record {
    /// The action that did this.
    pub const fn action(&self) -> Action {
        match *self {
            Self::Flip { square, .. } => Action::Flip(square),
            Self::Move { from, to }
            | Self::Capture { from, to, .. }
            | Self::Probe { from, to, .. }
            | Self::Trade { from, to, .. }
            | Self::BothRemoved { from, to, .. } => Action::Move { from, to },
            Self::EndChain => Action::EndChain,
        }
    }

    /// The face-down piece that was turned up, and where.
    pub const fn turned_up(&self) -> Option<(Square, Piece)> {
        match *self {
            Self::Flip { square, piece } => Some((square, piece)),
            Self::Probe { to, turned_up, .. } | Self::Trade { to, turned_up, .. } => {
                Some((to, turned_up))
            }
            Self::Capture { to, turned_up: Some(piece), .. }
            | Self::BothRemoved { to, turned_up: Some(piece), .. } => Some((to, piece)),
            _ => None,
        }
    }

    /// Whether nothing was turned up and nothing was removed.
    pub const fn is_quiet(&self) -> bool {
        matches!(self, Self::Move { .. } | Self::EndChain)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, sign, to, turned_up) = match *self {
            Self::Flip { square, piece } => return write!(f, "{square}({piece})"),
            Self::EndChain => return f.write_str("end"),
            Self::Move { from, to } => (from, '-', to, None),
            Self::Capture { from, to, turned_up } => (from, 'x', to, turned_up),
            Self::Probe { from, to, turned_up } => (from, '?', to, Some(turned_up)),
            Self::Trade { from, to, turned_up } => (from, '#', to, Some(turned_up)),
            Self::BothRemoved { from, to, turned_up } => (from, '*', to, turned_up),
        };
        write!(f, "{from}{sign}{to}")?;
        turned_up.map_or(Ok(()), |piece| write!(f, "({piece})"))
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no record of an action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no record of an action: expected `b3(k)`, `b3-b4`, `b3xb4`, `b3xb4(k)`, `b3?b4(k)`, \
     `b3#b4(k)`, `b3*b4`, `b3*b4(k)` or `end`"
)]
pub struct RecordError(pub String);

impl FromStr for Record {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read(text).ok_or_else(|| RecordError(text.to_owned()))
    }
}

fn read(text: &str) -> Option<Record> {
    if text == "end" {
        return Some(Record::EndChain);
    }
    let (squares, turned_up) = match text.split_once('(') {
        None => (text, None),
        Some((squares, rest)) => (squares, Some(rest.strip_suffix(')')?.parse().ok()?)),
    };
    let from: Square = squares.get(..2)?.parse().ok()?;
    let rest = squares.get(2..)?;
    let Some(sign) = rest.chars().next() else {
        return Some(Record::Flip { square: from, piece: turned_up? });
    };
    let to: Square = rest.get(sign.len_utf8()..)?.parse().ok()?;
    if from == to {
        return None;
    }
    match sign {
        '-' if turned_up.is_none() => Some(Record::Move { from, to }),
        'x' => Some(Record::Capture { from, to, turned_up }),
        '?' => Some(Record::Probe { from, to, turned_up: turned_up? }),
        '#' => Some(Record::Trade { from, to, turned_up: turned_up? }),
        '*' => Some(Record::BothRemoved { from, to, turned_up }),
        _ => None,
    }
}
