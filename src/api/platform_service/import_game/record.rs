//! A record to go on from.

use super::Origin;
use crate::api::convert;
use crate::api::error::FieldFaults;
use crate::api::game_service::{labels, seats};
use crate::api::proto::v1;
use crate::game::{Given, Happening, NewSeat, complete_deal, lay};
use crate::rules::{Deal, Event, GameRecord, Piece, Position, Referee, RuleSet, Seat, Square};

/// How many entries a record may have.
const MAX_ENTRIES: usize = 20_000;

/// At which turn a game may start at the latest, so that its turns can be told apart for ever.
const LATEST_TURN: u32 = 1_000_000_000;

/// Reads a record, and checks it against the rules and against the rest of the request.
pub(super) fn read(
    text: &str,
    request: v1::ImportGameRequest,
    key: &[u8; 32],
    faults: &mut FieldFaults,
) -> Option<Origin> {
    let asked = if request.preset.is_empty() && request.rules.is_none() {
        None
    } else {
        Some(convert::rules::read(&request.preset, request.rules, faults)?)
    };
    let hidden = super::hidden(&request.hidden, faults);
    let rules = asked.as_ref().unwrap_or(&RuleSet::TAIWANESE);
    if text.trim().is_empty() {
        // As a tournament record, it would be the start of a game.
        faults.add("record", "is empty: give a game record or a tournament record");
        return None;
    }
    let record = faults.check("record", GameRecord::read(text, rules))?;
    let entries = record.entries().len();
    if entries > MAX_ENTRIES {
        faults.add("record", format!("has {entries} entries, but may have {MAX_ENTRIES}"));
        return None;
    }
    let turn = record.start().map_or(1, Position::turn_number);
    if turn > LATEST_TURN {
        faults.add(
            "record",
            format!("starts at turn {turn}, but may start at {LATEST_TURN} at the latest"),
        );
        return None;
    }
    let played = faults.check("record", record.replay())?;
    if let Some(asked) = asked.filter(|asked| asked != record.rules()) {
        let fault = format!("says `{asked}`, but the record `{}`: leave it out", record.rules());
        faults.add("preset", fault);
    }
    let seats = seats_of(&record, request.seats, faults);
    let mut all = request.labels;
    for (name, value) in record.other_headers() {
        if all.get(name).is_some_and(|label| label != value) {
            let fault = format!("is another one than the record's header, {value:?}: leave it out");
            faults.add(format!("labels[{name}]"), fault);
        }
        all.insert(name.to_owned(), value.to_owned());
    }
    Some(Origin {
        given: Given {
            start: record.start().cloned(),
            hidden: deal(&record, &played, &hidden?, key, faults)?,
            created: record.created().and_then(|time| time.parse().ok()),
        },
        before: Happening::all_of(&record),
        labels: labels(all, faults),
        seats,
        rules: record.rules().clone(),
    })
}

/// What lies face down at the record's start: its own deal, or what it turned up with the rest as
/// given, or else drawn.
fn deal(
    record: &GameRecord,
    played: &Referee,
    hidden: &[Piece],
    key: &[u8; 32],
    faults: &mut FieldFaults,
) -> Option<Deal> {
    if let Some(deal) = record.deal() {
        if !hidden.is_empty() {
            faults.add("hidden", "is given, but the record has a `Deal`");
        }
        return Some(deal.clone());
    }
    let start = record.start().cloned().unwrap_or_else(|| Position::start(record.rules()));
    let known: Vec<(Square, Piece)> = record
        .entries()
        .iter()
        .filter_map(|entry| match entry.event {
            Event::Acted(record) => record.turned_up(),
            Event::Left { .. } => None,
        })
        .collect();
    if hidden.is_empty() {
        return faults.check("record", complete_deal(&start, &known, key));
    }
    let left = played.position().face_down_squares().into_iter().count();
    if hidden.len() != left {
        let given = hidden.len();
        faults.add("hidden", format!("has {given} pieces, but {left} are face down at the end"));
        return None;
    }
    faults.check("hidden", lay(&start, &known, hidden.iter().copied()))
}

/// The seats asked for, checked against the players that the record names; without any, those players'.
fn seats_of(
    record: &GameRecord,
    asked: Vec<v1::NewSeat>,
    faults: &mut FieldFaults,
) -> Vec<NewSeat> {
    let all = Seat::first(record.rules().seats());
    if asked.is_empty() {
        return all
            .map(|seat| match record.seat(seat).filter(|name| !name.is_empty()) {
                None => NewSeat::Open,
                Some(name) => {
                    let read = name.parse().map_err(|fault| format!("`Seat{seat}`: {fault}"));
                    NewSeat::Assigned(faults.check("record", read))
                }
            })
            .collect();
    }
    for (seat, asked) in all.zip(&asked) {
        let named =
            record.seat(seat).filter(|name| !name.is_empty() && !asked.player_id.is_empty());
        if let Some(name) = named.filter(|name| *name != asked.player_id) {
            let fault = format!("is `{}`, but the record has `{name}` there", asked.player_id);
            faults.add(format!("seats[{}].player_id", seat.index()), fault);
        }
    }
    seats(asked, Some(record.rules()), faults)
}
