//! Rule sets as values (`RULES.md` §3).

use std::fmt::{self, Write as _};
use std::str::FromStr;

use super::piece::Kind;
use super::square::BoardSize;

/// Defines an enum whose values have the names that `RULES.md` §3 gives them.
macro_rules! named_values {
    ($(#[$meta:meta])* $name:ident { $($(#[$value_meta:meta])* $value:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$value_meta])* $value,)+
        }

        impl $name {
            /// Every value, in the order of `RULES.md` §3.
            pub const ALL: &'static [Self] = &[$(Self::$value,)+];

            /// The name that `RULES.md` §3 gives it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)+
                }
            }

            /// The value with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

named_values! {
    /// How a cannon takes (field `cannon`).
    CannonRule {
        /// By a jump over exactly one screen, never by stepping.
        Jump = "JUMP",
        /// By stepping, with its place in the ladder.
        Step = "STEP",
        /// By a jump over one or more screens, never by stepping.
        JumpAny = "JUMP_ANY",
    }
}

named_values! {
    /// What a capture of the same kind by the ladder does (field `equals`).
    EqualsRule {
        /// The attacked piece is taken.
        Take = "TAKE",
        /// Both pieces leave the board.
        BothRemoved = "BOTH_REMOVED",
    }
}

named_values! {
    /// Whether face-down pieces can be aimed at, and what a failed aim costs (field `face_down`,
    /// `RULES.md` §6).
    FaceDownRule {
        /// They cannot be aimed at.
        Safe = "SAFE",
        /// A failed aim costs nothing but the turn.
        Probe = "PROBE",
        /// Aiming at an enemy that is too strong costs the attacker.
        Trade = "TRADE",
    }
}

named_values! {
    /// How a chariot takes (field `chariot`).
    ChariotRule {
        /// By stepping alone.
        Step = "STEP",
        /// Also along empty squares, keeping the ladder.
        ChargeRanked = "CHARGE_RANKED",
        /// Also along empty squares, whatever the rank.
        ChargeAny = "CHARGE_ANY",
    }
}

named_values! {
    /// How a horse takes (field `horse`).
    HorseRule {
        /// By stepping alone.
        Step = "STEP",
        /// Also one square diagonally, whatever the rank.
        Diagonal = "DIAGONAL",
    }
}

named_values! {
    /// What a repeated position does (field `repetition`, `RULES.md` §4).
    RepetitionRule {
        /// The game is a draw.
        Draw = "DRAW",
        /// A seat that attacked throughout loses; otherwise a draw.
        AttackerLoses = "ATTACKER_LOSES",
        /// Nothing.
        Off = "OFF",
    }
}

named_values! {
    /// Which board (field `board`).
    BoardRule {
        /// 4 ranks of 8 squares.
        Single = "SINGLE",
        /// 8 ranks of 8 squares.
        Double = "DOUBLE",
    }
}

impl BoardRule {
    /// The board that the value names.
    pub const fn size(self) -> BoardSize {
        match self {
            Self::Single => BoardSize::Single,
            Self::Double => BoardSize::Double,
        }
    }
}

/// Ranks of the seven kinds, highest first: a permutation of `K A E R H C P`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ladder([Kind; Kind::COUNT]);

impl Ladder {
    /// `K A E R H C P`.
    pub const TAIWANESE: Self = Self(Kind::ALL);

    /// The kinds, highest first.
    pub const fn kinds(&self) -> &[Kind; Kind::COUNT] {
        &self.0
    }

    /// How many kinds stand above this one: 0 for the highest.
    pub fn steps_from_top(&self, kind: Kind) -> usize {
        self.0.iter().position(|&other| other == kind).unwrap_or(Kind::COUNT)
    }
}

impl FromStr for Ladder {
    type Err = RuleFault;

    /// Reads seven letters, highest first; blanks between them are passed over.
    fn from_str(text: &str) -> Result<Self, RuleFault> {
        let fault = || RuleFault {
            field: "ladder",
            value: text.to_owned(),
            expected: "the seven letters K A E R H C P, each once, highest first".to_owned(),
        };
        let mut kinds = Vec::with_capacity(Kind::COUNT);
        for letter in text.chars().filter(|letter| *letter != ' ') {
            let kind = Kind::from_letter(letter).ok_or_else(fault)?;
            if kinds.contains(&kind) {
                return Err(fault());
            }
            kinds.push(kind);
        }
        kinds.try_into().map(Self).map_err(|_| fault())
    }
}

impl fmt::Display for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|kind| f.write_char(kind.letter()))
    }
}

impl fmt::Debug for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A rule set that makes sense (`RULES.md` §3). It starts as a preset and is changed by
/// [`RuleSet::with`], which refuses nonsense; so every value of this type can be played.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleSet {
    ladder: Ladder,
    cannon: CannonRule,
    equals: EqualsRule,
    face_down: FaceDownRule,
    chain: bool,
    chariot: ChariotRule,
    horse: HorseRule,
    quiet_limit: u16,
    repetition: RepetitionRule,
    repetition_count: u8,
    chase_limit: u8,
    board: BoardRule,
    seats: u8,
}

impl RuleSet {
    /// The default rules of `RULES.md` §2, which every preset differs from in a few fields.
    pub const TAIWANESE: Self = Self {
        ladder: Ladder::TAIWANESE,
        cannon: CannonRule::Jump,
        equals: EqualsRule::Take,
        face_down: FaceDownRule::Safe,
        chain: false,
        chariot: ChariotRule::Step,
        horse: HorseRule::Step,
        quiet_limit: 180,
        repetition: RepetitionRule::Draw,
        repetition_count: 3,
        chase_limit: 0,
        board: BoardRule::Single,
        seats: 2,
    };

