//! The referee of one game: what is legal, what an action does, when the game ends.

use std::sync::Arc;

use arrayvec::ArrayVec;

use super::action::Action;
use super::action_list::ActionList;
use super::chase::Chases;
use super::illegal::IllegalAction;
use super::legal::Legal;
use super::outcome::{Departure, Outcome};
use super::piece::{ColourSet, Piece};
use super::position::Position;
use super::reach::{Captures, Manner};
use super::record::Record;
use super::repetition::Standings;
use super::rule_set::{FaceDownRule, RepetitionRule, RuleSet};
use super::seat::Seat;
use super::square::{BoardSize, Square};

/// A rule set and what is worked out from it once, shared by all clones of a referee.
#[derive(Clone)]
pub(super) struct Rules {
    pub(super) set: RuleSet,
    pub(super) captures: Captures,
}

/// Referees one game on the position that everyone sees. Nothing hidden is in it: what an action
/// turns up is asked for when it is played.
#[derive(Clone)]
pub struct Referee {
    pub(super) rules: Arc<Rules>,
    pub(super) position: Position,
    pub(super) standings: Standings,
    pub(super) chases: Chases,
    pub(super) departures: ArrayVec<Departure, { Seat::MAX }>,
    pub(super) places: [u8; Seat::MAX],
    pub(super) outcome: Option<Outcome>,
}

/// What an action did, with what its [`Record`] leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    /// Who acted.
    pub seat: Seat,
    /// The number of the turn that it belongs to, from 1.
    pub turn_number: u32,
    /// What was done, as it is written.
    pub record: Record,
    /// The piece that moved, captured or aimed.
    pub piece: Option<Piece>,
    /// The piece on the target that left the board.
    pub taken: Option<Piece>,
}

/// An action that could not be played; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    /// It is illegal.
    #[error(transparent)]
    Illegal(#[from] IllegalAction),
    /// Nobody says what lies face down there.
    #[error("the deal has no piece on {square}, which is face down")]
    UnknownPiece {
        /// The square that would be turned up.
        square: Square,
    },
    /// What is said to lie there cannot: all of that piece are accounted for.
    #[error("the deal has {piece} on {square}, but none of it is face down any more")]
    ImpossiblePiece {
        /// The square that would be turned up.
        square: Square,
        /// What is said to lie there.
        piece: Piece,
    },
}

impl Referee {
    /// A game from its start: every piece face down.
    pub fn new(rules: &RuleSet) -> Self {
        Self::at(rules, Position::start(rules))
    }

    /// A game from a given position, which stands for the first time there. It is judged as after
    /// a turn (`RULES.md` §9), so the game may be over at once.
    pub fn from_position(rules: &RuleSet, position: Position) -> Self {
        let mut referee = Self::at(rules, position);
        referee.judge_given_position();
        referee
    }

    fn at(rules: &RuleSet, position: Position) -> Self {
        Self {
            rules: Arc::new(Rules { set: rules.clone(), captures: Captures::of(rules) }),
            standings: Standings::first(position.to_move),
            position,
            chases: Chases::default(),
            departures: ArrayVec::new(),
            places: [0; Seat::MAX],
            outcome: None,
        }
    }

    /// The rule set.
    pub fn rules(&self) -> &RuleSet {
        &self.rules.set
    }

    /// The position as everyone sees it.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// How the game ended; `None` while it goes on.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// The seats that lost or went out, in order, with the reason of each.
    pub fn departures(&self) -> &[Departure] {
        &self.departures
    }

    /// All legal actions of the seat to move; none when the game is over.
    pub fn legal_actions(&self) -> ActionList {
        let mut list = ActionList::new();
        self.legal_actions_into(&mut list);
        list
    }

    /// Writes all legal actions into a list, which is emptied first.
    #[inline]
    pub fn legal_actions_into(&self, list: &mut ActionList) {
        list.clear();
        if self.outcome.is_none() {
            self.legal().list_into(list);
        }
    }

    /// Whether an action is legal; it depends on nothing hidden.
    ///
    /// # Errors
    /// Why it is not.
    #[inline]
    pub fn check(&self, action: Action) -> Result<(), IllegalAction> {
        if self.outcome.is_some() {
            return Err(IllegalAction::GameOver);
        }
        self.legal().check(action)
    }

    /// The face-down square that this action, if legal, would turn up.
    #[inline]
    pub fn turns_up(&self, action: Action) -> Option<Square> {
        let (Action::Flip(square) | Action::Move { to: square, .. }) = action else { return None };
        self.position.is_face_down(square).then_some(square)
    }

