//! Tournament records (CDC) of single actions (`RULES.md` §9).
//!
//! The board is mirrored on its diagonal: our file a–h is their rank 1–8, our rank 1–4 their file
//! a–d, so our `c2` is their `b3`. The letters are `K G M R N C P`. Whole games are
//! [`GameRecord::to_cdc`](super::GameRecord::to_cdc) and
//! [`GameRecord::from_cdc`](super::GameRecord::from_cdc).

use std::fmt;
use std::str::FromStr;

use super::action::Action;
use super::piece::{Colour, Kind, Piece};
use super::record::Record;
use super::rule_set::{BoardRule, FaceDownRule, RuleFault, RuleSet};
use super::rule_set_text::RuleSetError;
use super::square::{BoardSize, FILES, Square};

/// What the text of a tournament record says that a piece did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CdcDeed {
    /// `-`: it moved, or it captured, since tournament programs write both alike.
    Moved,
    /// `x`: it took another.
    Captured,
    /// `*`: it and another of the same kind left the board.
    BothRemoved,
}

impl CdcDeed {
    const ALL: [Self; 3] = [Self::Moved, Self::Captured, Self::BothRemoved];

    const fn sign(self) -> char {
        match self {
            Self::Moved => '-',
            Self::Captured => 'x',
            Self::BothRemoved => '*',
        }
    }
}

/// An action as a tournament record writes it: `b3(n)`, `b3-b4`, `b3xb4` or `b3*b4`.
///
/// The squares here are this crate's; the text has the mirrored ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CdcRecord {
    /// A face-down piece was turned up.
    Flip {
        /// Where.
        square: Square,
        /// What it proved to be.
        piece: Piece,
    },
    /// A piece moved or captured.
    Move {
        /// From where.
        from: Square,
        /// To where.
        to: Square,
        /// Which of the two, as far as the text says.
        deed: CdcDeed,
    },
}

impl CdcRecord {
    /// What a record is in this form: `None` for what only other rule sets have, for colours and
    /// squares of the double board.
    pub fn of(record: Record) -> Option<Self> {
        let on_board = |square| BoardSize::Single.contains(square);
        let moved = |from, to, deed| {
            (on_board(from) && on_board(to)).then_some(Self::Move { from, to, deed })
        };
        match record {
            Record::Flip { square, piece } => (on_board(square)
                && matches!(piece.colour, Colour::Red | Colour::Black))
            .then_some(Self::Flip { square, piece }),
            Record::Move { from, to } => moved(from, to, CdcDeed::Moved),
            Record::Capture { from, to, turned_up: None } => moved(from, to, CdcDeed::Captured),
            Record::BothRemoved { from, to, turned_up: None } => {
                moved(from, to, CdcDeed::BothRemoved)
            }
            Record::Capture { .. }
            | Record::BothRemoved { .. }
            | Record::Probe { .. }
            | Record::Trade { .. }
            | Record::EndChain => None,
        }
    }

    /// The action that it records.
    pub const fn action(self) -> Action {
        match self {
            Self::Flip { square, .. } => Action::Flip(square),
            Self::Move { from, to, .. } => Action::Move { from, to },
        }
    }

    /// The piece that it says was turned up.
    pub const fn turned_up(self) -> Option<Piece> {
        match self {
            Self::Flip { piece, .. } => Some(piece),
            Self::Move { .. } => None,
        }
    }

    /// Whether this is what was done; `-` leaves open whether something was captured.
    pub fn says(self, record: Record) -> bool {
        match (self, Self::of(record)) {
            (
                Self::Move { from, to, deed: CdcDeed::Moved },
                Some(Self::Move { from: done_from, to: done_to, .. }),
            ) => (from, to) == (done_from, done_to),
            (_, done) => done == Some(self),
        }
    }

    /// Whether games under a rule set can be written in this form: on the single board, with
    /// `SAFE` and without chains.
    ///
    /// # Errors
    /// Every field that is in the way.
    pub fn check_rules(rules: &RuleSet) -> Result<(), RuleSetError> {
        let mut faults = Vec::new();
        let mut fault = |field, value: &str, right: &str| {
            let expected = format!("{right}: tournament records know nothing else");
            faults.push(RuleFault { field, value: value.to_owned(), expected });
        };
        if rules.face_down() != FaceDownRule::Safe {
            fault("face_down", rules.face_down().name(), FaceDownRule::Safe.name());
        }
        if rules.chain() {
            fault("chain", "on", "off");
        }
        if rules.board() != BoardRule::Single {
            fault("board", rules.board().name(), BoardRule::Single.name());
        }
        if faults.is_empty() { Ok(()) } else { Err(RuleSetError(faults)) }
    }
}

/// The kinds with their letters in this form.
const LETTERS: [(Kind, char); Kind::COUNT] = [
    (Kind::General, 'K'),
    (Kind::Advisor, 'G'),
    (Kind::Elephant, 'M'),
    (Kind::Chariot, 'R'),
    (Kind::Horse, 'N'),
    (Kind::Cannon, 'C'),
    (Kind::Soldier, 'P'),
];

fn letter(piece: Piece) -> char {
    let (_, letter) = LETTERS[piece.kind as usize];
    if piece.colour == Colour::Red { letter } else { letter.to_ascii_lowercase() }
}

