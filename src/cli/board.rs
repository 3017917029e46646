//! Boards as text.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};

use clap::ValueEnum;

use crate::rules::{Cell, Colour, FILES, Kind, Piece, Position, Seat, Square};

/// How boards are drawn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Style {
    /// With the colours of a terminal.
    pub(super) colour: bool,
    /// What stands for a piece.
    pub(super) pieces: Pieces,
}

/// What stands for a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Pieces {
    /// Its letter, as in records: K red, k black, +K blue, +k green
    #[default]
    Letters,
    /// Its Chinese character, which needs a terminal that has them
    Characters,
}

/// The characters of the kinds, highest first, of red and blue and of black and green.
const CHARACTERS: [&str; 2] = ["帥仕相俥傌炮兵", "將士象車馬包卒"];

/// Codes of ANSI terminals.
const RED: &str = "31";
const BOLD: &str = "1";
const BLUE: &str = "34";
const GREEN: &str = "32";
const DIM: &str = "2";
const REVERSED: &str = "7";

impl Style {
    /// For standard output: with colour on a terminal, unless `NO_COLOR` is set.
    pub(super) fn of_output(pieces: Pieces) -> Self {
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { colour: io::stdout().is_terminal() && !forbidden, pieces }
    }

    /// The board with its edges, who is to move, what each seat commands, what is face down.
    pub(super) fn draw(self, position: &Position) -> String {
        self.draw_marked(position, &[])
    }

    /// The same, with some squares that are marked where there is colour.
    pub(super) fn draw_marked(self, position: &Position, marked: &[Square]) -> String {
        let mut text = self.squares(position, marked);
        let seats: Vec<_> = Seat::first(position.seats())
            .map(|seat| {
                let out = if position.is_out(seat) { " (out)" } else { "" };
                format!("{seat} {}{out}", position.colours(seat))
            })
            .collect();
        let _ = writeln!(
            text,
            "turn {}, seat {} to move, quiet {}; seats: {}; face down: {}",
            position.turn_number(),
            position.to_move(),
            position.quiet_turns(),
            seats.join(", "),
            position.face_down(),
        );
        text
    }

    /// The board with its edges, and some squares that are marked where there is colour.
    pub(super) fn squares(self, position: &Position, marked: &[Square]) -> String {
        let mut text = String::new();
        for rank in (0..position.board_size().ranks()).rev() {
            let _ = write!(text, "{} ", rank + 1);
            for file in 0..FILES {
                if let Some(square) = Square::new(file + FILES * rank) {
                    text.push_str(&self.cell(position.cell(square), marked.contains(&square)));
                }
            }
            text.push('\n');
        }
        text.push_str("  ");
        for file in (b'a'..).take(FILES.into()) {
            let _ = match self.pieces {
                Pieces::Letters => write!(text, "{:>3}", char::from(file)),
                Pieces::Characters => write!(text, "  {} ", char::from(file)),
            };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    fn cell(self, cell: Cell, marked: bool) -> String {
        let (text, code) = match cell {
            Cell::Empty => (self.padded("."), DIM),
            Cell::FaceDown => (self.padded("X"), DIM),
            Cell::FaceUp(piece) => {
                let code = match piece.colour {
                    Colour::Red => RED,
                    Colour::Black => BOLD,
                    Colour::Blue => BLUE,
                    Colour::Green => GREEN,
                };
                let text = match self.pieces {
                    Pieces::Letters => self.padded(&piece.to_string()),
                    // A character is as wide as two letters.
                    Pieces::Characters => character(piece),
                };
                (text, code)
            }
        };
        match (self.colour, marked) {
            (false, _) => text,
            (true, false) => format!("\x1b[{code}m{text}\x1b[0m"),
            (true, true) => format!("\x1b[{code};{REVERSED}m{text}\x1b[0m"),
        }
    }

    /// A letter or two, in the middle of where a piece stands.
    fn padded(self, text: &str) -> String {
        match self.pieces {
            Pieces::Letters => format!("{text:>3}"),
            Pieces::Characters => format!("  {text} "),
        }
    }
}

/// The character of a piece; the two colours of a set have different ones.
pub(super) fn glyph(piece: Piece) -> char {
    let lower = matches!(piece.colour, Colour::Black | Colour::Green);
    let place = Kind::ALL.iter().position(|kind| *kind == piece.kind).unwrap_or_default();
    CHARACTERS[usize::from(lower)].chars().nth(place).unwrap_or('?')
}

/// The character of a piece as wide as two letters; of the four colours on the double board the second two have a
/// sign before it, as their letters have.
fn character(piece: Piece) -> String {
    let sign = if matches!(piece.colour, Colour::Blue | Colour::Green) { '+' } else { ' ' };
    format!("{sign}{} ", glyph(piece))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Position, Preset};

    #[test]
    fn colours_change_nothing_but_the_colour() {
        let position = Position::start(&Preset::DoubleFour.rules());
        let plain = Style::default().draw(&position);
        let coloured = Style { colour: true, ..Style::default() }.draw(&position);
        assert_ne!(plain, coloured);
        assert_eq!(plain, coloured.replace("\x1b[2m", "").replace("\x1b[0m", ""));
    }
}
