//! What everyone can see: which squares are empty, which are face down, what stands face up.

use super::piece::{Colour, ColourSet, Kind, Piece};
use super::reach::KindSet;
use super::square::{BoardSize, Square, SquareSet};

/// What is on a square, as everyone sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// A piece whose kind and colour nobody sees.
    FaceDown,
    /// A piece that was turned up.
    FaceUp(Piece),
}

/// A [`Cell`] in one byte: eight times the colour and the kind of a face-up piece. The low three
/// bits of the other two are no kind.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Code(u8);

impl Code {
    const EMPTY: Self = Self(NO_KIND);
    const FACE_DOWN: Self = Self(8 + NO_KIND);

    #[inline]
    const fn of(cell: Cell) -> Self {
        match cell {
            Cell::Empty => Self::EMPTY,
            Cell::FaceDown => Self::FACE_DOWN,
            Cell::FaceUp(piece) => Self(8 * piece.colour as u8 + piece.kind as u8),
        }
    }

    #[inline]
    const fn cell(self) -> Cell {
        match self {
            Self::EMPTY => Cell::Empty,
            Self::FACE_DOWN => Cell::FaceDown,
            Self(code) => {
                let colour = Colour::ALL[(code >> 3 & 3) as usize];
                Cell::FaceUp(Piece::new(colour, Kind::ALL[(code & 7) as usize % Kind::COUNT]))
            }
        }
    }
}

/// What stands on a square as a number below 8: the kind of the face-up piece, or this.
pub(super) const NO_KIND: u8 = Kind::COUNT as u8;

/// The board as everyone sees it: once square by square, once as sets of squares.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Board {
    size: BoardSize,
    codes: [Code; 64],
    face_down: SquareSet,
    by_colour: [SquareSet; Colour::COUNT],
    by_kind: [SquareSet; Kind::COUNT],
}

impl Board {
    pub(super) fn empty(size: BoardSize) -> Self {
        Self {
            size,
            codes: [Code::EMPTY; 64],
            face_down: SquareSet::EMPTY,
            by_colour: [SquareSet::EMPTY; Colour::COUNT],
            by_kind: [SquareSet::EMPTY; Kind::COUNT],
        }
    }

    pub(super) fn all_face_down(size: BoardSize) -> Self {
        let mut board = Self::empty(size);
        size.all().into_iter().for_each(|square| board.put(square, Cell::FaceDown));
        board
    }

    #[inline]
    pub(super) fn size(&self) -> BoardSize {
        self.size
    }

    #[inline]
    pub(super) fn cell(&self, square: Square) -> Cell {
        self.codes[square.at()].cell()
    }

    #[inline]
    pub(super) fn piece_at(&self, square: Square) -> Option<Piece> {
        match self.cell(square) {
            Cell::FaceUp(piece) => Some(piece),
            Cell::Empty | Cell::FaceDown => None,
        }
    }

    /// The number of the kind of the face-up piece on a square, or [`NO_KIND`].
    #[inline]
    pub(super) fn kind_number(&self, square: Square) -> u8 {
        self.codes[square.at()].0 & 7
    }

    /// The kind of the face-up piece on a square that is known to have one.
    #[inline]
    pub(super) fn kind_at(&self, square: Square) -> Option<Kind> {
        self.piece_at(square).map(|piece| piece.kind)
    }

    #[inline]
    pub(super) fn face_down(&self) -> SquareSet {
        self.face_down
    }

    #[inline]
    pub(super) fn face_up(&self) -> SquareSet {
        let [red, black, blue, green] = self.by_colour;
        red | black | blue | green
    }

    #[inline]
    pub(super) fn occupied(&self) -> SquareSet {
        self.face_up() | self.face_down
    }

    /// The empty squares of this board.
    #[inline]
    pub(super) fn vacant(&self) -> SquareSet {
        self.size.all() & !self.occupied()
    }

    /// The face-up pieces of these colours.
    #[inline]
    pub(super) fn of_colours(&self, colours: ColourSet) -> SquareSet {
        let mut set = SquareSet::EMPTY;
        for colour in Colour::ALL {
            if colours.contains(colour) {
                set |= self.by_colour[colour as usize];
            }
        }
        set
    }

    /// The face-up pieces of these kinds.
    #[inline]
    pub(super) fn of_kinds(&self, kinds: KindSet) -> SquareSet {
        let mut set = SquareSet::EMPTY;
        for kind in Kind::ALL {
            // A mask instead of a branch, which would be hard to predict.
            let mask = u64::from(kinds.contains(kind)).wrapping_neg();
            set |= SquareSet(self.by_kind[kind as usize].0 & mask);
        }
        set
    }

    /// Lays something on an empty square.
    #[inline]
    pub(super) fn put(&mut self, square: Square, cell: Cell) {
        debug_assert_eq!(self.cell(square), Cell::Empty);
        self.codes[square.at()] = Code::of(cell);
        match cell {
            Cell::Empty => {}
            Cell::FaceDown => self.face_down.insert(square),
            Cell::FaceUp(piece) => {
                self.by_colour[piece.colour as usize].insert(square);
                self.by_kind[piece.kind as usize].insert(square);
            }
        }
    }

    /// Empties a square and gives what was there.
    #[inline]
    pub(super) fn take(&mut self, square: Square) -> Cell {
        let cell = std::mem::replace(&mut self.codes[square.at()], Code::EMPTY).cell();
        match cell {
            Cell::Empty => {}
            Cell::FaceDown => self.face_down.remove(square),
            Cell::FaceUp(piece) => {
                self.by_colour[piece.colour as usize].remove(square);
                self.by_kind[piece.kind as usize].remove(square);
            }
        }
        cell
    }

    /// Moves what is on `from` to `to`, which is empty.
    #[inline]
    pub(super) fn slide(&mut self, from: Square, to: Square) {
        let cell = self.take(from);
        self.put(to, cell);
    }

    /// Turns up the piece on a face-down square.
    #[inline]
    pub(super) fn turn_up(&mut self, square: Square, piece: Piece) {
        self.take(square);
        self.put(square, Cell::FaceUp(piece));
    }
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cells = self.size.all().into_iter().map(|square| (square, self.cell(square)));
        f.debug_map().entries(cells).finish()
    }
}
