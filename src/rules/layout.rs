//! A board given with all that is on it, also what is face down.

use super::board::Cell;
use super::deal::Deal;
use super::piece::{ColourSet, PieceCounts};
use super::seat::Seat;
use super::setup::{SeatSetup, Setup};
use super::square::{BoardSize, Square};

/// A board with all that is on it, seen or not: the public part of a [`Setup`] and the hidden part
/// of a [`Deal`] in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    board: BoardSize,
    cells: [Cell; 64],
    face_down: PieceCounts,
    hidden: Deal,
}

/// A text that lays out no board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Too few or too many squares.
    #[error(
        "{given} cells; this board has {expected} squares, given in index order split by blanks"
    )]
    Length {
        /// How many there are.
        given: usize,
        /// How many there must be.
        expected: usize,
    },
    /// A word that is no cell.
    #[error(
        "cell {place} is `{word}`: expected a piece, `?` and a piece where it is face down, or `.`"
    )]
    Cell {
        /// Which word, from 1.
        place: usize,
        /// What it says.
        word: String,
    },
}

impl Layout {
    /// Reads cells in index order, split by blanks: `.` empty, `K` face up, `?K` face down.
    ///
    /// # Errors
    /// Where a word is no cell or their number is not the board's. What may lie there together is
    /// for [`Setup::into_position`] to check.
    pub fn parse(board: BoardSize, text: &str) -> Result<Self, LayoutError> {
        let given = text.split_ascii_whitespace().count();
        if given != board.squares() {
            return Err(LayoutError::Length { given, expected: board.squares() });
        }
        let mut layout = Self {
            board,
            cells: [Cell::Empty; 64],
            face_down: PieceCounts::NONE,
            hidden: Deal::none(board),
        };
        for (index, word) in text.split_ascii_whitespace().enumerate() {
            if word == "." {
                continue;
            }
            let fault =
                || LayoutError::Cell { place: index + 1, word: word.chars().take(20).collect() };
            let square = Square::masked(index as u8);
            let (letters, face_down) = match word.strip_prefix('?') {
                Some(letters) => (letters, true),
                None => (word, false),
            };
            let piece = letters.parse().map_err(|_| fault())?;
            if face_down {
                layout.cells[index] = Cell::FaceDown;
                layout.face_down.add(piece);
                layout.hidden.put(square, piece);
            } else {
                layout.cells[index] = Cell::FaceUp(piece);
            }
        }
        Ok(layout)
    }

    /// What everyone sees of it, with the rest of a position: the seat to move, what each seat
    /// commands, the quiet count. It is turn 1, and no seat is out.
    pub fn setup(&self, to_move: Seat, colours: &[ColourSet], quiet_turns: u16) -> Setup {
        Setup {
            board: self.board,
            cells: self.cells,
            to_move,
            chain: None,
            seats: colours.iter().map(|&colours| SeatSetup { colours, out: false }).collect(),
            face_down: self.face_down,
            quiet_turns,
            turn_number: 1,
        }
    }

    /// What is hidden in it: the pieces on the face-down squares.
    pub fn deal(&self) -> &Deal {
        &self.hidden
    }
}
