//! What the seat to move may do: one generator for every rule set.

use arrayvec::ArrayVec;

use super::action::Action;
use super::board::Cell;
use super::chase::Chases;
use super::illegal::IllegalAction;
use super::lines::{steps, steps_from_any};
use super::position::Position;
use super::reach::Captures;
use super::rule_set::RuleSet;
use super::square::{Square, SquareSet};

/// Legal actions: flips by square, then moves by square of departure, then the end of a chain.
///
/// No position of any rule set has more than its capacity: 64 squares to flip, or at most 18
/// targets (14 along lines, 4 diagonally) for the 12 pieces that reach beyond a step, 4 for others.
pub type ActionList = ArrayVec<Action, 320>;

/// The parts of a game that say what is legal in it.
#[derive(Clone, Copy)]
pub(super) struct Legal<'a> {
    pub(super) rules: &'a RuleSet,
    pub(super) captures: &'a Captures,
    pub(super) position: &'a Position,
    pub(super) chases: &'a Chases,
}

impl Legal<'_> {
    /// Writes all legal actions into `list`. O(own pieces + actions).
    #[inline]
    pub(super) fn list_into(self, list: &mut ActionList) {
        if let Some(square) = self.position.chain {
            let targets = self.position.captures_from(self.captures, square);
            list.extend(targets.into_iter().map(|to| Action::Move { from: square, to }));
            list.push(Action::EndChain);
            return;
        }
        let board = &self.position.board;
        list.extend(board.face_down().into_iter().map(Action::Flip));
        let (own, vacant) = (self.position.own(self.position.to_move), board.vacant());
        let enemies = board.face_up() & !own;
        for from in own {
            let Some(kind) = board.kind_at(from) else { continue };
            let targets = steps(from) & vacant
                | self.captures.takes(board, from, kind, enemies)
                | self.captures.aims(board, from, kind);
            list.extend(targets.into_iter().map(|to| Action::Move { from, to }));
        }
        if self.rules.chase_limit() > 0 {
            self.drop_chases(list);
        }
    }

    /// Whether the seat to move has any legal turn. The chase limit leaves one, where there is any.
    #[inline]
    pub(super) fn any(self) -> bool {
        let board = &self.position.board;
        if !board.face_down().is_empty() {
            return true;
        }
        let own = self.position.own(self.position.to_move);
        if !(steps_from_any(own) & board.vacant()).is_empty() {
            return true;
        }
        own.into_iter().any(|from| !self.position.captures_from(self.captures, from).is_empty())
    }

    /// Whether an action is legal, and if not, why.
    #[inline]
    pub(super) fn check(self, action: Action) -> Result<(), IllegalAction> {
        match action {
            Action::Flip(square) => self.check_flip(square),
            Action::EndChain if self.position.chain.is_some() => Ok(()),
            Action::EndChain => Err(IllegalAction::NoChain),
            Action::Move { from, to } => {
                if self.moves_to(from).contains(to) {
                    self.check_chase(from, to)
                } else {
                    Err(self.why_no_move(from, to))
                }
            }
        }
    }

    fn check_flip(self, square: Square) -> Result<(), IllegalAction> {
        if let Some(square) = self.position.chain {
            return Err(IllegalAction::ChainNeedsCapture { square });
        }
        match self.position.cell(square) {
            _ if !self.position.board_size().contains(square) => {
                Err(IllegalAction::OffBoard { square })
            }
            Cell::FaceDown => Ok(()),
            Cell::Empty => Err(IllegalAction::EmptySquare { square }),
            Cell::FaceUp(_) => Err(IllegalAction::NotFaceDown { square }),
        }
    }

    /// Where the piece on `from` may go, the chase limit aside; nowhere, if it is not the seat's
    /// to move.
    fn moves_to(self, from: Square) -> SquareSet {
        let (board, position) = (&self.position.board, self.position);
        if !position.own(position.to_move).contains(from) {
            return SquareSet::EMPTY;
        }
        match position.chain {
            None => steps(from) & board.vacant() | position.captures_from(self.captures, from),
            Some(square) if square == from => position.captures_from(self.captures, from),
            Some(_) => SquareSet::EMPTY,
        }
    }

    fn why_no_move(self, from: Square, to: Square) -> IllegalAction {
        let position = self.position;
        for square in [from, to] {
            if !position.board_size().contains(square) {
                return IllegalAction::OffBoard { square };
            }
        }
        if position.colours(position.to_move).is_empty() {
            return IllegalAction::ColoursNotSet;
        }
        let piece = match position.cell(from) {
            Cell::Empty => return IllegalAction::EmptySquare { square: from },
            Cell::FaceDown => return IllegalAction::FaceDownPiece { square: from },
            Cell::FaceUp(piece) => piece,
        };
        let own = position.own(position.to_move);
        if !own.contains(from) {
            return IllegalAction::NotYourPiece { square: from };
        }
        if let Some(square) = position.chain.filter(|square| *square != from) {
            return IllegalAction::ChainPiece { square };
        }
        if own.contains(to) {
            return IllegalAction::OwnPiece { square: to };
        }
        let reached = self.captures.geometry(&position.board, from, piece.kind).contains(to);
        match position.cell(to) {
            Cell::FaceDown if reached => IllegalAction::FaceDownTarget { square: to },
            Cell::FaceUp(_) if reached => IllegalAction::RankTooLow { from, to },
            Cell::Empty if from.is_beside(to) => IllegalAction::ChainNeedsCapture { square: from },
            _ => IllegalAction::OutOfReach { from, to },
        }
    }

    fn check_chase(self, from: Square, to: Square) -> Result<(), IllegalAction> {
        if self.rules.chase_limit() == 0 || !self.exceeds_chase_limit(from, to) {
            return Ok(());
        }
        let mut list = ActionList::new();
        self.list_into(&mut list);
        if list.contains(&Action::Move { from, to }) {
            return Ok(());
        }
        Err(IllegalAction::ChaseLimit { from, to, limit: self.rules.chase_limit() })
    }

    fn exceeds_chase_limit(self, from: Square, to: Square) -> bool {
        let limit = self.rules.chase_limit();
        self.position.cell(to) == Cell::Empty
            && self.chases.exceeds(self.captures, self.position, from, to, limit)
    }

    /// Takes out the moves over the chase limit, unless nothing else is legal.
    fn drop_chases(self, list: &mut ActionList) {
        let within = |action: &mut Action| match *action {
            Action::Move { from, to } => !self.exceeds_chase_limit(from, to),
            Action::Flip(_) | Action::EndChain => true,
        };
        let mut kept = list.clone();
        kept.retain(within);
        if !kept.is_empty() {
            *list = kept;
        }
    }
}
