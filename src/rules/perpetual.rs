//! Who attacked throughout a repetition (`RULES.md` §4, `ATTACKER_LOSES`).

use super::position::Position;
use super::reach::Captures;
use super::repetition::QuietTurn;
use super::seat::Seat;
use super::square::Square;

/// The seat that attacked throughout these turns, the last of which led to `position`, if it is
/// exactly one.
pub(super) fn sole_attacker(
    captures: &Captures,
    position: &Position,
    turns: &[QuietTurn],
) -> Option<Seat> {
    let mut attackers = Seat::first(position.seats)
        .filter(|&seat| attacked_throughout(captures, position, turns, seat));
    match (attackers.next(), attackers.next()) {
        (Some(seat), None) => Some(seat),
        _ => None,
    }
}

/// An enemy piece that `seat` may have attacked throughout.
#[derive(Clone, Copy)]
struct Prey {
    square: Square,
    owner: Seat,
    turns: u32,
}

fn attacked_throughout(
    captures: &Captures,
    position: &Position,
    turns: &[QuietTurn],
    seat: Seat,
) -> bool {
    let mut then = position.clone();
    for turn in turns.iter().rev() {
        then.board.slide(turn.to, turn.from);
    }
    // Whatever this piece does not attack after the seat's first turn was not attacked throughout.
    let mut attacker: Option<Square> = None;
    let mut prey: Vec<Prey> = Vec::new();
    // Turns of other seats before the seat's first one: their pieces must have moved there too.
    let mut before: Vec<QuietTurn> = Vec::new();
    for &turn in turns {
        then.board.slide(turn.from, turn.to);
        if turn.seat != seat {
            match attacker {
                None => before.push(turn),
                Some(_) => follow(&mut prey, turn),
            }
            continue;
        }
        let attacked = captured_by(captures, &then, seat, turn.to);
        match attacker.replace(turn.to) {
            None => {
                prey = attacked.filter_map(|square| runner(&then, square, &before)).collect();
            }
            Some(square) if square == turn.from => {
                let attacked: Vec<Square> = attacked.collect();
                prey.retain(|prey| attacked.contains(&prey.square));
            }
            Some(_) => return false,
        }
        if prey.is_empty() {
            return false;
        }
    }
    prey.iter().any(|prey| prey.turns > 0)
}

/// The squares of the face-up enemies that the seat's piece on `from` could take.
fn captured_by(
    captures: &Captures,
    position: &Position,
    seat: Seat,
    from: Square,
) -> impl Iterator<Item = Square> {
    let enemies = position.enemies(seat);
    position
        .board
        .kind_at(from)
        .into_iter()
        .flat_map(move |kind| captures.takes(&position.board, from, kind, enemies))
}

/// The piece on `square` with its seat, unless that seat moved another piece in `before`.
fn runner(position: &Position, square: Square, before: &[QuietTurn]) -> Option<Prey> {
    let colour = position.piece_at(square)?.colour;
    let owner =
        Seat::first(position.seats).find(|&seat| position.colours(seat).contains(colour))?;
    let mut at = square;
    let mut turns = 0;
    for turn in before.iter().rev().filter(|turn| turn.seat == owner) {
        if turn.to != at {
            return None;
        }
        at = turn.from;
        turns += 1;
    }
    Some(Prey { square, owner, turns })
}

/// Another seat moved: its pieces among the prey go on only if it was they that moved.
fn follow(prey: &mut Vec<Prey>, turn: QuietTurn) {
    prey.retain_mut(|prey| {
        if prey.owner != turn.seat {
            return true;
        }
        let ran = prey.square == turn.from;
        prey.square = turn.to;
        prey.turns += 1;
        ran
    });
}
