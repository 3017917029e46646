//! The text of a position (`RULES.md` §9), read and written.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use arrayvec::{ArrayString, ArrayVec};

use super::board::Cell;
use super::piece::{Piece, PieceCounts};
use super::position::Position;
use super::seat::Seat;
use super::setup::{SeatSetup, Setup, SetupFault};
use super::square::{BoardSize, FILES, Square};

/// The most letters that the ranks of a position take: two a square, and what parts the ranks.
const RANKS_LENGTH: usize = 2 * BoardSize::Double.squares() + 7;

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seats: ArrayVec<SeatSetup, { Seat::MAX }> = self.seat_setups().collect();
        let rest = Rest {
            to_move: self.to_move(),
            chain: self.chain(),
            seats: &seats,
            face_down: &self.face_down(),
            quiet_turns: self.quiet_turns(),
            turn_number: self.turn_number(),
        };
        write!(f, "{} {rest}", ranks_text(self.board_size(), |square| self.cell(square)))
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = Rest {
            to_move: self.to_move,
            chain: self.chain,
            seats: &self.seats,
            face_down: &self.face_down,
            quiet_turns: self.quiet_turns,
            turn_number: self.turn_number,
        };
        write!(f, "{} {rest}", ranks_text(self.board, |square| self.cells[square.at()]))
    }
}

/// The ranks of a board, the highest first.
fn ranks_text(board: BoardSize, cell: impl Fn(Square) -> Cell) -> ArrayString<RANKS_LENGTH> {
    let mut text = ArrayString::new();
    let mut squares: ArrayVec<Square, { BoardSize::Double.squares() }> =
        board.all().into_iter().collect();
    while let Some(first) = squares.len().checked_sub(usize::from(FILES)) {
        let mut empty = b'0';
        for square in squares.drain(first..) {
            match cell(square) {
                Cell::Empty => {
                    empty += 1;
                    continue;
                }
                filled => {
                    put_empty(&mut text, &mut empty);
                    match filled {
                        Cell::FaceUp(piece) => piece.letters().for_each(|letter| text.push(letter)),
                        Cell::FaceDown | Cell::Empty => text.push('X'),
                    }
                }
            }
        }
        put_empty(&mut text, &mut empty);
        if first > 0 {
            text.push('/');
        }
    }
    text
}

/// Writes how many squares were empty, if any were.
fn put_empty(text: &mut ArrayString<RANKS_LENGTH>, empty: &mut u8) {
    if *empty > b'0' {
        text.push(char::from(*empty));
        *empty = b'0';
    }
}

/// What a position's text has beside the ranks.
struct Rest<'a> {
    to_move: Seat,
    chain: Option<Square>,
    seats: &'a [SeatSetup],
    face_down: &'a PieceCounts,
    quiet_turns: u16,
    turn_number: u32,
}

impl fmt::Display for Rest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { to_move, chain, seats, face_down, quiet_turns, turn_number } = self;
        fmt::Display::fmt(to_move, f)?;
        if let Some(square) = chain {
            write!(f, "*{square}")?;
        }
        write!(f, " {} {face_down} {quiet_turns} {turn_number}", SeatsText(seats))
    }
}

/// The seats' colours as a position writes them: `r,b`, `-,-`, `r,b!,u,g`.
pub(super) struct SeatsText<'a>(pub(super) &'a [SeatSetup]);

impl fmt::Display for SeatsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, seat) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_char(',')?;
            }
            fmt::Display::fmt(&seat.colours, f)?;
            if seat.out {
                f.write_char('!')?;
            }
        }
        Ok(())
    }
}

impl FromStr for Setup {
    type Err = SetupFault;

    /// Reads the text of a position. Only the one spelling that would be written is accepted.
    fn from_str(text: &str) -> Result<Self, SetupFault> {
        let shown: String = text.chars().take(200).collect();
        let parts: Vec<&str> = text.split(' ').collect();
        let [ranks, to_move, colours, face_down, quiet_turns, turn_number] = parts[..] else {
            return Err(SetupFault::new(
                "position",
                shown,
                "six parts split by single blanks: ranks, seat to move, colours, face-down pieces, \
                 quiet count, turn number",
            ));
        };
        let (board, cells) = read_ranks(ranks)?;
        let (to_move, chain) = read_to_move(to_move)?;
        let setup = Self {
            board,
            cells,
            to_move,
            chain,
            seats: read_seats(colours)?,
            face_down: read_counts(face_down)?,
            quiet_turns: read_number("quiet_turns", quiet_turns)?,
            turn_number: read_number("turn_number", turn_number)?,
        };
        let canonical = setup.to_string();
        if canonical != text {
            return Err(SetupFault::new("position", shown, format!("it written as `{canonical}`")));
        }
        Ok(setup)
    }
}

