//! Writes that the store loses, and what a history must be like when it did.
//!
//! A loss parts a history in two. What was answered before it must be explained by the log that
//! stood then; what was asked after it, and what of the log was kept, by the log at the end. A call
//! that was under way during the loss belongs to whichever log has what it was answered with; where
//! its answer does not say, either may have had it, and it is taken as one whose outcome is unknown.

use std::collections::HashSet;
use std::sync::Arc;

use banqi::api::convert::game::{View, game as shown};
use banqi::api::proto::v1;
use banqi::api::proto::v1::log_entry::Event;
use banqi::game::{Game, GameId, GameState, Revision};
use banqi::store::codec;

use crate::backend::Backend;
use crate::call::Call;
use crate::checker::{Fault, check};
use crate::coverage::Coverage;
use crate::history::{History, Operation, Outcome};
use crate::table::Table;

/// What stood before a loss.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    moment: u64,
    /// How many entries of the log were kept.
    kept: usize,
    pub(crate) log: Vec<v1::LogEntry>,
    proof: v1::GetFairnessProofResponse,
}

/// Whether an entry can be lost here: what brings tokens, entropy or another game goes on to be
/// known beside the game's own history, which the model does not follow.
fn can_be_lost(entry: &v1::LogEntry) -> bool {
    let stays = |event: &Event| {
        matches!(
            event,
            Event::Created(_)
                | Event::Joined(_)
                | Event::EntropyAdded(_)
                | Event::SeatTokenReissued(_)
                | Event::RematchMade(_)
        )
    };
    entry.event.as_ref().is_some_and(|event| !stays(event))
}

impl Loss {
    /// Loses the last writes of a game, if it has as many that can be lost.
    pub(crate) fn happen(backend: &Arc<Backend>, table: &Table, lost: usize) -> Option<Self> {
        let id: GameId = {
            let known = table.known();
            // The model takes what a game was asked to be from an answer.
            known.game.as_ref()?.game_id.parse().ok()?
        };
        let (game, kept) = {
            let ledger = backend.ledger();
            let entries = ledger.of(&id);
            let kept = entries.len().checked_sub(lost).filter(|kept| *kept > 0)?;
            let stored = codec::read(&id, entries.last()?.record()?).ok()?;
            (Game::replay(stored).ok()?, kept)
        };
        let before = shown(&game, View::Full, None);
        let (first, last) = before.log.split_at_checked(kept)?;
        let then = game.as_at(Revision(first.len() as u64))?;
        if then.state() == GameState::Waiting || last.len() != lost || !last.iter().all(can_be_lost)
        {
            return None;
        }
        if !before.rematch_game_id.is_empty() {
            return None;
        }
        let entropy = |seat| game.entropy(seat).map(|it| it.as_bytes().to_vec());
        let proof = v1::GetFairnessProofResponse {
            entropies: game.seats().map(|seat| entropy(seat).unwrap_or_default()).collect(),
            deal: game.disclose().1.to_string(),
            ..Default::default()
        };
        backend.lose(&id, game.version(), kept);
        Some(Self { moment: table.moment(), kept, log: before.log, proof })
    }

    /// Whether a state was lost. It may have come to be once more: whoever repeats a call within the
    /// same millisecond makes the same entry.
    pub(crate) fn has_taken(&self, etag: &str) -> bool {
        self.log[self.kept..].iter().any(|entry| entry.etag == etag)
    }

    /// What happened until the loss.
    fn before(&self, history: &History) -> History {
        let later = etags(&history.log);
        let is_lost = |etag| self.has_taken(etag) && !later.contains(etag);
        let started = history.operations.iter().filter(|it| it.invoked < self.moment);
        let operations = started.map(|it| {
            let is_certain = it.returned < self.moment || etag_of(it).is_some_and(is_lost);
            if is_certain { it.clone() } else { unknown(it) }
        });
        History {
            operations: operations.collect(),
            log: self.log.clone(),
            proof: self.proof.clone(),
            rematch: None,
        }
    }

    /// What happened after the loss, and what of the time before was kept.
    fn after(&self, history: &History) -> History {
        let later = etags(&history.log);
        let stands = |etag| later.contains(etag) && !self.has_taken(etag);
        let operations = history.operations.iter().filter_map(|it| {
            let began_after = it.invoked > self.moment;
            if began_after || etag_of(it).is_some_and(stands) || is_never_lost(it) {
                Some(it.clone())
            } else if it.returned > self.moment || it.outcome.is_unknown() {
                Some(unknown(it))
            } else {
                None
            }
        });
        History { operations: operations.collect(), ..history.clone() }
    }
}

fn etags(log: &[v1::LogEntry]) -> HashSet<&str> {
    log.iter().map(|entry| entry.etag.as_str()).collect()
}

/// The etag of the game that a call was answered with.
fn etag_of(operation: &Operation) -> Option<&str> {
    Some(&operation.outcome.answer()?.game.as_ref()?.etag)
}

/// Whether a call was answered that shows no game, and had an effect that cannot be lost here.
fn is_never_lost(operation: &Operation) -> bool {
    operation.outcome.answer().is_some()
        && matches!(operation.call, Call::Reissue(_) | Call::Rematch(_))
}

fn unknown(operation: &Operation) -> Operation {
    let outcome = Outcome::Unknown("under way during a loss".to_owned());
    Operation { outcome, ..operation.clone() }
}

/// Checks the history of a game whose store lost some of it, or did not.
pub(crate) fn check_with(history: &History, loss: Option<&Loss>) -> Result<Coverage, Fault> {
    let Some(loss) = loss else { return check(history) };
    let mut seen = check(&loss.before(history))?;
    seen.merge(check(&loss.after(history))?);
    Ok(seen)
}
