//! Reading game records.

use std::str::FromStr;

use super::error::GameRecordError;
use super::frame::{Word, take_apart};
use super::heading::{Form, Heading};
use super::{Entry, Event, GameRecord, LeaveReason};
use crate::rules::outcome::EndReason;
use crate::rules::seat::Seat;

impl FromStr for GameRecord {
    type Err = GameRecordError;

    /// Reads a game record. Its form is checked here, its game by [`GameRecord::replay`].
    fn from_str(text: &str) -> Result<Self, GameRecordError> {
        let (headers, words) = take_apart(text)?;
        let heading = Heading::read(headers, Form::GameRecord)?;
        let first_turn = heading.start_position().turn_number();
        let entries = read_entries(&words, first_turn, heading.rules.seats())?;
        Ok(Self { heading, entries })
    }
}

fn read_entries(
    words: &[Word<'_>],
    first_turn: u32,
    seats: u8,
) -> Result<Vec<Entry>, GameRecordError> {
    let mut entries: Vec<Entry> = Vec::with_capacity(words.len() / 2);
    // The turn whose number was read last, and whether anything happened in it.
    let mut going: Option<(u32, bool)> = None;
    for word in words {
        if word.text.ends_with('.') {
            let turn = match going {
                None => first_turn,
                Some((turn, true)) => turn.saturating_add(1),
                Some((turn, false)) => {
                    let expected = format!("what happened in turn {turn}");
                    return Err(word.fault("word", expected));
                }
            };
            if word.digits_of_turn() != Some(&turn.to_string()) {
                return Err(word.fault("turn number", format!("`{turn}.`")));
            }
            going = Some((turn, false));
            continue;
        }
        let Some((turn, begun)) = &mut going else {
            return Err(word.fault("word", format!("the number of the turn, `{first_turn}.`")));
        };
        *begun = true;
        entries.push(Entry { turn: *turn, event: read_event(word, seats)? });
    }
    match (going, words.last()) {
        (Some((turn, false)), Some(last)) => {
            Err(last.fault("turn number", format!("what happened in turn {turn} after it")))
        }
        _ => Ok(entries),
    }
}

fn read_event(word: &Word<'_>, seats: u8) -> Result<Event, GameRecordError> {
    if word.text.contains('!') {
        let (seat, reason) = read_leave(word, seats)?;
        return Ok(Event::Left { seat, reason });
    }
    word.text.parse().map(Event::Acted).map_err(|_| {
        word.fault(
            "record",
            "a record of an action, like `b3(k)`, `b3-b4`, `b3xb4`, `b3?b4(k)`, `b3#b4(k)`, \
             `b3*b4` or `end`, or a seat that left, like `1!RESIGNATION`",
        )
    })
}

/// Reads a seat that left: `3!TIMEOUT`.
pub(super) fn read_leave(
    word: &Word<'_>,
    seats: u8,
) -> Result<(Seat, LeaveReason), GameRecordError> {
    let read = || {
        let (seat, name) = word.text.split_once('!')?;
        let seat = Seat::first(seats).find(|known| known.to_string() == seat)?;
        let reason =
            LeaveReason::ALL.into_iter().find(|reason| EndReason::from(*reason).name() == name)?;
        Some((seat, reason))
    };
    read().ok_or_else(|| {
        let names = LeaveReason::ALL.map(|reason| EndReason::from(reason).name()).join(", ");
        word.fault("leaving", format!("a seat from 1 to {seats}, `!`, and one of {names}"))
    })
}
