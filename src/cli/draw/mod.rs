//! `banqi draw`.

mod diagram;
mod svg;

use std::io::{self, Write as _};

use clap::Args;

use super::board::{Pieces, Style};
use crate::rules::{RuleSet, Setup, SetupFault, Square};
use diagram::Diagram;

/// Draw a position as text, or as a picture (SVG)
///
/// The position is written as in docs/RULES.md §9. With `--from` the squares are marked that the piece
/// there may go to, by the rules: an empty one with a dot, an enemy with a ring, and a face-down piece that
/// it may aim at with a dashed ring.
#[derive(Args, Debug)]
pub(super) struct Draw {
    /// The position, for example "8/2kX4/8/K7 1 r,b P1 7 31"
    position: Setup,

    /// The rules: a preset, and `field=value` for what differs
    #[arg(long, value_name = "RULES", default_value_t = RuleSet::TAIWANESE)]
    rules: RuleSet,

    /// Mark what the piece on this square may do
    #[arg(long, value_name = "SQUARE")]
    from: Option<Square>,

    /// Squares to mark, split by commas
    #[arg(long, value_name = "SQUARES", value_delimiter = ',')]
    mark: Vec<Square>,

    /// Draw a picture: SVG, on standard output
    #[arg(long)]
    svg: bool,

    /// The title of the picture, which screen readers read first
    #[arg(long, value_name = "TEXT", requires = "svg", default_value = "A position")]
    title: String,

    /// What stands for a piece in text; a picture has both
    #[arg(long, value_enum, default_value_t = Pieces::Letters, conflicts_with = "svg")]
    pieces: Pieces,
}

/// Why a position cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub(super) enum DrawError {
    #[error("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Position { faults: Vec<SetupFault> },
    #[error("--mark `{square}`: expected a square of the board")]
    NoSuchSquare { square: Square },
    #[error(
        "--from `{square}`: expected the square of a face-up piece of the seat that is to move"
    )]
    NoPiece { square: Square },
    #[error("writing failed: {0}")]
    Write(#[from] io::Error),
}

impl Draw {
    pub(super) fn run(self) -> Result<(), DrawError> {
        let position = self
            .position
            .into_position(&self.rules)
            .map_err(|faults| DrawError::Position { faults })?;
        let diagram = Diagram::new(&self.rules, position, self.from, self.mark)?;
        let mut out = io::stdout().lock();
        if self.svg {
            write!(out, "{}", svg::draw(&diagram, &self.title))?;
        } else {
            let style = Style::of_output(self.pieces);
            write!(out, "{}", style.draw_marked(&diagram.position, &diagram.all_marked()))?;
            if let Some(told) = diagram.told_of_from() {
                writeln!(out, "{told}")?;
            }
        }
        Ok(())
    }
}