fn piece(text: &str) -> Option<Piece> {
    let mut letters = text.chars();
    let (letter, None) = (letters.next()?, letters.next()) else { return None };
    let colour = if letter.is_ascii_uppercase() { Colour::Red } else { Colour::Black };
    let (kind, _) = LETTERS.into_iter().find(|(_, known)| *known == letter.to_ascii_uppercase())?;
    Some(Piece::new(colour, kind))
}

/// The square with file and rank exchanged; it is its own inverse.
const fn mirrored(square: Square) -> Square {
    Square::masked(square.file() * FILES + square.rank())
}

fn square(text: &str) -> Option<Square> {
    text.parse().ok().map(mirrored).filter(|square| BoardSize::Single.contains(*square))
}

impl fmt::Display for CdcRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Flip { square, piece } => write!(f, "{}({})", mirrored(square), letter(piece)),
            Self::Move { from, to, deed } => {
                write!(f, "{}{}{}", mirrored(from), deed.sign(), mirrored(to))
            }
        }
    }
}

/// A text that is no tournament record of an action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no tournament record of an action: expected `b3(n)`, `b3-b4`, `b3xb4` or `b3*b4`, \
     with files a–d, ranks 1–8 and the letters K G M R N C P, in lower case for black"
)]
pub struct CdcRecordError(pub String);

impl FromStr for CdcRecord {
    type Err = CdcRecordError;

    fn from_str(text: &str) -> Result<Self, CdcRecordError> {
        read(text).ok_or_else(|| CdcRecordError(text.to_owned()))
    }
}

fn read(text: &str) -> Option<CdcRecord> {
    let from = square(text.get(..2)?)?;
    let rest = text.get(2..)?;
    if let Some(letter) = rest.strip_prefix('(') {
        let piece = piece(letter.strip_suffix(')')?)?;
        return Some(CdcRecord::Flip { square: from, piece });
    }
    let deed = CdcDeed::ALL.into_iter().find(|deed| rest.starts_with(deed.sign()))?;
    let to = square(rest.get(1..)?)?;
    (from != to).then_some(CdcRecord::Move { from, to, deed })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("c2(K)", "b3(K)")]
    #[case("a1(a)", "a1(g)")]
    #[case("h1(E)", "a8(M)")]
    #[case("h4(h)", "d8(n)")]
    #[case("c2-c3", "b3-c3")]
    #[case("c2xh2", "b3xb8")]
    #[case("c2*d2", "b3*b4")]
    fn files_and_ranks_change_places(#[case] ours: &str, #[case] theirs: &str) {
        let record: Record = ours.parse().expect("a record");
        let written = CdcRecord::of(record).expect("it has the form");
        assert_eq!(written.to_string(), theirs);
        assert_eq!(theirs.parse(), Ok(written));
        assert!(written.says(record));
        assert_eq!(written.action(), record.action());
    }

    #[test]
    fn every_piece_and_square_is_read_as_it_is_written() {
        for square in BoardSize::Single.all() {
            for piece in Piece::each(BoardSize::Single) {
                let record = CdcRecord::Flip { square, piece };
                assert_eq!(record.to_string().parse(), Ok(record));
            }
        }
    }

    #[test]
    fn a_dash_leaves_a_capture_open_and_a_cross_does_not() {
        let record = |text: &str| text.parse::<Record>().expect("a record");
        let cdc = |text: &str| text.parse::<CdcRecord>().expect("a tournament record");
        for done in ["c2-c3", "c2xc3", "c2*c3"] {
            assert!(cdc("b3-c3").says(record(done)), "{done}");
        }
        assert!(!cdc("b3xc3").says(record("c2-c3")));
        assert!(!cdc("b3*c3").says(record("c2xc3")));
        assert!(!cdc("b3-c3").says(record("c2-c1")));
        assert!(!cdc("b3(k)").says(record("c2(K)")));
    }

    #[rstest]
    #[case("")]
    #[case("b3")]
    #[case("b3(h)")]
    #[case("b3(kk)")]
    #[case("e1(k)")]
    #[case("b3-b3")]
    #[case("b3-e3")]
    #[case("b3xb4(k)")]
    #[case("b3?b4(k)")]
    #[case("b3–b4")]
    #[case("end")]
    fn other_texts_are_refused(#[case] text: &str) {
        assert_eq!(text.parse::<CdcRecord>(), Err(CdcRecordError(text.to_owned())));
    }

    #[rstest]
    #[case("a5(k)")]
    #[case("a1(+K)")]
    #[case("a1xb1(k)")]
    #[case("a1?b1(k)")]
    #[case("a1#b1(k)")]
    #[case("end")]
    fn what_other_rule_sets_have_has_no_such_form(#[case] ours: &str) {
        assert_eq!(CdcRecord::of(ours.parse().expect("a record")), None);
    }

    #[test]
    fn rule_sets_in_the_way_are_refused_with_every_field() {
        assert_eq!(CdcRecord::check_rules(&RuleSet::TAIWANESE), Ok(()));
        let rules = "DOUBLE chain=on face_down=TRADE".parse().expect("a rule set");
        let told = CdcRecord::check_rules(&rules).expect_err("faults").to_string();
        assert_eq!(
            told,
            "`face_down` is TRADE, but must be SAFE: tournament records know nothing else; \
             `chain` is on, but must be off: tournament records know nothing else; \
             `board` is DOUBLE, but must be SINGLE: tournament records know nothing else"
        );
    }
}
