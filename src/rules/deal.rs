//! The secret: which piece lies where.

use std::fmt;

use super::piece::{Piece, PieceCounts};
use super::position::Position;
use super::square::{BoardSize, Square};

/// Which piece lies where, seen or not. A full deal has one on every square of the board; what a
/// [`Layout`](super::Layout) hides has some. `Debug` shows no piece.
#[derive(Clone, PartialEq, Eq)]
pub struct Deal {
    board: BoardSize,
    pieces: [Option<Piece>; 64],
}

/// A deal that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DealError {
    /// A word that is no piece.
    #[error("piece {place} of the deal: {fault}")]
    Piece {
        /// Which word, from 1.
        place: usize,
        /// What is wrong with it.
        fault: super::PieceError,
    },
    /// Too few or too many pieces.
    #[error("a deal on this board has {expected} pieces, one a square in index order, not {given}")]
    Length {
        /// How many there are.
        given: usize,
        /// How many there must be.
        expected: usize,
    },
    /// Too few or too many pieces for those that lie face down in a position.
    #[error("{given} pieces are given, but {expected} lie face down")]
    Number {
        /// How many are given.
        given: usize,
        /// How many lie face down.
        expected: usize,
    },
    /// The right number of pieces, but not those of the set.
    #[error("the deal has {given} of {piece}; the set has {expected}")]
    Set {
        /// The piece of which there are too many or too few.
        piece: Piece,
        /// How many there are.
        given: u8,
        /// How many there must be.
        expected: u8,
    },
    /// A piece where none lies face down, or none where one does.
    #[error("the deal has {} on {square}, but {}", shown(*.piece), face_down_or_not(*.face_down))]
    Place {
        /// The square.
        square: Square,
        /// The piece that the deal has there.
        piece: Option<Piece>,
        /// Whether a piece lies face down there.
        face_down: bool,
    },
    /// Other pieces than those that lie face down in a position.
    #[error("the deal has {given} of {piece}, but {expected} of it lie face down")]
    FaceDown {
        /// The piece of which there are too many or too few.
        piece: Piece,
        /// How many there are.
        given: u8,
        /// How many there must be.
        expected: u8,
    },
}

fn shown(piece: Option<Piece>) -> String {
    piece.map_or_else(|| "nothing".to_owned(), |piece| piece.to_string())
}

const fn face_down_or_not(face_down: bool) -> &'static str {
    if face_down { "a piece lies face down there" } else { "nothing lies face down there" }
}

impl Deal {
    /// A full deal from its pieces in index order.
    ///
    /// # Errors
    /// Where they are not the set of this board.
    pub fn from_pieces(board: BoardSize, pieces: &[Piece]) -> Result<Self, DealError> {
        if pieces.len() != board.squares() {
            return Err(DealError::Length { given: pieces.len(), expected: board.squares() });
        }
        let (mut counts, full) = (PieceCounts::NONE, PieceCounts::full(board));
        pieces.iter().for_each(|&piece| counts.add(piece));
        for piece in Piece::each(BoardSize::Double) {
            let (given, expected) = (counts.get(piece), full.get(piece));
            if given > expected {
                return Err(DealError::Set { piece, given, expected });
            }
        }
        let mut deal = Self::none(board);
        for (place, &piece) in deal.pieces.iter_mut().zip(pieces) {
            *place = Some(piece);
        }
        Ok(deal)
    }

    /// Reads a full deal: pieces in index order, split by blanks.
    ///
    /// # Errors
    /// Where a word is no piece, or they are not the set of this board.
    pub fn parse(board: BoardSize, text: &str) -> Result<Self, DealError> {
        let mut pieces = Vec::with_capacity(board.squares());
        for (index, word) in text.split_ascii_whitespace().enumerate() {
            if index >= board.squares() {
                let given = text.split_ascii_whitespace().count();
                return Err(DealError::Length { given, expected: board.squares() });
            }
            pieces
                .push(word.parse().map_err(|fault| DealError::Piece { place: index + 1, fault })?);
        }
        Self::from_pieces(board, &pieces)
    }

