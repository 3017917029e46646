//! A legal position, as everyone sees it.

use super::board::{Board, Cell};
use super::piece::{ColourSet, Piece, PieceCounts};
use super::reach::Captures;
use super::rule_set::RuleSet;
use super::seat::Seat;
use super::setup::{SeatSetup, Setup};
use super::square::{BoardSize, Square, SquareSet};

/// A legal position, with nothing hidden in it: what lies face down is known by number alone.
///
/// It comes from the start of a game, from playing, or from a checked [`Setup`]. Its text
/// (`Display`) is that of `RULES.md` §9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub(super) board: Board,
    pub(super) seats: u8,
    pub(super) colours: [ColourSet; Seat::MAX],
    pub(super) out: [bool; Seat::MAX],
    pub(super) to_move: Seat,
    pub(super) chain: Option<Square>,
    pub(super) face_down: PieceCounts,
    pub(super) quiet_turns: u16,
    pub(super) turn_number: u32,
}

impl Position {
    /// The start: every piece of the board face down, seat 1 to move.
    pub fn start(rules: &RuleSet) -> Self {
        let size = rules.board_size();
        Self {
            board: Board::all_face_down(size),
            seats: rules.seats(),
            colours: [ColourSet::EMPTY; Seat::MAX],
            out: [false; Seat::MAX],
            to_move: Seat::FIRST,
            chain: None,
            face_down: PieceCounts::full(size),
            quiet_turns: 0,
            turn_number: 1,
        }
    }

    /// What is on a square.
    #[inline]
    pub fn cell(&self, square: Square) -> Cell {
        self.board.cell(square)
    }

    /// The face-up piece on a square.
    #[inline]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        self.board.piece_at(square)
    }

    /// Whether a piece lies face down there.
    #[inline]
    pub fn is_face_down(&self, square: Square) -> bool {
        self.board.face_down().contains(square)
    }

    /// The squares whose piece is face down.
    pub fn face_down_squares(&self) -> SquareSet {
        self.board.face_down()
    }

    /// Which board.
    #[inline]
    pub fn board_size(&self) -> BoardSize {
        self.board.size()
    }

    /// How many seats: 2 or 4.
    #[inline]
    pub fn seats(&self) -> u8 {
        self.seats
    }

    /// The seat to move. After the end: the seat that `RULES.md` §9 shows.
    #[inline]
    pub fn to_move(&self) -> Seat {
        self.to_move
    }

    /// The square of the piece whose chain of captures is in progress (`RULES.md` §5).
    #[inline]
    pub fn chain(&self) -> Option<Square> {
        self.chain
    }

    /// What a seat commands; empty while it has no colour.
    #[inline]
    pub fn colours(&self, seat: Seat) -> ColourSet {
        self.colours[seat.index()]
    }

    /// Whether a seat is out (four seats, `RULES.md` §7).
    #[inline]
    pub fn is_out(&self, seat: Seat) -> bool {
        self.out[seat.index()]
    }

    /// The pieces that are still face down, by number: the public can count them.
    #[inline]
    pub fn face_down(&self) -> PieceCounts {
        self.face_down
    }

    /// The pieces that have left the board: the set without those on it, face up or face down.
    pub fn captured(&self) -> PieceCounts {
        let mut left = PieceCounts::full(self.board_size());
        for piece in Piece::each(self.board_size()) {
            let gone = left.get(piece).saturating_sub(self.face_down.get(piece));
            left.set(piece, gone);
        }
        for square in self.board.face_up() {
            if let Some(piece) = self.piece_at(square) {
                left.take(piece);
            }
        }
        left
    }

    /// Quiet turns in a row (`RULES.md` §1).
    #[inline]
    pub fn quiet_turns(&self) -> u16 {
        self.quiet_turns
    }

    /// The number of the turn to come, from 1.
    #[inline]
    pub fn turn_number(&self) -> u32 {
        self.turn_number
    }

    /// The position as an unchecked one, to be changed or written.
    pub fn to_setup(&self) -> Setup {
        let mut cells = [Cell::Empty; 64];
        for square in self.board_size().all() {
            cells[square.at()] = self.cell(square);
        }
        Setup {
            board: self.board_size(),
            cells,
            to_move: self.to_move,
            chain: self.chain,
            seats: self.seat_setups().collect(),
            face_down: self.face_down,
            quiet_turns: self.quiet_turns,
            turn_number: self.turn_number,
        }
    }

    /// What its text says of the seats, in order.
    pub(super) fn seat_setups(&self) -> impl Iterator<Item = SeatSetup> {
        Seat::first(self.seats)
            .map(|seat| SeatSetup { colours: self.colours(seat), out: self.is_out(seat) })
    }

    /// The seat's face-up pieces.
    #[inline]
    pub(super) fn own(&self, seat: Seat) -> SquareSet {
        self.board.of_colours(self.colours(seat))
    }

    /// The face-up pieces that are not the seat's own.
    #[inline]
    pub(super) fn enemies(&self, seat: Seat) -> SquareSet {
        self.board.face_up() & !self.own(seat)
    }

    /// Whether a seat that holds colours has none of their pieces left, face up or face down.
    #[inline]
    pub(super) fn has_no_piece(&self, seat: Seat) -> bool {
        let colours = self.colours(seat);
        !colours.is_empty()
            && self.own(seat).is_empty()
            && colours.iter().all(|colour| self.face_down.of_colour(colour) == 0)
    }

    /// What the face-up piece on `from` may take or aim at, if the seat to move had it.
    #[inline]
    pub(super) fn captures_from(&self, captures: &Captures, from: Square) -> SquareSet {
        let Some(kind) = self.board.kind_at(from) else { return SquareSet::EMPTY };
        captures.targets(&self.board, from, kind, self.enemies(self.to_move))
    }
}
