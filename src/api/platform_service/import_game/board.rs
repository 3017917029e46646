//! A board to start from, some of whose face-down pieces may be left open.

use crate::api::error::FieldFaults;
use crate::api::proto::v1;
use crate::api::start;
use crate::game::{Given, shuffle};
use crate::rules::{Piece, PieceCounts, Position, RuleSet};

/// What stands for a face-down piece that is not told.
const OPEN: &str = "?";

/// Reads a board. `hidden` are the pieces of the cells that are left open; if it has none, they are
/// drawn by the key from the pieces that the board does not have.
pub(super) fn read(
    mut board: v1::Board,
    rules: &RuleSet,
    hidden: &[Piece],
    key: &[u8; 32],
    faults: &mut FieldFaults,
) -> Option<Given> {
    let open = board.cells.split_ascii_whitespace().filter(|cell| *cell == OPEN).count();
    let drawn = if open > 0 && hidden.is_empty() { left(&board.cells, rules, key) } else { vec![] };
    let pieces = if hidden.is_empty() { &drawn[..] } else { hidden };
    if !hidden.is_empty() && hidden.len() != open {
        let given = hidden.len();
        faults.add("hidden", format!("has {given} pieces, but {open} cells of the board are `?`"));
        return None;
    }
    if pieces.len() < open {
        let fault = format!("has {open} cells `?`, but only {} pieces are left", pieces.len());
        faults.add("board.cells", fault);
        return None;
    }
    let mut pieces = pieces.iter();
    let cells = board.cells.split_ascii_whitespace().map(|cell| match cell {
        OPEN => pieces.next().map_or_else(|| OPEN.to_owned(), |piece| format!("{OPEN}{piece}")),
        cell => cell.to_owned(),
    });
    board.cells = cells.collect::<Vec<_>>().join(" ");
    let (position, hidden) = start::board(&board, rules, faults)?;
    let start = Some(position).filter(|position| *position != Position::start(rules));
    Some(Given { start, hidden, created: None })
}

/// The pieces that are not among these cells, in random order.
fn left(cells: &str, rules: &RuleSet, key: &[u8; 32]) -> Vec<Piece> {
    let mut left = PieceCounts::full(rules.board_size());
    for cell in cells.split_ascii_whitespace() {
        if let Ok(piece) = cell.trim_start_matches(OPEN).parse() {
            left.take(piece);
        }
    }
    let mut pieces: Vec<Piece> = left.pieces().collect();
    shuffle(key, &mut pieces);
    pieces
}
