//! Squares, boards and sets of squares.

use std::fmt::{self, Write as _};
use std::str::FromStr;

/// Files of every board: `a` to `h`.
pub const FILES: u8 = 8;

/// One square of a board (`RULES.md` §1).
///
/// The index is `file + 8 × (rank − 1)`: `a1` is 0, `h4` is 31, `h8` is 63. Every index below 64
/// is a square of the double board; whether it lies on the single one is [`BoardSize::contains`]'s to
/// say.
///
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// The square with this index, or `None` from 64 on.
    #[inline]
    pub const fn new(index: u8) -> Option<Self> {
        if index < 64 { Some(Self(index)) } else { None }
    }

    /// The square with the low six bits of `index`.
    #[inline]
    pub(crate) const fn masked(index: u8) -> Self {
        Self(index & 63)
    }

    /// The index, 0 to 63.
    #[inline]
    pub const fn index(self) -> u8 {
        self.0
    }

    /// The index as `usize`, known to be below 64.
    #[inline]
    pub(crate) const fn at(self) -> usize {
        (self.0 & 63) as usize
    }

    /// The file, 0 (`a`) to 7 (`h`).
    #[inline]
    pub const fn file(self) -> u8 {
        self.0 & 7
    }

    /// The rank, 0 (written `1`) to 7 (written `8`).
    #[inline]
    pub const fn rank(self) -> u8 {
        self.0 >> 3
    }

    /// Whether `other` is one step up, down, left or right.
    #[inline]
    pub const fn is_beside(self, other: Self) -> bool {
        let files = self.file().abs_diff(other.file());
        let ranks = self.rank().abs_diff(other.rank());
        files + ranks == 1
    }

    /// Whether `other` lies on the same rank or file, and is not this square.
    #[inline]
    pub const fn is_in_line(self, other: Self) -> bool {
        self.0 != other.0 && (self.file() == other.file() || self.rank() == other.rank())
    }
}

impl Square {
    /// The letter of its file and the digit of its rank.
    pub(super) fn name(self) -> [char; 2] {
        [char::from(b'a' + self.file()), char::from(b'1' + self.rank())]
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [file, rank] = self.name();
        f.write_char(file)?;
        f.write_char(rank)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that names no square.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no square: a square is a file a–h and a rank 1–8, like `b3`")]
pub struct SquareError(pub String);

impl FromStr for Square {
    type Err = SquareError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => {
                Ok(Self(file - b'a' + FILES * (rank - b'1')))
            }
            _ => Err(SquareError(text.to_owned())),
        }
    }
}

/// Which board a game is played on (`RULES.md` §1 and §7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BoardSize {
    /// 4 ranks of 8 squares and one set of 32 pieces.
    #[default]
    Single,
    /// 8 ranks of 8 squares and two sets, 64 pieces.
    Double,
}

impl BoardSize {
    /// How many ranks: 4 or 8.
    #[inline]
    pub const fn ranks(self) -> u8 {
        match self {
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// How many squares, and so how many pieces a full deal has: 32 or 64.
    #[inline]
    pub const fn squares(self) -> usize {
        (self.ranks() * FILES) as usize
    }

    /// All squares of the board.
    #[inline]
    pub const fn all(self) -> SquareSet {
        match self {
            Self::Single => SquareSet(0xffff_ffff),
            Self::Double => SquareSet(u64::MAX),
        }
    }

    /// Whether the square lies on this board.
    #[inline]
    pub const fn contains(self, square: Square) -> bool {
        square.at() < self.squares()
    }
}

/// A set of squares, one bit a square.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SquareSet(pub(crate) u64);

impl SquareSet {
    /// The set with no square.
    pub const EMPTY: Self = Self(0);

    /// The set of one square.
    #[inline]
    pub const fn of(square: Square) -> Self {
        Self(1 << square.at())
    }

    /// Whether the set has no square.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many squares it has.
    #[inline]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether it has this square.
    #[inline]
    pub const fn contains(self, square: Square) -> bool {
        self.0 >> square.at() & 1 == 1
    }

    /// Adds a square.
    #[inline]
    pub(crate) const fn insert(&mut self, square: Square) {
        self.0 |= 1 << square.at();
    }

    /// Takes a square out.
    #[inline]
    pub(crate) const fn remove(&mut self, square: Square) {
        self.0 &= !(1 << square.at());
    }
}

impl std::ops::BitOr for SquareSet {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for SquareSet {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl std::ops::BitAnd for SquareSet {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl std::ops::Not for SquareSet {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl IntoIterator for SquareSet {
    type Item = Square;
    type IntoIter = Squares;

    #[inline]
    fn into_iter(self) -> Squares {
        Squares(self)
    }
}

/// The squares of a set, by index.
#[derive(Clone, Debug)]
pub struct Squares(SquareSet);

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        let left = self.0.0;
        if left == 0 {
            return None;
        }
        self.0.0 = left & (left - 1);
        Some(Square::masked(left.trailing_zeros() as u8))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl ExactSizeIterator for Squares {}

impl fmt::Debug for SquareSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(*self).finish()
    }
}
