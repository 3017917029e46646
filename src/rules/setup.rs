//! A position that nobody has checked yet, and the check.

use super::board::{Board, Cell};
use super::piece::{Colour, ColourSet, Piece, PieceCounts};
use super::position::Position;
use super::position_text::SeatsText;
use super::reach::Captures;
use super::rule_set::RuleSet;
use super::seat::Seat;
use super::square::{BoardSize, Square};

/// One seat of a [`Setup`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatSetup {
    /// What it commands; empty for a seat that has no colour yet.
    pub colours: ColourSet,
    /// Whether it is out (four seats, `RULES.md` §7).
    pub out: bool,
}

/// A position as somebody states it, unchecked. Its text is that of `RULES.md` §9;
/// [`Setup::into_position`] makes a legal position of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Which board.
    pub board: BoardSize,
    /// What is on each square, by index; beyond the board: empty.
    pub cells: [Cell; 64],
    /// The seat to move.
    pub to_move: Seat,
    /// The square of the piece whose chain is in progress.
    pub chain: Option<Square>,
    /// The seats, in order.
    pub seats: Vec<SeatSetup>,
    /// The pieces that are still face down.
    pub face_down: PieceCounts,
    /// Quiet turns in a row.
    pub quiet_turns: u16,
    /// The number of the turn to come, from 1.
    pub turn_number: u32,
}

/// What is wrong with a position: which part of it, what that says, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part} `{value}`: expected {expected}")]
pub struct SetupFault {
    /// The part: `position`, `ranks`, `to_move`, `chain`, `colours`, `face_down`, `quiet_turns`
    /// or `turn_number`.
    pub part: &'static str,
    /// What it says.
    pub value: String,
    /// What would be right.
    pub expected: String,
}

impl SetupFault {
    pub(super) fn new(
        part: &'static str,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Self { part, value: value.to_string(), expected: expected.into() }
    }
}

