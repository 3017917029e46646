//! A board kept from the records alone, to hold the referee's position against.

use banqi::rules::{Action, BoardSize, Deal, Piece, PieceCounts, Played, Position, Record, Square};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cell {
    Empty,
    FaceDown(Piece),
    FaceUp(Piece),
}

/// What lies where, as the deal and the records so far say.
#[derive(Clone)]
pub(crate) struct ShadowBoard {
    size: BoardSize,
    cells: Vec<Cell>,
}

impl ShadowBoard {
    /// What everyone sees, with what the deal has face down.
    pub(crate) fn new(position: &Position, deal: &Deal) -> Self {
        let size = position.board_size();
        let cell = |square| match position.piece_at(square) {
            Some(piece) => Cell::FaceUp(piece),
            None if position.is_face_down(square) => {
                Cell::FaceDown(deal.at(square).expect("the deal has what is face down"))
            }
            None => Cell::Empty,
        };
        Self { size, cells: size.all().into_iter().map(cell).collect() }
    }

    fn cell(&mut self, square: Square) -> &mut Cell {
        &mut self.cells[usize::from(square.index())]
    }

    /// Turns a piece up; whether that is what lies there face down.
    fn turn_up(&mut self, square: Square, piece: Piece) -> bool {
        let was = std::mem::replace(self.cell(square), Cell::FaceUp(piece));
        was == Cell::FaceDown(piece)
    }

    /// Does what a record says.
    ///
    /// # Panics
    /// Where what was played contradicts the board.
    pub(crate) fn follow(&mut self, played: &Played) {
        let record = played.record;
        if let Action::Move { from, to } = record.action() {
            let on_target = match *self.cell(to) {
                Cell::Empty => None,
                Cell::FaceDown(piece) | Cell::FaceUp(piece) => Some(piece),
            };
            let takes = matches!(record, Record::Capture { .. } | Record::BothRemoved { .. });
            assert_eq!(played.taken, on_target.filter(|_| takes), "{record}");
            assert_eq!(played.piece.map(Cell::FaceUp), Some(*self.cell(from)), "{record}");
        } else {
            assert_eq!((played.piece, played.taken), (None, None), "{record}");
        }
        if let Some((square, piece)) = record.turned_up() {
            assert!(self.turn_up(square, piece), "{record}: another piece lies there");
        }
        match record {
            Record::Flip { .. } | Record::Probe { .. } | Record::EndChain => {}
            Record::Move { from, to } => {
                assert_eq!(*self.cell(to), Cell::Empty, "{record}");
                self.step(from, to);
            }
            Record::Capture { from, to, .. } => {
                assert!(matches!(self.cell(to), Cell::FaceUp(_)), "{record}");
                self.step(from, to);
            }
            Record::Trade { from, .. } => *self.cell(from) = Cell::Empty,
            Record::BothRemoved { from, to, .. } => {
                *self.cell(from) = Cell::Empty;
                *self.cell(to) = Cell::Empty;
            }
        }
    }

    fn step(&mut self, from: Square, to: Square) {
        let piece = std::mem::replace(self.cell(from), Cell::Empty);
        assert!(matches!(piece, Cell::FaceUp(_)), "{from}-{to}: {piece:?} moved");
        *self.cell(to) = piece;
    }

    /// Holds a position against this board: the same pieces on the same squares, and no piece
    /// more or less in the whole set.
    ///
    /// # Panics
    /// At the first difference.
    pub(crate) fn check(&self, position: &Position) {
        let mut face_down = 0;
        for (square, cell) in self.size.all().into_iter().zip(&self.cells) {
            let (piece, hidden) = match *cell {
                Cell::Empty => (None, false),
                Cell::FaceDown(_) => (None, true),
                Cell::FaceUp(piece) => (Some(piece), false),
            };
            assert_eq!(position.piece_at(square), piece, "{square} in {position}");
            assert_eq!(position.is_face_down(square), hidden, "{square} in {position}");
            face_down += u32::from(hidden);
        }
        assert_eq!(position.face_down().total(), face_down, "{position}");
    }

    /// Counts every piece: face up, face down and captured make the set.
    ///
    /// # Panics
    /// Where they do not.
    pub(crate) fn check_counts(&self, position: &Position) {
        let full = PieceCounts::full(self.size);
        for piece in Piece::each(self.size) {
            let count = |wanted| self.cells.iter().filter(|cell| **cell == wanted).count();
            let (up, down) = (count(Cell::FaceUp(piece)), count(Cell::FaceDown(piece)));
            let captured = usize::from(full.get(piece)) - up - down;
            assert_eq!(usize::from(position.face_down().get(piece)), down, "{piece}: {position}");
            assert_eq!(
                usize::from(position.captured().get(piece)),
                captured,
                "{piece}: {position}"
            );
        }
    }
}
