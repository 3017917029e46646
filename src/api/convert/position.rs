//! Squares, pieces and positions.

use arrayvec::ArrayVec;

use crate::api::proto::v1;
use crate::rules::{
    BoardSize, Cell, Colour, ColourSet, Kind, Piece, PieceCounts, Position, Seat, Square,
};
use crate::store::codec::wire::{put_bytes, put_message, put_number, put_text};

/// The number of a square in `banqi.v1.Square`; that of the unspecified one for none.
pub fn square(square: Option<Square>) -> i32 {
    square.map_or(0, |square| i32::from(square.index()) + 1)
}

/// The number of a cell in `banqi.v1.Cell`.
pub fn cell(cell: Cell) -> i32 {
    match cell {
        Cell::Empty => v1::Cell::Empty.into(),
        Cell::FaceDown => v1::Cell::FaceDown.into(),
        // There are 28 pieces, numbered in the same order.
        Cell::FaceUp(piece) => v1::Cell::RedGeneral as i32 + piece.index() as i32,
    }
}

impl From<Colour> for v1::Colour {
    fn from(colour: Colour) -> Self {
        match colour {
            Colour::Red => Self::Red,
            Colour::Black => Self::Black,
            Colour::Blue => Self::Blue,
            Colour::Green => Self::Green,
        }
    }
}

impl From<Kind> for v1::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::General => Self::General,
            Kind::Advisor => Self::Advisor,
            Kind::Elephant => Self::Elephant,
            Kind::Chariot => Self::Chariot,
            Kind::Horse => Self::Horse,
            Kind::Cannon => Self::Cannon,
            Kind::Soldier => Self::Soldier,
        }
    }
}

impl From<Piece> for v1::Piece {
    fn from(piece: Piece) -> Self {
        Self {
            colour: v1::Colour::from(piece.colour).into(),
            kind: v1::Kind::from(piece.kind).into(),
        }
    }
}

impl From<&Position> for v1::Position {
    fn from(position: &Position) -> Self {
        let board = position.board_size();
        Self {
            cells: board.all().into_iter().map(|square| cell(position.cell(square))).collect(),
            text: position.to_string(),
            to_move: position.to_move().number().into(),
            chain_from: square(position.chain()),
            face_down: counts(&position.face_down()),
            captured: counts(&position.captured()),
            quiet_turns: position.quiet_turns().into(),
            turn_number: position.turn_number(),
            seats: Seat::first(position.seats()).map(|seat| seat_state(position, seat)).collect(),
        }
    }
}

/// Appends what `v1::Position::from` makes.
pub(super) fn encode_position(field: u32, position: &Position, into: &mut Vec<u8>) {
    let board = position.board_size();
    let mut cells = ArrayVec::<u8, { BoardSize::Double.squares() }>::new();
    // There are fewer values than 128, so each takes one byte.
    cells.extend(board.all().into_iter().map(|square| cell(position.cell(square)) as u8));
    put_message(field, into, |into| {
        put_bytes(1, &cells, into);
        put_text(2, position, into);
        put_number(3, position.to_move().number(), into);
        put_number(4, square(position.chain()) as u32, into);
        encode_counts(5, &position.face_down(), into);
        encode_counts(6, &position.captured(), into);
        put_number(7, position.quiet_turns(), into);
        put_number(8, position.turn_number(), into);
        for seat in Seat::first(position.seats()) {
            put_message(9, into, |into| {
                put_number(1, seat.number(), into);
                encode_colours(2, position.colours(seat), into);
                put_number(3, position.is_out(seat), into);
            });
        }
    });
}

/// The keys of fields (number and wire type) of `banqi.v1.PieceCount` and `banqi.v1.Piece`.
const PIECE: u8 = 1 << 3 | 2;
const COUNT: u8 = 2 << 3;
const COLOUR: u8 = 1 << 3;
const KIND: u8 = 2 << 3;

fn encode_counts(field: u32, counts: &PieceCounts, into: &mut Vec<u8>) {
    for (piece, count) in counts.iter() {
        let Piece { colour, kind } = piece;
        let [colour, kind] = [v1::Colour::from(colour) as u8, v1::Kind::from(kind) as u8];
        // A message of these keys, lengths and numbers; none is 0, or 128 and more.
        put_bytes(field, &[PIECE, 4, COLOUR, colour, KIND, kind, COUNT, count], into);
    }
}

/// Appends what `v1::Piece::from` makes.
pub(super) fn encode_piece(field: u32, piece: Piece, into: &mut Vec<u8>) {
    put_message(field, into, |into| {
        put_number(1, v1::Colour::from(piece.colour) as u32, into);
        put_number(2, v1::Kind::from(piece.kind) as u32, into);
    });
}

/// Appends the numbers of colours.
pub(super) fn encode_colours(field: u32, colours: ColourSet, into: &mut Vec<u8>) {
    let numbers: ArrayVec<u8, 4> =
        colours.iter().map(|colour| v1::Colour::from(colour) as u8).collect();
    put_bytes(field, &numbers, into);
}

fn counts(counts: &PieceCounts) -> Vec<v1::PieceCount> {
    counts
        .iter()
        .map(|(piece, count)| v1::PieceCount { piece: Some(piece.into()), count: count.into() })
        .collect()
}

fn seat_state(position: &Position, seat: Seat) -> v1::SeatState {
    v1::SeatState {
        number: seat.number().into(),
        colours: position
            .colours(seat)
            .iter()
            .map(|colour| v1::Colour::from(colour).into())
            .collect(),
        out: position.is_out(seat),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_square_keeps_its_name() {
        for given in BoardSize::Double.all() {
            let message = v1::Square::try_from(square(Some(given))).expect("a value of the enum");
            let name = format!("SQUARE_{}", given.to_string().to_uppercase());
            assert_eq!(message.as_str_name(), name);
        }
        assert_eq!(v1::Square::try_from(square(None)), Ok(v1::Square::Unspecified));
    }

    #[test]
    fn every_piece_keeps_its_colour_and_kind() {
        for piece in Piece::each(BoardSize::Double) {
            let message = v1::Cell::try_from(cell(Cell::FaceUp(piece))).expect("a value");
            let colour = v1::Colour::from(piece.colour).as_str_name().replace("COLOUR_", "CELL_");
            let kind = v1::Kind::from(piece.kind).as_str_name().replace("KIND_", "_");
            assert_eq!(message.as_str_name(), format!("{colour}{kind}"));
        }
    }
}
