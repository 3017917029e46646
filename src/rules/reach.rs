//! Who may take whom, and how: a rule set made ready for play. All that rule sets say of captures
//! is data here; nothing else asks a rule set about it.

use super::board::{Board, NO_KIND};
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
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
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
    /// For each kind's number, what it may step onto: a bit for each kind, and that of [`NO_KIND`]
    /// for an empty square.
    steps_onto: [u8; 8],
    /// The kinds that reach beyond a step.
    far_reaching: KindSet,
    /// The kinds that may aim by stepping.
    step_aimers: KindSet,
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
        let mut steps_onto = [0; 8];
        let (mut far_reaching, mut step_aimers) = (KindSet::default(), KindSet::default());
        let aims = rules.face_down() != FaceDownRule::Safe;
        for kind in Kind::ALL {
            let reach = &of[kind as usize];
            let prey = if reach.steps { reach.prey.0 } else { 0 };
            steps_onto[kind as usize] = prey | 1 << NO_KIND;
            if reach.distant != Distant::None || reach.diagonal {
                far_reaching.insert(kind);
            }
            if reach.steps && aims {
                step_aimers.insert(kind);
            }
        }
        Self {
            of,
            steps_onto,
            far_reaching,
            step_aimers,
            equals_leave: rules.equals() == EqualsRule::BothRemoved,
            aims,
        }
    }

    /// Whether the piece on `from` may step to `to`, beside it, which is empty or has a face-up
    /// enemy.
    #[inline]
    pub(super) fn steps_to(&self, board: &Board, from: Square, to: Square) -> bool {
        let onto = self.steps_onto[usize::from(board.kind_number(from))];
        onto >> board.kind_number(to) & 1 == 1
    }

    /// The kinds that take beyond a step under this rule set.
    #[inline]
    pub(super) fn far_reaching(&self) -> KindSet {
        self.far_reaching
    }

    /// The kinds that may aim at a face-down piece by stepping.
    #[inline]
    pub(super) fn step_aimers(&self) -> KindSet {
        self.step_aimers
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
        let far = reach.far(board, from);
        let mut by_ladder = far.by_ladder;
        if reach.steps {
            by_ladder |= steps(from);
        }
        (reach.weaker(board, by_ladder) | far.ignoring_rank) & enemies
    }

    /// Which face-up enemies the piece may take beyond a step, and which face-down pieces it may
    /// aim at there.
    #[inline]
    pub(super) fn far_targets(
        &self,
        board: &Board,
        from: Square,
        kind: Kind,
        enemies: SquareSet,
    ) -> SquareSet {
        let reach = &self.of[kind as usize];
        let Far { by_ladder, ignoring_rank } = reach.far(board, from);
        let taken = (reach.weaker(board, by_ladder) | ignoring_rank) & enemies;
        if self.aims { taken | (by_ladder | ignoring_rank) & board.face_down() } else { taken }
    }

    /// Which face-up enemies the piece may take, and which face-down pieces it may aim at
    /// (`RULES.md` §6).
    #[inline]
    pub(super) fn targets(
        &self,
        board: &Board,
        from: Square,
        kind: Kind,
        enemies: SquareSet,
    ) -> SquareSet {
        let taken = self.takes(board, from, kind, enemies);
        if self.aims { taken | self.geometry(board, from, kind) & board.face_down() } else { taken }
    }

    /// Where a piece of this kind on `from` could take or aim if the ladder were no matter.
    #[inline]
    pub(super) fn geometry(&self, board: &Board, from: Square, kind: Kind) -> SquareSet {
        let reach = &self.of[kind as usize];
        let Far { by_ladder, ignoring_rank } = reach.far(board, from);
        let beside = if reach.steps { steps(from) } else { SquareSet::EMPTY };
        by_ladder | ignoring_rank | beside
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
}

/// What a piece reaches beyond a step, among other squares empty ones.
struct Far {
    /// Where the ladder says what may be taken.
    by_ladder: SquareSet,
    /// Where everything may be.
    ignoring_rank: SquareSet,
}

impl Reach {
    /// Those of the candidates that the ladder lets it take.
    #[inline]
    fn weaker(&self, board: &Board, candidates: SquareSet) -> SquareSet {
        // Mostly there are none, and looking them up costs more than asking.
        if candidates.is_empty() { candidates } else { candidates & board.of_kinds(self.prey) }
    }

    #[inline]
    fn far(&self, board: &Board, from: Square) -> Far {
        let mut far = Far { by_ladder: SquareSet::EMPTY, ignoring_rank: SquareSet::EMPTY };
        match self.distant {
            Distant::None => {}
            Distant::Jump => far.ignoring_rank = jumps(from, board.occupied()),
            Distant::JumpAny => far.ignoring_rank = jumps_over_any(from, board.occupied()),
            Distant::ChargeRanked => far.by_ladder = charges(from, board.occupied()),
            Distant::ChargeAny => far.ignoring_rank = charges(from, board.occupied()),
        }
        if self.diagonal {
            far.ignoring_rank |= diagonals(from);
        }
        far
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
