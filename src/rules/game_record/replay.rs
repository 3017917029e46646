//! Replaying the record of a game.

use super::error::ReplayError;
use super::{Entry, Event, GameRecord};
use crate::rules::outcome::EndReason;
use crate::rules::record::Record;
use crate::rules::referee::{PlayError, Played, Referee};

impl GameRecord {
    /// Plays the whole game and gives the referee at its end. O(entries).
    ///
    /// # Errors
    /// The first entry that the rules, or the deal where there is one, contradict; or another
    /// result than the headers say.
    pub fn replay(&self) -> Result<Referee, ReplayError> {
        let mut referee = self.referee_at_start();
        for entry in &self.entries {
            self.replay_entry(&mut referee, entry)?;
        }
        self.replay_end(&mut referee)?;
        Ok(referee)
    }

    /// Plays one entry on a referee who has played those before it; for showing a game step by
    /// step. Gives what was played, or `None` where a seat left.
    ///
    /// # Errors
    /// Where the rules, or the deal where there is one, contradict the entry. The referee may have
    /// gone on, so it is of no more use.
    pub fn replay_entry(
        &self,
        referee: &mut Referee,
        entry: &Entry,
    ) -> Result<Option<Played>, ReplayError> {
        let Entry { turn, event } = *entry;
        let by_the_rules = referee.position().turn_number();
        let played = match event {
            Event::Acted(record) => Some(self.replay_record(referee, turn, record)?),
            Event::Left { seat, reason } => {
                super::scribe::leave(referee, seat, reason)
                    .map_err(|_| ReplayError::NotIn { turn, event })?;
                None
            }
        };
        if turn != by_the_rules {
            return Err(ReplayError::Turn { turn, event, played: by_the_rules });
        }
        Ok(played)
    }

    fn replay_record(
        &self,
        referee: &mut Referee,
        turn: u32,
        record: Record,
    ) -> Result<Played, ReplayError> {
        let said = record.turned_up().map(|(_, piece)| piece);
        let played = referee.play(record.action(), |_| said).map_err(|fault| match fault {
            PlayError::UnknownPiece { square } => ReplayError::Unsaid { turn, record, square },
            fault => ReplayError::Refused { turn, record, fault },
        })?;
        if played.record != record {
            return Err(ReplayError::Record { turn, record, played: played.record });
        }
        if let (Some(deal), Some((square, piece))) = (self.deal(), record.turned_up())
            && deal.at(square) != Some(piece)
        {
            let (event, dealt) = (Event::Acted(record), deal.at(square));
            return Err(ReplayError::Deal { turn, event, square, dealt });
        }
        Ok(played)
    }

    /// Ends the game as the headers say, on a referee who has played all entries.
    ///
    /// # Errors
    /// Where the rules, after these entries, come to another result.
    pub fn replay_end(&self, referee: &mut Referee) -> Result<(), ReplayError> {
        let written = self.outcome();
        if let Some(outcome) = written {
            match outcome.reason {
                EndReason::Agreement | EndReason::Aborted => referee.end(outcome.reason),
                // Places that cannot be are another result than what stands.
                EndReason::Adjudicated => referee.adjudicate(&outcome.places).unwrap_or(()),
                _ => {}
            }
        }
        if referee.outcome() == written {
            return Ok(());
        }
        Err(ReplayError::Outcome { written: written.cloned(), played: referee.outcome().cloned() })
    }
}
