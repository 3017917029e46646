//! What a request starts from: the text of a position, or a board.

use crate::api::error::FieldFaults;
use crate::api::proto::v1;
use crate::rules::{ColourSet, Deal, Layout, Position, RuleSet, Seat, Setup};

/// Reads the text of a position. Without rules, only its form is checked.
pub(super) fn position(
    text: &str,
    rules: Option<&RuleSet>,
    faults: &mut FieldFaults,
) -> Option<Position> {
    let setup = faults.check("position", text.parse::<Setup>())?;
    match setup.into_position(rules?) {
        Ok(position) => Some(position),
        Err(found) => {
            found.into_iter().for_each(|fault| faults.add("position", fault));
            None
        }
    }
}

/// Reads a board: the position that everyone sees, and what lies face down.
pub(super) fn board(
    message: &v1::Board,
    rules: &RuleSet,
    faults: &mut FieldFaults,
) -> Option<(Position, Deal)> {
    let layout = faults.check("board.cells", Layout::parse(rules.board_size(), &message.cells));
    let to_move = u8::try_from(message.to_move).ok().and_then(Seat::new);
    if to_move.is_none() {
        let seats = rules.seats();
        faults.add(
            "board.to_move",
            format!("is {}, but must be a seat from 1 to {seats}", message.to_move),
        );
    }
    let colours = colours(&message.colours, rules, faults);
    let quiet_turns = u16::try_from(message.quiet_turns).ok();
    if quiet_turns.is_none() {
        faults.add(
            "board.quiet_turns",
            format!("is {}, but must be at most {}", message.quiet_turns, u16::MAX),
        );
    }
    let layout = layout?;
    match layout.setup(to_move?, &colours?, quiet_turns?).into_position(rules) {
        Ok(position) => Some((position, layout.deal().clone())),
        Err(found) => {
            for fault in found {
                let field = match fault.part {
                    "ranks" | "face_down" => "board.cells",
                    "to_move" => "board.to_move",
                    "colours" => "board.colours",
                    "quiet_turns" => "board.quiet_turns",
                    _ => "board",
                };
                faults.add(field, fault);
            }
            None
        }
    }
}

fn colours(texts: &[String], rules: &RuleSet, faults: &mut FieldFaults) -> Option<Vec<ColourSet>> {
    if texts.is_empty() {
        return Some(vec![ColourSet::EMPTY; rules.seats().into()]);
    }
    let mut read = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        read.push(match text.as_str() {
            "" => Some(ColourSet::EMPTY),
            text => faults.check(&format!("board.colours[{index}]"), text.parse()),
        });
    }
    read.into_iter().collect()
}
