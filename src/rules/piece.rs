//! Kinds, colours and pieces.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use super::square::BoardSize;

/// What a piece is, in the order of the default ladder (`RULES.md` §1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `K`, one a colour.
    General,
    /// `A`, two a colour.
    Advisor,
    /// `E`, two a colour.
    Elephant,
    /// `R`, two a colour.
    Chariot,
    /// `H`, two a colour.
    Horse,
    /// `C`, two a colour.
    Cannon,
    /// `P`, five a colour.
    Soldier,
}

impl Kind {
    /// How many kinds there are.
    pub const COUNT: usize = 7;

    /// Every kind, in the order `K A E R H C P` that deals and counts are written in.
    pub const ALL: [Self; Self::COUNT] = [
        Self::General,
        Self::Advisor,
        Self::Elephant,
        Self::Chariot,
        Self::Horse,
        Self::Cannon,
        Self::Soldier,
    ];

    /// How many pieces of this kind one colour has: 1, 2 or 5.
    #[inline]
    pub const fn per_colour(self) -> u8 {
        match self {
            Self::General => 1,
            Self::Soldier => 5,
            _ => 2,
        }
    }

    /// The upper-case letter of `RULES.md` §1.
    pub const fn letter(self) -> char {
        match self {
            Self::General => 'K',
            Self::Advisor => 'A',
            Self::Elephant => 'E',
            Self::Chariot => 'R',
            Self::Horse => 'H',
            Self::Cannon => 'C',
            Self::Soldier => 'P',
        }
    }

    /// The kind with this upper-case letter.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.letter() == letter)
    }
}

/// The colour of a piece (`RULES.md` §1). Blue and green are on the double board only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Colour {
    /// Written in upper case.
    Red,
    /// Written in lower case.
    Black,
    /// Written as `+` and upper case.
    Blue,
    /// Written as `+` and lower case.
    Green,
}

impl Colour {
    /// How many colours there are.
    pub const COUNT: usize = 4;

    /// Every colour, in the order that deals and counts are written in.
    pub const ALL: [Self; Self::COUNT] = [Self::Red, Self::Black, Self::Blue, Self::Green];

    /// The colours of a board: two on the single one, four on the double.
    pub const fn of(board: BoardSize) -> &'static [Self] {
        match board {
            BoardSize::Single => &[Self::Red, Self::Black],
            BoardSize::Double => &Self::ALL,
        }
    }

    /// The letter that stands for the colour among a position's seats: `r`, `b`, `u` or `g`.
    pub const fn letter(self) -> char {
        match self {
            Self::Red => 'r',
            Self::Black => 'b',
            Self::Blue => 'u',
            Self::Green => 'g',
        }
    }

    /// The colour with this letter.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|colour| colour.letter() == letter)
    }

    /// The colour that fights on the same side when two seats share a double board
    /// (`RULES.md` §7): red with blue, black with green.
    pub const fn partner(self) -> Self {
        match self {
            Self::Red => Self::Blue,
            Self::Black => Self::Green,
            Self::Blue => Self::Red,
            Self::Green => Self::Black,
        }
    }
}

/// A set of colours: what one seat commands.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ColourSet(u8);

impl ColourSet {
    /// The set with no colour.
    pub const EMPTY: Self = Self(0);

    /// The colours of a board.
    pub const fn all(board: BoardSize) -> Self {
        match board {
            BoardSize::Single => Self(0b0011),
            BoardSize::Double => Self(0b1111),
        }
    }

    /// The set of one colour.
    #[inline]
    pub const fn of(colour: Colour) -> Self {
        Self(1 << colour as u8)
    }

    /// This set and one colour more.
    #[inline]
    #[must_use]
    pub const fn with(self, colour: Colour) -> Self {
        Self(self.0 | 1 << colour as u8)
    }

    /// The colours that are in either set.
    #[inline]
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The colours of this set that are not in the other.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the colour is in it.
    #[inline]
    pub const fn contains(self, colour: Colour) -> bool {
        self.0 >> colour as u8 & 1 == 1
    }

    /// Whether it has no colour.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many colours it has.
    #[inline]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Its colours, in the order of [`Colour::ALL`].
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Colour> {
        Colour::ALL.into_iter().filter(move |colour| self.contains(*colour))
    }
}

/// The letters of its colours, in the order of [`Colour::ALL`]; `-` for none (`RULES.md` §9).
impl fmt::Display for ColourSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("-");
        }
        self.iter().try_for_each(|colour| f.write_char(colour.letter()))
    }
}

/// A text that names no set of colours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no colours: write `r`, `b`, `u` or `g`, `ru` or `bg` for two, or `-` for none"
)]
pub struct ColourSetError(pub String);

impl FromStr for ColourSet {
    type Err = ColourSetError;

    /// Reads the one spelling that would be written.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let colours = if text == "-" {
            Some(Self::EMPTY)
        } else {
            text.chars().try_fold(Self::EMPTY, |colours, letter| {
                Some(colours.with(Colour::from_letter(letter)?))
            })
        };
        colours
            .filter(|colours| colours.to_string() == text)
            .ok_or_else(|| ColourSetError(text.to_owned()))
    }
}

impl fmt::Debug for ColourSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A piece: a kind and a colour. Its text is a letter of `RULES.md` §1: `K`, `k`, `+K`, `+k`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Piece {
    /// Whose side it is on.
    pub colour: Colour,
    /// What it is.
    pub kind: Kind,
}