    /// Reads what lies face down in a position: pieces in index order split by blanks, `.` on every
    /// other square. It is what `Display` writes.
    ///
    /// # Errors
    /// Where a word is neither, or the pieces are not those that lie face down there.
    pub fn parse_hidden(position: &Position, text: &str) -> Result<Self, DealError> {
        let board = position.board_size();
        let given = text.split_ascii_whitespace().count();
        if given != board.squares() {
            return Err(DealError::Length { given, expected: board.squares() });
        }
        let mut deal = Self::none(board);
        for (index, word) in text.split_ascii_whitespace().enumerate() {
            if word != "." {
                let piece =
                    word.parse().map_err(|fault| DealError::Piece { place: index + 1, fault })?;
                deal.pieces[index] = Some(piece);
            }
        }
        deal.check_hidden(position)?;
        Ok(deal)
    }

    /// What lies face down in a position, from its pieces in the order of their squares' indices.
    ///
    /// # Errors
    /// Where the pieces are not those that lie face down there.
    pub fn under(position: &Position, pieces: &[Piece]) -> Result<Self, DealError> {
        let squares = position.face_down_squares();
        let (given, expected) = (pieces.len(), squares.into_iter().count());
        if given != expected {
            return Err(DealError::Number { given, expected });
        }
        let mut deal = Self::none(position.board_size());
        squares.into_iter().zip(pieces).for_each(|(square, &piece)| deal.put(square, piece));
        deal.check_hidden(position)?;
        Ok(deal)
    }

    /// The pieces, in the order of their squares' indices.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> {
        self.pieces.into_iter().flatten()
    }

    /// Whether this is what lies face down in a position, as far as the public can count.
    ///
    /// # Errors
    /// The first square or piece that says otherwise.
    pub fn check_hidden(&self, position: &Position) -> Result<(), DealError> {
        let (given, expected) = (self.board.squares(), position.board_size().squares());
        if given != expected {
            return Err(DealError::Length { given, expected });
        }
        let mut counts = PieceCounts::NONE;
        for square in self.board.all() {
            let (piece, face_down) = (self.at(square), position.is_face_down(square));
            if piece.is_some() != face_down {
                return Err(DealError::Place { square, piece, face_down });
            }
            piece.into_iter().for_each(|piece| counts.add(piece));
        }
        for piece in Piece::each(BoardSize::Double) {
            let (given, expected) = (counts.get(piece), position.face_down().get(piece));
            if given != expected {
                return Err(DealError::FaceDown { piece, given, expected });
            }
        }
        Ok(())
    }

    /// A deal with no piece yet.
    pub(super) fn none(board: BoardSize) -> Self {
        Self { board, pieces: [None; 64] }
    }

    pub(super) fn put(&mut self, square: Square, piece: Piece) {
        self.pieces[square.at()] = Some(piece);
    }

    /// The board that it is for.
    pub const fn board(&self) -> BoardSize {
        self.board
    }

    /// The piece that was laid on this square.
    #[inline]
    pub fn at(&self, square: Square) -> Option<Piece> {
        self.pieces[square.at()]
    }
}

impl fmt::Display for Deal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, piece) in self.pieces.iter().take(self.board.squares()).enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            match piece {
                Some(piece) => fmt::Display::fmt(piece, f)?,
                None => f.write_str(".")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Deal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deal").field("board", &self.board).finish_non_exhaustive()
    }
}

/// The pieces of a board in the order before the shuffle: colours red, black (then blue, green),
/// kinds `K A E R H C P`.
pub fn full_set(board: BoardSize) -> Vec<Piece> {
    Piece::each(board)
        .flat_map(|piece| std::iter::repeat_n(piece, usize::from(piece.kind.per_colour())))
        .collect()
}
