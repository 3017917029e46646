//! What the seat to move may do: one generator for every rule set.

use super::action::Action;
use super::action_list::ActionList;
use super::board::Cell;
use super::chase::Chases;
use super::illegal::IllegalAction;
use super::lines::{steps, steps_by_direction, steps_from_any};
use super::position::Position;
use super::reach::Captures;
use super::rule_set::RuleSet;
use super::square::{Square, SquareSet};

/// The parts of a game that say what is legal in it.
#[derive(Clone, Copy)]
pub(super) struct Legal<'a> {
    pub(super) rules: &'a RuleSet,
    pub(super) captures: &'a Captures,
    pub(super) position: &'a Position,
    pub(super) chases: &'a Chases,
}

impl Legal<'_> {
    /// Writes all legal actions into an empty list. O(own pieces + actions).
    #[inline]
    pub(super) fn list_into(self, list: &mut ActionList) {
        if let Some(from) = self.position.chain {
            for to in self.position.captures_from(self.captures, from) {
                list.push(Action::Move { from, to });
            }
            list.push(Action::EndChain);
            return;
        }
        let board = &self.position.board;
        for square in board.face_down() {
            list.push(Action::Flip(square));
        }
        let own = self.position.own(self.position.to_move);
        let enemies = board.face_up() & !own;
        let open = board.vacant() | enemies;
        for (reached, back) in steps_by_direction(own) {
            for to in reached & open {
                let from = Square::masked(to.index().wrapping_add_signed(back));
                list.push_if(Action::Move { from, to }, self.captures.steps_to(board, from, to));
            }
        }
        for from in own & board.of_kinds(self.captures.far_reaching()) {
            let Some(kind) = board.kind_at(from) else { continue };
            for to in self.captures.far_targets(board, from, kind, enemies) {
                list.push(Action::Move { from, to });
            }
        }
        if !self.captures.step_aimers().is_empty() {
            let aimers = own & board.of_kinds(self.captures.step_aimers());
            for (reached, back) in steps_by_direction(aimers) {
                for to in reached & board.face_down() {
                    let from = Square::masked(to.index().wrapping_add_signed(back));
                    list.push(Action::Move { from, to });
                }
            }
        }
        let limit = self.rules.chase_limit();
        if limit > 0 && self.chases.reached(self.position.to_move, limit) {
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
        let within = |action| match action {
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