impl Piece {
    /// How many different pieces there are.
    pub const COUNT: usize = Colour::COUNT * Kind::COUNT;

    /// The piece of this colour and kind.
    #[inline]
    pub const fn new(colour: Colour, kind: Kind) -> Self {
        Self { colour, kind }
    }

    /// A number from 0 to 27: `7 × colour + kind`, the order that counts are written in.
    #[inline]
    pub const fn index(self) -> usize {
        Kind::COUNT * self.colour as usize + self.kind as usize
    }

    /// The piece with this [`Piece::index`], or `None` from 28 on.
    #[inline]
    pub const fn from_index(index: usize) -> Option<Self> {
        if index < Self::COUNT {
            Some(Self::new(Colour::ALL[index / Kind::COUNT], Kind::ALL[index % Kind::COUNT]))
        } else {
            None
        }
    }

    /// Every piece of a board once, in the order of [`Piece::index`].
    pub fn each(board: BoardSize) -> impl Iterator<Item = Self> {
        Colour::of(board)
            .iter()
            .flat_map(|&colour| Kind::ALL.into_iter().map(move |kind| Self::new(colour, kind)))
    }
}

impl Piece {
    /// The letters that it is written with: one, or `+` and one.
    pub(super) fn letters(self) -> impl Iterator<Item = char> {
        let letter = self.kind.letter();
        let (sign, letter) = match self.colour {
            Colour::Red => (None, letter),
            Colour::Black => (None, letter.to_ascii_lowercase()),
            Colour::Blue => (Some('+'), letter),
            Colour::Green => (Some('+'), letter.to_ascii_lowercase()),
        };
        sign.into_iter().chain([letter])
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.letters().try_for_each(|letter| f.write_char(letter))
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that names no piece.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no piece: a piece is one of K A E R H C P, in lower case for black, after a `+` for blue and green"
)]
pub struct PieceError(pub String);

impl FromStr for Piece {
    type Err = PieceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (second_set, letters) = match text.strip_prefix('+') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut letters = letters.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else {
            return Err(PieceError(text.to_owned()));
        };
        let kind = Kind::from_letter(letter.to_ascii_uppercase())
            .ok_or_else(|| PieceError(text.to_owned()))?;
        let colour = match (second_set, letter.is_ascii_uppercase()) {
            (false, true) => Colour::Red,
            (false, false) => Colour::Black,
            (true, true) => Colour::Blue,
            (true, false) => Colour::Green,
        };
        Ok(Self { colour, kind })
    }
}

/// How many there are of each piece. Its text is that of the face-down pieces in a position
/// (`RULES.md` §9): letters with counts, `-` for none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PieceCounts([u8; Piece::COUNT]);

impl PieceCounts {
    /// None of any piece.
    pub const NONE: Self = Self([0; Piece::COUNT]);

    /// The full set of a board: 32 or 64 pieces.
    pub fn full(board: BoardSize) -> Self {
        let mut counts = Self::NONE;
        for piece in Piece::each(board) {
            counts.0[piece.index()] = piece.kind.per_colour();
        }
        counts
    }

    /// How many there are of this piece.
    #[inline]
    pub const fn get(&self, piece: Piece) -> u8 {
        self.0[piece.index()]
    }

    /// How many pieces there are of this colour.
    #[inline]
    pub fn of_colour(&self, colour: Colour) -> u32 {
        let start = colour as usize * Kind::COUNT;
        self.0[start..start + Kind::COUNT].iter().map(|&count| u32::from(count)).sum()
    }

    /// How many pieces there are in all.
    #[inline]
    pub fn total(&self) -> u32 {
        self.0.iter().map(|&count| u32::from(count)).sum()
    }

    /// One more of this piece.
    #[inline]
    pub(crate) fn add(&mut self, piece: Piece) {
        self.0[piece.index()] = self.0[piece.index()].saturating_add(1);
    }

    /// `count` of this piece.
    #[inline]
    pub(crate) fn set(&mut self, piece: Piece, count: u8) {
        self.0[piece.index()] = count;
    }

    /// One fewer of this piece; `false`, and nothing changed, where there is none.
    #[inline]
    pub(crate) fn take(&mut self, piece: Piece) -> bool {
        match self.0[piece.index()].checked_sub(1) {
            Some(left) => {
                self.0[piece.index()] = left;
                true
            }
            None => false,
        }
    }

    /// The pieces of which there are any, with their counts, in the order of [`Piece::index`].
    pub fn iter(&self) -> impl Iterator<Item = (Piece, u8)> {
        self.0
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .filter_map(|(index, &count)| Some((Piece::from_index(index)?, count)))
    }

    /// Every single piece, in the order of [`Piece::index`].
    pub fn pieces(&self) -> impl Iterator<Item = Piece> {
        self.iter().flat_map(|(piece, count)| std::iter::repeat_n(piece, usize::from(count)))
    }
}

impl fmt::Display for PieceCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.total() == 0 {
            return f.write_str("-");
        }
        self.iter().try_for_each(|(piece, count)| {
            fmt::Display::fmt(&piece, f)?;
            fmt::Display::fmt(&count, f)
        })
    }
}

impl fmt::Debug for PieceCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