    /// The ranks of the kinds.
    pub const fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// How cannons take.
    pub const fn cannon(&self) -> CannonRule {
        self.cannon
    }

    /// What a capture of the same kind does.
    pub const fn equals(&self) -> EqualsRule {
        self.equals
    }

    /// Whether face-down pieces can be aimed at.
    pub const fn face_down(&self) -> FaceDownRule {
        self.face_down
    }

    /// Whether a capture may be followed by another in the same turn (`RULES.md` §5).
    pub const fn chain(&self) -> bool {
        self.chain
    }

    /// How chariots take.
    pub const fn chariot(&self) -> ChariotRule {
        self.chariot
    }

    /// How horses take.
    pub const fn horse(&self) -> HorseRule {
        self.horse
    }

    /// How many quiet turns in a row draw: 1 to 1,000.
    pub const fn quiet_limit(&self) -> u16 {
        self.quiet_limit
    }

    /// What a repeated position does.
    pub const fn repetition(&self) -> RepetitionRule {
        self.repetition
    }

    /// How often a position must stand for that: 2 to 10.
    pub const fn repetition_count(&self) -> u8 {
        self.repetition_count
    }

    /// How long a run of chases may be: 1 to 100, or 0 for no limit.
    pub const fn chase_limit(&self) -> u8 {
        self.chase_limit
    }

    /// The board, by its name in `RULES.md` §3.
    pub const fn board(&self) -> BoardRule {
        self.board
    }

    /// The board, as a size.
    pub const fn board_size(&self) -> BoardSize {
        self.board.size()
    }

    /// How many seats: 2 or 4.
    pub const fn seats(&self) -> u8 {
        self.seats
    }

    /// This rule set with some fields changed.
    ///
    /// # Errors
    /// Every fault at once, in the order of the fields, where the outcome makes no sense.
    pub fn with(&self, changes: &RuleChanges) -> Result<Self, Vec<RuleFault>> {
        let mut faults = Vec::new();
        let ladder = match changes.ladder.as_deref().map(str::parse) {
            Some(Ok(ladder)) => ladder,
            Some(Err(fault)) => {
                faults.push(fault);
                self.ladder
            }
            None => self.ladder,
        };
        let mut in_range = |field, value: Option<u32>, kept: u16, least: u16, most: u16| {
            let Some(value) = value else { return kept };
            match u16::try_from(value) {
                Ok(value) if (least..=most).contains(&value) => value,
                _ => {
                    faults.push(RuleFault {
                        field,
                        value: value.to_string(),
                        expected: format!("a number from {least} to {most}"),
                    });
                    kept
                }
            }
        };
        let quiet_limit = in_range("quiet_limit", changes.quiet_limit, self.quiet_limit, 1, 1000);
        let repetition_count = in_range(
            "repetition_count",
            changes.repetition_count,
            u16::from(self.repetition_count),
            2,
            10,
        );
        let chase_limit =
            in_range("chase_limit", changes.chase_limit, u16::from(self.chase_limit), 0, 100);
        let board = changes.board.unwrap_or(self.board);
        let seats = match changes.seats {
            None => self.seats,
            Some(2) => 2,
            Some(4) => 4,
            Some(other) => {
                faults.push(RuleFault {
                    field: "seats",
                    value: other.to_string(),
                    expected: "2, or 4 on the double board".to_owned(),
                });
                self.seats
            }
        };
        if seats == 4 && board == BoardRule::Single && changes.seats.is_none_or(|seats| seats == 4)
        {
            faults.push(RuleFault {
                field: "seats",
                value: "4".to_owned(),
                expected: "2 on the single board; 4 seats need `board` DOUBLE".to_owned(),
            });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            ladder,
            cannon: changes.cannon.unwrap_or(self.cannon),
            equals: changes.equals.unwrap_or(self.equals),
            face_down: changes.face_down.unwrap_or(self.face_down),
            chain: changes.chain.unwrap_or(self.chain),
            chariot: changes.chariot.unwrap_or(self.chariot),
            horse: changes.horse.unwrap_or(self.horse),
            quiet_limit,
            repetition: changes.repetition.unwrap_or(self.repetition),
            // The ranges above end at 10 and 100.
            repetition_count: repetition_count as u8,
            chase_limit: chase_limit as u8,
            board,
            seats,
        })
    }
}

impl Default for RuleSet {
    fn default() -> Self {
        Self::TAIWANESE
    }
}

/// Fields to change in a rule set, unchecked; `None` keeps what the rule set has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleChanges {
    /// Letters of the seven kinds, highest first.
    pub ladder: Option<String>,
    /// How cannons take.
    pub cannon: Option<CannonRule>,
    /// What a capture of the same kind does.
    pub equals: Option<EqualsRule>,
    /// Whether face-down pieces can be aimed at.
    pub face_down: Option<FaceDownRule>,
    /// Whether a capture may be followed by another in the same turn.
    pub chain: Option<bool>,
    /// How chariots take.
    pub chariot: Option<ChariotRule>,
    /// How horses take.
    pub horse: Option<HorseRule>,
    /// How many quiet turns in a row draw.
    pub quiet_limit: Option<u32>,
    /// What a repeated position does.
    pub repetition: Option<RepetitionRule>,
    /// How often a position must stand for that.
    pub repetition_count: Option<u32>,
    /// How long a run of chases may be; 0 for no limit.
    pub chase_limit: Option<u32>,
    /// Which board.
    pub board: Option<BoardRule>,
    /// How many seats.
    pub seats: Option<u32>,
}

/// One field of a rule set that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is {value}, but must be {expected}")]
pub struct RuleFault {
    /// The field, named as in `RULES.md` §3.
    pub field: &'static str,
    /// What was given.
    pub value: String,
    /// What would be right.
    pub expected: String,
}
