//! Legal actions and records.

use crate::api::convert::position;
use crate::api::proto::v1;
use crate::rules::{Action, Cell, Played, Position, Record, Referee, Square};
use crate::store::codec::wire::{put_message, put_number, put_text};

/// A legal action, with what everyone can see of what it would do in `position`.
fn legal(action: Action, position: &Position) -> v1::LegalAction {
    let (from, to) = squares(action);
    v1::LegalAction {
        text: action.to_string(),
        kind: action_kind(action, position).into(),
        from: position::square(from),
        to: position::square(to),
    }
}

/// What kind of action it is in `position`, as everyone can see.
fn action_kind(action: Action, position: &Position) -> v1::ActionKind {
    match action {
        Action::Flip(_) => v1::ActionKind::Flip,
        Action::Move { to, .. } => match position.cell(to) {
            Cell::Empty => v1::ActionKind::Move,
            Cell::FaceUp(_) => v1::ActionKind::Capture,
            Cell::FaceDown => v1::ActionKind::Aim,
        },
        Action::EndChain => v1::ActionKind::EndChain,
    }
}

/// The keys of fields of `banqi.v1.LegalAction` (number and wire type).
const TEXT: u8 = 1 << 3 | 2;
const KIND: u8 = 2 << 3;
const FROM: u8 = 3 << 3;
const TO: u8 = 4 << 3;

/// Appends what [`legal_actions`] makes.
pub(super) fn encode_legal_actions(field: u32, referee: &Referee, into: &mut Vec<u8>) {
    let position = referee.position();
    for &action in referee.legal_actions().iter() {
        let text = action.text();
        let (from, to) = squares(action);
        put_message(field, into, |into| {
            // All numbers and lengths are below 128, so that each takes a byte.
            into.extend_from_slice(&[TEXT, text.len() as u8]);
            into.extend_from_slice(text.as_bytes());
            into.extend_from_slice(&[KIND, action_kind(action, position) as u8]);
            for (key, square) in [(FROM, from), (TO, to)] {
                if square.is_some() {
                    into.extend_from_slice(&[key, position::square(square) as u8]);
                }
            }
        });
    }
}

/// All legal actions of the seat to move.
pub fn legal_actions(referee: &Referee) -> Vec<v1::LegalAction> {
    let position = referee.position();
    referee.legal_actions().iter().map(|&action| legal(action, position)).collect()
}

/// What an action did.
pub fn record(played: &Played) -> v1::ActionRecord {
    let (from, to) = squares(played.record.action());
    v1::ActionRecord {
        text: played.record.to_string(),
        kind: kind(&played.record).into(),
        seat: played.seat.number().into(),
        turn_number: played.turn_number,
        from: position::square(from),
        to: position::square(to),
        piece: played.piece.map(Into::into),
        turned_up: played.record.turned_up().map(|(_, piece)| piece.into()),
        captured: played.taken.map(Into::into),
    }
}

/// Appends what [`record`] makes.
pub(super) fn encode_record(field: u32, played: &Played, into: &mut Vec<u8>) {
    let (from, to) = squares(played.record.action());
    put_message(field, into, |into| {
        put_text(1, played.record, into);
        put_number(2, kind(&played.record) as u32, into);
        put_number(3, played.seat.number(), into);
        put_number(4, played.turn_number, into);
        put_number(5, position::square(from) as u32, into);
        put_number(6, position::square(to) as u32, into);
        let turned_up = played.record.turned_up().map(|(_, piece)| piece);
        for (field, piece) in [(7, played.piece), (8, turned_up), (9, played.taken)] {
            if let Some(piece) = piece {
                position::encode_piece(field, piece, into);
            }
        }
    });
}

/// The square acted on and the one gone to or aimed at.
const fn squares(action: Action) -> (Option<Square>, Option<Square>) {
    match action {
        Action::Flip(square) => (Some(square), None),
        Action::Move { from, to } => (Some(from), Some(to)),
        Action::EndChain => (None, None),
    }
}

const fn kind(record: &Record) -> v1::RecordKind {
    match record {
        Record::Flip { .. } => v1::RecordKind::Flip,
        Record::Move { .. } => v1::RecordKind::Move,
        Record::Capture { .. } => v1::RecordKind::Capture,
        Record::Probe { .. } => v1::RecordKind::Probe,
        Record::Trade { .. } => v1::RecordKind::Trade,
        Record::BothRemoved { .. } => v1::RecordKind::BothRemoved,
        Record::EndChain => v1::RecordKind::EndChain,
    }
}