fn read_ranks(text: &str) -> Result<(BoardSize, [Cell; 64]), SetupFault> {
    let fault = |expected: &str| SetupFault::new("ranks", text, expected);
    let ranks: Vec<&str> = text.split('/').collect();
    let board = match ranks.len() {
        4 => BoardSize::Single,
        8 => BoardSize::Double,
        _ => return Err(fault("4 ranks, or 8 on the double board, split by `/`")),
    };
    let mut cells = [Cell::Empty; 64];
    for (row, rank) in ranks.iter().rev().enumerate() {
        let mut file = 0;
        let mut letters = rank.chars();
        while let Some(letter) = letters.next() {
            let cell = match letter {
                '1'..='8' => {
                    file += letter as usize - '0' as usize;
                    continue;
                }
                'X' => Cell::FaceDown,
                '+' => {
                    let piece: String = ['+'].into_iter().chain(letters.next()).collect();
                    Cell::FaceUp(piece.parse().map_err(|_| fault("a letter of a piece after `+`"))?)
                }
                other => {
                    let piece = other.to_string().parse();
                    Cell::FaceUp(piece.map_err(|_| {
                        fault("pieces, `X` for face down, and digits 1–8 for empty squares")
                    })?)
                }
            };
            if file >= usize::from(FILES) {
                break;
            }
            cells[file + usize::from(FILES) * row] = cell;
            file += 1;
        }
        if file != usize::from(FILES) || letters.next().is_some() {
            return Err(fault("8 squares in every rank"));
        }
    }
    Ok((board, cells))
}

fn read_to_move(text: &str) -> Result<(Seat, Option<Square>), SetupFault> {
    let fault =
        || SetupFault::new("to_move", text, "a seat from 1, and `*` with a square in a chain");
    let (seat, chain) = match text.split_once('*') {
        None => (text, None),
        Some((seat, square)) => (seat, Some(square.parse().map_err(|_| fault())?)),
    };
    let seat = seat.parse().ok().and_then(Seat::new).ok_or_else(fault)?;
    Ok((seat, chain))
}

fn read_seats(text: &str) -> Result<Vec<SeatSetup>, SetupFault> {
    let fault = || {
        SetupFault::new(
            "colours",
            text,
            "the colours of 2 or 4 seats split by commas: letters r, b, u, g, or `-`; `!` after \
             those of a seat that is out",
        )
    };
    let seats: Vec<SeatSetup> = text
        .split(',')
        .map(|seat| {
            let (letters, out) = match seat.strip_suffix('!') {
                Some(letters) => (letters, true),
                None => (seat, false),
            };
            let colours = letters.parse().map_err(|_| fault())?;
            Ok(SeatSetup { colours, out })
        })
        .collect::<Result<_, _>>()?;
    if matches!(seats.len(), 2 | 4) { Ok(seats) } else { Err(fault()) }
}

fn read_counts(text: &str) -> Result<PieceCounts, SetupFault> {
    let fault = || {
        SetupFault::new("face_down", text, "letters of pieces with counts, like `K1A2k1`, or `-`")
    };
    let mut counts = PieceCounts::NONE;
    if text == "-" {
        return Ok(counts);
    }
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_digit()).ok_or_else(fault)?;
        let (letters, digits) = rest.split_at(end);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let piece: Piece = letters.parse().map_err(|_| fault())?;
        counts.set(piece, digits[..end].parse().map_err(|_| fault())?);
        rest = &digits[end..];
    }
    Ok(counts)
}

fn read_number<N: FromStr>(part: &'static str, text: &str) -> Result<N, SetupFault> {
    text.parse().map_err(|_| SetupFault::new(part, text, "a whole number in range"))
}
