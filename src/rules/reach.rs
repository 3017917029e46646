//! Who may take whom, and how: a rule set made ready for play. All that rule sets say of captures
//! is data here; nothing else asks a rule set about it.

use super::board::Board;
use super::lines::{charges, diagonals, jumps, jumps_over_any, steps};
use super::piece::Kind;
use super::rule_set::{CannonRule, ChariotRule, EqualsRule, FaceDownRule, HorseRule, RuleSet};
use super::square::{Square, SquareSet};

/// A set of kinds.
#[derive(Clone, Copy, Default)]
pub(super) struct KindSet(u8);

impl KindSet {
    fn insert(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u8;
    }

    #[inline]
    pub(super) fn contains(self, kind: Kind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }
}

/// How a kind takes along ranks and files, at more than one step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Distant {
    /// Not at all.
    None,
    /// Beyond exactly one screen, whatever the rank.
    Jump,
    /// Beyond one or more screens, whatever the rank.
    JumpAny,
    /// Across empty squares, by the ladder.
    ChargeRanked,
    /// Across empty squares, whatever the rank.
    ChargeAny,
}

/// How one kind takes.
#[derive(Clone, Copy)]
struct Reach {
    /// The kinds that it may take where the ladder decides.
    prey: KindSet,
    /// Whether it takes by stepping.
    steps: bool,
    distant: Distant,
    /// Whether it takes one square diagonally, whatever the rank.
    diagonal: bool,
}

/// How every kind takes under one rule set.
#[derive(Clone)]
pub(super) struct Captures {
    of: [Reach; Kind::COUNT],
    equals_leave: bool,
    aims: bool,
}

/// Whether a capture obeys the ladder or ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    ByLadder,
    IgnoringRank,
}

impl Captures {
    pub(super) fn of(rules: &RuleSet) -> Self {
        let of = Kind::ALL.map(|kind| {
            let mut reach = Reach {
                prey: KindSet::default(),
                steps: true,
                distant: Distant::None,
                diagonal: false,
            };
            for other in Kind::ALL {
                if beats(rules, kind, other) {
                    reach.prey.insert(other);
                }
            }
            match kind {
                Kind::Cannon => {
                    reach.distant = match rules.cannon() {
                        CannonRule::Step => Distant::None,
                        CannonRule::Jump => Distant::Jump,
                        CannonRule::JumpAny => Distant::JumpAny,
                    };
                    reach.steps = rules.cannon() == CannonRule::Step;
                }
                Kind::Chariot => {
                    reach.distant = match rules.chariot() {
                        ChariotRule::Step => Distant::None,
                        ChariotRule::ChargeRanked => Distant::ChargeRanked,
                        ChariotRule::ChargeAny => Distant::ChargeAny,
                    };
                }
                Kind::Horse => reach.diagonal = rules.horse() == HorseRule::Diagonal,
                Kind::General | Kind::Advisor | Kind::Elephant | Kind::Soldier => {}
            }
            reach
        });
        Self {
            of,
            equals_leave: rules.equals() == EqualsRule::BothRemoved,
            aims: rules.face_down() != FaceDownRule::Safe,
        }
    }

    /// Which of these face-up enemies the piece of this kind on `from` may take.
    #[inline]
    pub(super) fn takes(
        &self,
        board: &Board,
        from: Square,
        kind: Kind,
        enemies: SquareSet,
    ) -> SquareSet {
        let reach = &self.of[kind as usize];
        let mut found = SquareSet::EMPTY;
        if reach.steps {
            found |= self.weaker(board, kind, steps(from) & enemies);
        }
        match reach.distant {
            Distant::None => {}
            Distant::ChargeRanked => {
                found |= self.weaker(board, kind, charges(from, board.occupied()) & enemies);
            }
            distant => found |= along(distant, from, board) & enemies,
        }
        if reach.diagonal {
            found |= diagonals(from) & enemies;
        }
        found
    }

    /// Which face-down pieces the piece of this kind on `from` may aim at (`RULES.md` §6).
    #[inline]
    pub(super) fn aims(&self, board: &Board, from: Square, kind: Kind) -> SquareSet {
        if !self.aims || board.face_down().is_empty() {
            return SquareSet::EMPTY;
        }
        self.geometry(board, from, kind) & board.face_down()
    }

    /// Where a piece of this kind on `from` could take or aim if the ladder were no matter.
    #[inline]
    pub(super) fn geometry(&self, board: &Board, from: Square, kind: Kind) -> SquareSet {
        let reach = &self.of[kind as usize];
        let mut found = along(reach.distant, from, board);
        if reach.steps {
            found |= steps(from);
        }
        if reach.diagonal {
            found |= diagonals(from);
        }
        found
    }

    /// Whether a capture from `from` on `to` obeys the ladder: a step always does.
    #[inline]
    pub(super) fn manner(&self, kind: Kind, from: Square, to: Square) -> Manner {
        let by_ladder = from.is_beside(to)
            || from.is_in_line(to) && self.of[kind as usize].distant == Distant::ChargeRanked;
        if by_ladder { Manner::ByLadder } else { Manner::IgnoringRank }
    }

    /// Whether `kind` may take `target` in this manner.
    #[inline]
    pub(super) fn may_take(&self, kind: Kind, target: Kind, manner: Manner) -> bool {
        manner == Manner::IgnoringRank || self.of[kind as usize].prey.contains(target)
    }

    /// Whether a capture of `target` by `kind` in this manner removes both.
    #[inline]
    pub(super) fn removes_both(&self, kind: Kind, target: Kind, manner: Manner) -> bool {
        self.equals_leave && manner == Manner::ByLadder && kind == target
    }

    #[inline]
    fn weaker(&self, board: &Board, kind: Kind, candidates: SquareSet) -> SquareSet {
        board.of_kinds(self.of[kind as usize].prey) & candidates
    }
}

#[inline]
fn along(distant: Distant, from: Square, board: &Board) -> SquareSet {
    match distant {
        Distant::None => SquareSet::EMPTY,
        Distant::Jump => jumps(from, board.occupied()),
        Distant::JumpAny => jumps_over_any(from, board.occupied()),
        Distant::ChargeRanked | Distant::ChargeAny => charges(from, board.occupied()),
    }
}

/// Whether the ladder lets `kind` take `target`: an equal or lower rank, except that a general
/// never takes a soldier and a soldier always takes a general (`RULES.md` §3).
fn beats(rules: &RuleSet, kind: Kind, target: Kind) -> bool {
    match (kind, target) {
        (Kind::General, Kind::Soldier) => false,
        (Kind::Soldier, Kind::General) => true,
        _ => rules.ladder().steps_from_top(kind) <= rules.ladder().steps_from_top(target),
    }
}
