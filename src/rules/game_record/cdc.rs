//! Whole games as tournament records (CDC, `RULES.md` §9).
//!
//! The headers are those of a game record, after `[Notation "CDC"]`, and everything in them is as
//! there: `Position` and `Deal` have this project's squares and letters. The actions have those of
//! tournament records. Reading goes without any header, and passes over the numbers, since programs
//! number turns or pairs of turns. A capture may be written as `-`; the rules say what it was.

use super::error::{GameRecordError, ReplayError};
use super::frame::{Word, take_apart};
use super::heading::{Form, Heading};
use super::read::read_leave;
use super::scribe::Scribe;
use super::write::{write_entries, write_header, write_headers};
use super::{Event, GameRecord};
use crate::rules::cdc::CdcRecord;
use crate::rules::outcome::EndReason;
use crate::rules::rule_set::RuleSet;
use crate::rules::rule_set_text::RuleSetError;

/// Why a game is none that a tournament record can hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CdcGameError {
    /// Its rule set is in the way.
    #[error("the game has no tournament record: {0}")]
    Rules(#[from] RuleSetError),
    /// The text is wrong, or an action in it is illegal.
    #[error(transparent)]
    Text(#[from] GameRecordError),
    /// The rules contradict the game.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl GameRecord {
    /// The game as a tournament record. It is replayed first, since the form can hold nothing that
    /// the rules do not allow.
    ///
    /// # Errors
    /// Where the rule set has no such form, or the rules contradict the game.
    pub fn to_cdc(&self) -> Result<String, CdcGameError> {
        CdcRecord::check_rules(self.rules())?;
        self.replay()?;
        let entries = self.entries.iter().map(|entry| {
            let text = match entry.event {
                Event::Acted(record) => CdcRecord::of(record)
                    .expect("these rules have no other records, and the game was replayed")
                    .to_string(),
                left @ Event::Left { .. } => left.to_string(),
            };
            (entry.turn, text)
        });
        let mut text = String::new();
        let written = write_header(&mut text, "Notation", "CDC")
            .and_then(|()| write_headers(&mut text, &self.heading))
            .and_then(|()| {
                text.push('\n');
                write_entries(&mut text, entries)
            });
        written.expect("a string takes every text");
        Ok(text)
    }

    /// Reads a tournament record by playing it. `rules` is for a text that names no rule set.
    ///
    /// # Errors
    /// Where the rule set has no such form, the text is wrong, or the rules contradict it. A result
    /// that is not written is what the rules make of the game.
    pub fn from_cdc(text: &str, rules: &RuleSet) -> Result<Self, CdcGameError> {
        let (headers, words) = take_apart(text)?;
        let heading = Heading::read(headers, Form::Cdc(rules))?;
        CdcRecord::check_rules(&heading.rules)?;
        let mut scribe = Scribe::new(&heading.rules, heading.start.clone());
        for word in words.iter().filter(|word| word.digits_of_turn().is_none()) {
            play(&mut scribe, word)?;
        }
        match heading.outcome.as_ref().map(|outcome| (outcome.reason, &outcome.places)) {
            Some((EndReason::Agreement, _)) => scribe.agree(),
            Some((EndReason::Aborted, _)) => scribe.abort(),
            // Places that cannot be are found when the record is replayed.
            Some((EndReason::Adjudicated, places)) => scribe.adjudicate(places).unwrap_or(()),
            _ => {}
        }
        let played = scribe.into_record();
        let outcome = heading.outcome.or_else(|| played.heading.outcome.clone());
        let record = Self { heading: Heading { outcome, ..heading }, entries: played.entries };
        record.replay()?;
        Ok(record)
    }

    /// Reads a game in either form: a game record where it names a rule set and no notation, a
    /// tournament record otherwise. `rules` is for a tournament record that names no rule set.
    ///
    /// # Errors
    /// Where it is neither; a tournament record also where the rules contradict it.
    pub fn read(text: &str, rules: &RuleSet) -> Result<Self, CdcGameError> {
        let (headers, _) = take_apart(text)?;
        let names = |name: &str| headers.iter().any(|header| header.name == name);
        if names("RuleSet") && !names("Notation") {
            Ok(text.parse::<Self>()?)
        } else {
            Self::from_cdc(text, rules)
        }
    }
}

fn play(scribe: &mut Scribe, word: &Word<'_>) -> Result<(), GameRecordError> {
    if word.text.contains('!') {
        let seats = scribe.referee().rules().seats();
        let (seat, reason) = read_leave(word, seats)?;
        scribe
            .leave(seat, reason)
            .map_err(|fault| word.fault("leaving", format!("a seat in the game: {fault}")))?;
        return Ok(());
    }
    let record: CdcRecord = word
        .text
        .parse()
        .map_err(|fault| word.fault("record", format!("another word: {fault}")))?;
    let played = scribe
        .play(record.action(), |_| record.turned_up())
        .map_err(|fault| word.fault("record", format!("a legal action: {fault}")))?;
    match CdcRecord::of(played.record) {
        Some(done) if !record.says(played.record) => {
            Err(word.fault("record", format!("what was done, `{done}`")))
        }
        _ => Ok(()),
    }
}