impl Setup {
    /// Checks the position against a rule set (`RULES.md` §9, "Refused").
    ///
    /// # Errors
    /// Every fault at once.
    pub fn into_position(self, rules: &RuleSet) -> Result<Position, Vec<SetupFault>> {
        let mut faults = Vec::new();
        if self.board != rules.board_size() {
            faults.push(SetupFault::new(
                "ranks",
                self.board.ranks(),
                format!("the {} ranks of this rule set's board", rules.board_size().ranks()),
            ));
        }
        self.check_seats(rules, &mut faults);
        self.check_pieces(&mut faults);
        if self.turn_number == 0 {
            faults.push(SetupFault::new("turn_number", 0, "a number from 1"));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let position = self.assemble();
        match self.chain_fault(rules, &position) {
            Some(fault) => Err(vec![fault]),
            None => Ok(position),
        }
    }

    fn check_seats(&self, rules: &RuleSet, faults: &mut Vec<SetupFault>) {
        let mut fault = |part, value: String, expected: &str| {
            faults.push(SetupFault::new(part, value, expected))
        };
        let colours = || SeatsText(&self.seats).to_string();
        if self.seats.len() != usize::from(rules.seats()) {
            fault("colours", colours(), &format!("{} seats", rules.seats()));
            return;
        }
        if self.to_move.number() > rules.seats() {
            fault(
                "to_move",
                self.to_move.to_string(),
                &format!("a seat from 1 to {}", rules.seats()),
            );
        } else if self.seats[self.to_move.index()].out {
            fault("to_move", self.to_move.to_string(), "a seat that is not out");
        }
        let mut held = ColourSet::EMPTY;
        let available = ColourSet::all(self.board);
        for seat in &self.seats {
            for colour in seat.colours.iter() {
                if held.contains(colour) {
                    fault("colours", colours(), "each colour held by one seat");
                }
                if !available.contains(colour) {
                    fault("colours", colours(), "blue and green on the double board alone");
                }
                held = held.with(colour);
            }
        }
        let holding = self.seats.iter().filter(|seat| !seat.colours.is_empty()).count();
        if self.seats.len() == 4 {
            if self.seats.iter().any(|seat| seat.colours.len() > 1) {
                fault("colours", colours(), "one colour a seat");
            }
            if holding == 3 {
                fault(
                    "colours",
                    colours(),
                    "the last colour held by the fourth seat when three hold one",
                );
            }
        } else {
            if self.seats.iter().any(|seat| seat.out) {
                fault("colours", colours(), "no seat out where there are two");
            }
            let sides = [
                ColourSet::of(Colour::Red).union(ColourSet::of(Colour::Blue)),
                ColourSet::of(Colour::Black).union(ColourSet::of(Colour::Green)),
            ];
            let allowed: Vec<ColourSet> = match self.board {
                BoardSize::Double => sides.to_vec(),
                BoardSize::Single => {
                    Colour::of(self.board).iter().map(|&c| ColourSet::of(c)).collect()
                }
            };
            let fits =
                |seat: &SeatSetup| seat.colours.is_empty() || allowed.contains(&seat.colours);
            if holding == 1 || !self.seats.iter().all(fits) {
                let expected = match self.board {
                    BoardSize::Single => "`-,-`, `r,b` or `b,r`",
                    BoardSize::Double => "`-,-`, `ru,bg` or `bg,ru`",
                };
                fault("colours", colours(), expected);
            }
        }
    }

    fn check_pieces(&self, faults: &mut Vec<SetupFault>) {
        let mut on_board = self.face_down;
        let (mut hidden, mut shown, mut beyond) = (0, 0, 0);
        for (index, cell) in self.cells.iter().enumerate() {
            match cell {
                Cell::Empty => {}
                _ if index >= self.board.squares() => beyond += 1,
                Cell::FaceDown => hidden += 1,
                Cell::FaceUp(piece) => {
                    shown += 1;
                    on_board.add(*piece);
                }
            }
        }
        if beyond > 0 {
            faults.push(SetupFault::new("ranks", beyond, "no piece beyond the board"));
        }
        if hidden != self.face_down.total() {
            faults.push(SetupFault::new(
                "face_down",
                self.face_down,
                format!("as many pieces as there are face-down squares, {hidden}"),
            ));
        }
        let full = PieceCounts::full(self.board);
        for piece in Piece::each(BoardSize::Double) {
            let (given, most) = (on_board.get(piece), full.get(piece));
            if given > most {
                faults.push(SetupFault::new(
                    "ranks",
                    format!("{given} × {piece}"),
                    format!("at most {most} of it, face up and face down together"),
                ));
            }
        }
        if shown > 0 && self.seats.iter().all(|seat| seat.colours.is_empty()) {
            faults.push(SetupFault::new(
                "colours",
                SeatsText(&self.seats),
                "a seat that holds a colour, since pieces are face up",
            ));
        }
    }

    fn assemble(&self) -> Position {
        let mut board = Board::empty(self.board);
        for square in self.board.all() {
            board.put(square, self.cells[square.at()]);
        }
        let mut seats = [SeatSetup::default(); Seat::MAX];
        seats[..self.seats.len()].copy_from_slice(&self.seats);
        Position {
            board,
            seats: self.seats.len() as u8,
            colours: seats.map(|seat| seat.colours),
            out: seats.map(|seat| seat.out),
            to_move: self.to_move,
            chain: self.chain,
            face_down: self.face_down,
            quiet_turns: self.quiet_turns,
            turn_number: self.turn_number,
        }
    }

    fn chain_fault(&self, rules: &RuleSet, position: &Position) -> Option<SetupFault> {
        let square = self.chain?;
        let fault = |expected| Some(SetupFault::new("chain", square, expected));
        if !rules.chain() {
            return fault("no chain under this rule set");
        }
        if !position.own(self.to_move).contains(square) {
            return fault("the square of a face-up piece of the seat to move");
        }
        if position.captures_from(&Captures::of(rules), square).is_empty() {
            return fault("the square of a piece that has a further capture");
        }
        None
    }
}
