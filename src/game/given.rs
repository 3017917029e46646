//! A start that somebody gave: for games that come from elsewhere, and for tests.

use super::shuffle::shuffle;
use crate::rules::{Deal, DealError, Piece, Position, RuleSet, Square, UtcTime};

/// Where a game starts that was not dealt by the service. It proves nothing about its deal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The position, where that is not every piece face down.
    pub start: Option<Position>,
    /// What lies face down there.
    pub hidden: Deal,
    /// When it was created, as the record says that it comes from.
    pub created: Option<UtcTime>,
}

impl From<Deal> for Given {
    /// A full deal, every piece face down.
    fn from(hidden: Deal) -> Self {
        Self { start: None, hidden, created: None }
    }
}

impl Given {
    /// The position that the game starts from.
    pub fn position(&self, rules: &RuleSet) -> Position {
        self.start.clone().unwrap_or_else(|| Position::start(rules))
    }

    /// Whether what is given fits together and is of these rules.
    ///
    /// # Errors
    /// What of the deal does not fit.
    pub(super) fn check(&self, rules: &RuleSet) -> Result<(), DealError> {
        self.hidden.check_hidden(&self.position(rules))
    }
}

/// What lies face down in a position of which some squares are known, the others drawn by a random
/// key from the pieces that are left: the pieces in their set's order, shuffled, laid on the squares in
/// index order.
///
/// # Errors
/// Where what is known cannot lie there.
pub fn complete_deal(
    position: &Position,
    known: &[(Square, Piece)],
    key: &[u8; 32],
) -> Result<Deal, DealError> {
    let mut left = position.face_down();
    // What is there more often than it lies face down is found when the deal is checked.
    for &(_, piece) in known {
        left.take(piece);
    }
    let mut drawn: Vec<Piece> = left.pieces().collect();
    shuffle(key, &mut drawn);
    lay(position, known, drawn)
}

/// What lies face down in a position of which some squares are known, and of the others the pieces in
/// index order.
///
/// # Errors
/// Where they are not those that lie there.
pub fn lay(
    position: &Position,
    known: &[(Square, Piece)],
    others: impl IntoIterator<Item = Piece>,
) -> Result<Deal, DealError> {
    let mut others = others.into_iter();
    let mut pieces: Vec<Piece> = position
        .face_down_squares()
        .into_iter()
        .filter_map(|square| {
            let known = known.iter().find(|(known, _)| *known == square);
            known.map(|(_, piece)| *piece).or_else(|| others.next())
        })
        .collect();
    // Too many are refused, with their number.
    pieces.extend(others);
    Deal::under(position, &pieces)
}
