//! What somebody without a seat may see of a game.

use super::event::Event;
use super::revision::Revision;
use super::state::{Game, GameState};
use super::stored::{Spectators, StoredGame};

impl Game {
    /// The newest revision that somebody without a seat may see; `None` where it is hidden. When
    /// the game has ended, all of it. Where spectators are so many turns late, the state in which so
    /// many turns fewer had been completed (taken back or not), which a replay of the log finds.
    pub fn spectator_revision(&self) -> Option<Revision> {
        let newest = self.version().revision;
        match self.stored().facts.spectators {
            _ if self.state() == GameState::Finished => Some(newest),
            Spectators::Open => Some(newest),
            Spectators::Hidden => None,
            Spectators::Delayed { turns } => Some(self.revision_turns_ago(turns.get().into())),
        }
    }

    fn revision_turns_ago(&self, turns: usize) -> Revision {
        let mut game = Self::begin(StoredGame { outcome: None, ..self.stored.clone() });
        let mut before_play = None;
        let mut completed = Vec::new();
        for entry in self.stored.log.entries().skip(1) {
            let turn = game.position().turn_number();
            let Revision(revision) = entry.version.revision;
            if !is_before_play(&entry.event) {
                before_play.get_or_insert(Revision(revision - 1));
            }
            if game.step(&entry).is_err() {
                break;
            }
            if game.position().turn_number() > turn {
                completed.push(entry.version.revision);
            }
        }
        match completed.len().checked_sub(turns) {
            Some(shown @ 1..) => completed[shown - 1],
            _ => before_play.unwrap_or(self.version().revision),
        }
    }
}

/// Whether it is no part of play and hides nothing that came before play.
const fn is_before_play(event: &Event) -> bool {
    matches!(event, Event::Joined { .. } | Event::EntropyAdded { .. } | Event::TokenReissued(_))
}
