//! Boards as text.

use std::fmt::Write as _;

use crate::rules::{Cell, Colour, FILES, Position, Seat, Square};

/// How boards are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// With the colours of a terminal.
    pub(super) colour: bool,
}

/// Codes of ANSI terminals.
const RED: &str = "31";
const BOLD: &str = "1";
const BLUE: &str = "34";
const GREEN: &str = "32";
const DIM: &str = "2";

impl Style {
    /// The board with its edges, who is to move, what each seat commands, what is face down.
    pub(super) fn draw(self, position: &Position) -> String {
        let mut text = String::new();
        for rank in (0..position.board_size().ranks()).rev() {
            let _ = write!(text, "{} ", rank + 1);
            for file in 0..FILES {
                if let Some(square) = Square::new(file + FILES * rank) {
                    text.push_str(&self.cell(position.cell(square)));
                }
            }
            text.push('\n');
        }
        text.push_str("  ");
        for file in (b'a'..).take(FILES.into()) {
            let _ = write!(text, "{:>3}", char::from(file));
        }
        let seats: Vec<_> = Seat::first(position.seats())
            .map(|seat| {
                let out = if position.is_out(seat) { " (out)" } else { "" };
                format!("{seat} {}{out}", position.colours(seat))
            })
            .collect();
        let _ = writeln!(
            text,
            "\nturn {}, seat {} to move, quiet {}; seats: {}; face down: {}",
            position.turn_number(),
            position.to_move(),
            position.quiet_turns(),
            seats.join(", "),
            position.face_down(),
        );
        text
    }

    fn cell(self, cell: Cell) -> String {
        let (letters, code) = match cell {
            Cell::Empty => (".".to_owned(), DIM),
            Cell::FaceDown => ("X".to_owned(), DIM),
            Cell::FaceUp(piece) => {
                let code = match piece.colour {
                    Colour::Red => RED,
                    Colour::Black => BOLD,
                    Colour::Blue => BLUE,
                    Colour::Green => GREEN,
                };
                (piece.to_string(), code)
            }
        };
        if self.colour {
            format!("\x1b[{code}m{letters:>3}\x1b[0m")
        } else {
            format!("{letters:>3}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Position, Preset};

    #[test]
    fn colours_change_nothing_but_the_colour() {
        let position = Position::start(&Preset::DoubleFour.rules());
        let plain = Style { colour: false }.draw(&position);
        let coloured = Style { colour: true }.draw(&position);
        assert_ne!(plain, coloured);
        assert_eq!(plain, coloured.replace("\x1b[2m", "").replace("\x1b[0m", ""));
    }
}
