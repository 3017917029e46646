//! Writing game records.

use std::fmt::{self, Write};

use super::GameRecord;
use super::frame::escaped;
use super::heading::{Heading, places_text, seat_headers};

/// The longest line of records, in characters.
const WIDTH: usize = 80;

impl fmt::Display for GameRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_headers(f, &self.heading)?;
        f.write_char('\n')?;
        write_entries(f, self.entries.iter().map(|entry| (entry.turn, entry.event.to_string())))
    }
}

/// Writes one header line.
pub(super) fn write_header(out: &mut impl Write, name: &str, value: &str) -> fmt::Result {
    writeln!(out, "[{name} \"{}\"]", escaped(value))
}

/// Writes the headers, in the order that [the module](super) gives.
pub(super) fn write_headers(out: &mut impl Write, heading: &Heading) -> fmt::Result {
    write_header(out, "RuleSet", &heading.rules.to_string())?;
    if let Some(position) = &heading.start {
        write_header(out, "Position", &position.to_string())?;
    }
    for (name, value) in seat_headers(&heading.seats) {
        write_header(out, &name, value)?;
    }
    if let Some(outcome) = &heading.outcome {
        write_header(out, "Result", &places_text(outcome))?;
        write_header(out, "Reason", outcome.reason.name())?;
    }
    if let Some(created) = &heading.created {
        write_header(out, "Created", created.as_str())?;
    }
    if let Some(deal) = &heading.deal {
        write_header(out, "Deal", &deal.to_string())?;
    }
    heading.others.iter().try_for_each(|(name, value)| write_header(out, name, value))
}

/// Writes entries, each with its turn, and wraps the lines. A turn's number and its first entry
/// stay together.
pub(super) fn write_entries(
    out: &mut impl Write,
    entries: impl Iterator<Item = (u32, String)>,
) -> fmt::Result {
    let (mut last_turn, mut column) = (None, 0);
    for (turn, text) in entries {
        let text = if last_turn == Some(turn) { text } else { format!("{turn}. {text}") };
        last_turn = Some(turn);
        // All of it is ASCII.
        if column > 0 && column + 1 + text.len() > WIDTH {
            out.write_char('\n')?;
            column = 0;
        }
        if column > 0 {
            out.write_char(' ')?;
            column += 1;
        }
        out.write_str(&text)?;
        column += text.len();
    }
    if column > 0 { out.write_char('\n') } else { Ok(()) }
}
