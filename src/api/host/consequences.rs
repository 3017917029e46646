//! What follows from the write of a game beside its record: what is told of its life, and where it is listed.

use std::collections::BTreeSet;

use crate::game::{Event, Game, Milestone, PlayerId, Revision, Version};
use crate::store::codec::{IndexChange, IndexTask, Lifecycle};
use crate::store::{Commit, IndexEntry};

/// A commit with what is told of the game's life, and what the event changes in the index of
/// players' games.
pub(super) fn with_consequences(
    mut commit: Commit,
    next: &Game,
    event: &Event,
    expected: Option<Version>,
) -> Commit {
    for (milestone, revision) in milestones(next, expected) {
        let entry = Lifecycle { milestone, game: next.id().clone(), revision };
        commit = commit.with_feed_entry(entry.to_bytes());
    }
    if *event == Event::Created {
        commit = commit.with_listed(entry_of(next));
    }
    with_tasks(commit, index_tasks(next, event))
}

/// A commit with what is to be done in the index of players' games.
pub(super) fn with_tasks(commit: Commit, tasks: Vec<IndexTask>) -> Commit {
    tasks.iter().fold(commit, |commit, task| commit.with_outbox_entry(task.to_bytes()))
}

/// What a game has come to since it stood as expected, or at all.
pub(super) fn milestones(
    game: &Game,
    expected: Option<Version>,
) -> impl Iterator<Item = (Milestone, Revision)> {
    game.milestones_after(expected.map_or(Revision(0), |version| version.revision))
}

/// The entry of a game in lists of games.
pub(super) fn entry_of(game: &Game) -> IndexEntry {
    IndexEntry { created: game.created_at(), game: game.id().clone() }
}

/// The players who have seats in a game, or for whom seats are reserved, each once.
pub(super) fn players(game: &Game) -> BTreeSet<PlayerId> {
    game.seats().filter_map(|seat| game.player(seat)).cloned().collect()
}

/// What an event changes in the index of players' games.
fn index_tasks(game: &Game, event: &Event) -> Vec<IndexTask> {
    let add = |player: &PlayerId| IndexTask {
        change: IndexChange::Add,
        player: player.clone(),
        entry: entry_of(game),
    };
    match event {
        Event::Created => players(game).iter().map(add).collect(),
        Event::Joined { seat, .. } => game.player(*seat).map(add).into_iter().collect(),
        _ => Vec::new(),
    }
}