    /// Plays an action of the seat to move. `reveal` is asked for the piece on the square that the
    /// action turns up, if it does, and only when it is legal. Nothing changes on an error.
    ///
    /// # Errors
    /// If the action is illegal, or the revealed piece cannot lie there.
    #[inline]
    pub fn play(
        &mut self,
        action: Action,
        reveal: impl FnOnce(Square) -> Option<Piece>,
    ) -> Result<Played, PlayError> {
        self.check(action)?;
        let turned_up = match self.turns_up(action) {
            None => None,
            Some(square) => {
                let piece = reveal(square).ok_or(PlayError::UnknownPiece { square })?;
                if !self.position.face_down.take(piece) {
                    return Err(PlayError::ImpossiblePiece { square, piece });
                }
                self.position.board.turn_up(square, piece);
                Some(piece)
            }
        };
        let played = match (action, turned_up) {
            (Action::Flip(square), Some(piece)) => {
                self.give_colours(piece);
                self.played(Record::Flip { square, piece }, None, None)
            }
            (Action::Move { from, to }, turned_up) => self.move_piece(from, to, turned_up),
            (Action::Flip(_) | Action::EndChain, _) => self.played(Record::EndChain, None, None),
        };
        self.settle(&played);
        Ok(played)
    }

    pub(super) fn legal(&self) -> Legal<'_> {
        Legal {
            rules: &self.rules.set,
            captures: &self.rules.captures,
            position: &self.position,
            chases: &self.chases,
        }
    }

    /// Moves, captures or aims; what lay face down on `to` is turned up already.
    #[inline]
    fn move_piece(&mut self, from: Square, to: Square, turned_up: Option<Piece>) -> Played {
        let piece = self.position.piece_at(from);
        let target = self.position.piece_at(to);
        let (Some(attacker), Some(defender)) = (piece, target) else {
            self.slide(from, to);
            return self.played(Record::Move { from, to }, piece, None);
        };
        let manner = self.rules.captures.manner(attacker.kind, from, to);
        if let Some(turned_up) = turned_up
            && let Some(record) = self.failed_aim(from, to, attacker, turned_up, manner)
        {
            return self.played(record, piece, None);
        }
        self.remove(to);
        let record = if self.rules.captures.removes_both(attacker.kind, defender.kind, manner) {
            self.remove(from);
            Record::BothRemoved { from, to, turned_up }
        } else {
            self.slide(from, to);
            Record::Capture { from, to, turned_up }
        };
        self.played(record, piece, target)
    }

    #[inline]
    fn played(&self, record: Record, piece: Option<Piece>, taken: Option<Piece>) -> Played {
        let (seat, turn_number) = (self.position.to_move, self.position.turn_number);
        Played { seat, turn_number, record, piece, taken }
    }

    /// What an aim at a face-down piece that cannot be taken does (`RULES.md` §6).
    fn failed_aim(
        &mut self,
        from: Square,
        to: Square,
        attacker: Piece,
        turned_up: Piece,
        manner: Manner,
    ) -> Option<Record> {
        let own = self.position.colours(self.position.to_move).contains(turned_up.colour);
        if !own && self.rules.captures.may_take(attacker.kind, turned_up.kind, manner) {
            return None;
        }
        if own || self.rules.set.face_down() != FaceDownRule::Trade {
            return Some(Record::Probe { from, to, turned_up });
        }
        self.remove(from);
        Some(Record::Trade { from, to, turned_up })
    }

    fn slide(&mut self, from: Square, to: Square) {
        self.position.board.slide(from, to);
        if self.rules.set.chase_limit() > 0 {
            self.chases.moved(from, to);
        }
    }

    fn remove(&mut self, square: Square) {
        self.position.board.take(square);
        if self.rules.set.chase_limit() > 0 {
            self.chases.removed(square);
        }
    }

    /// What a flip makes the seat to move command (`RULES.md` §2.1 and §7).
    fn give_colours(&mut self, turned_up: Piece) {
        let position = &mut self.position;
        let seat = position.to_move;
        if !position.colours[seat.index()].is_empty() {
            return;
        }
        let colour = turned_up.colour;
        let all = ColourSet::all(position.board_size());
        if position.seats == 2 {
            let side = match position.board_size() {
                BoardSize::Single => ColourSet::of(colour),
                BoardSize::Double => ColourSet::of(colour).with(colour.partner()),
            };
            position.colours[seat.index()] = side;
            position.colours[seat.next(2).index()] = all.without(side);
            return;
        }
        let held = position.colours.into_iter().fold(ColourSet::EMPTY, ColourSet::union);
        if held.contains(colour) {
            return;
        }
        position.colours[seat.index()] = ColourSet::of(colour);
        let held = held.with(colour);
        if held.len() == 3
            && let Some(last) = position.colours.iter_mut().find(|colours| colours.is_empty())
        {
            *last = all.without(held);
        }
    }

    /// Whether positions are remembered at all.
    pub(super) fn counts_standings(&self) -> bool {
        self.rules.set.repetition() != RepetitionRule::Off
    }
}

impl std::fmt::Debug for Referee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Referee")
            .field("position", &format_args!("{}", self.position))
            .field("outcome", &self.outcome)
            .finish_non_exhaustive()
    }
}
