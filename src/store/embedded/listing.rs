//! The list of all games.

use redb::WriteTransaction;

use super::database::{Games, commit, failed, parse_game};
use super::tables::LISTING;
use crate::game::Millis;
use crate::store::commit::Listed;
use crate::store::{IndexEntry, StoreError};

impl Games {
    /// All games, newest first.
    pub(super) fn listing_page(
        &self,
        before: Option<&IndexEntry>,
        limit: usize,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        let table = self.read()?.open_table(LISTING).map_err(failed)?;
        let end = match before {
            Some(entry) => (entry.created.0, entry.game.as_str()),
            // No id is as great as this text.
            None => (u64::MAX, "~"),
        };
        let games = table.range((0, "")..end).map_err(failed)?;
        games
            .rev()
            .take(limit)
            .map(|row| {
                let (key, _) = row.map_err(failed)?;
                let (created, game) = key.value();
                Ok(IndexEntry { created: Millis(created), game: parse_game(game)? })
            })
            .collect()
    }

    /// Removes a game from the list of all games.
    pub(super) fn listing_remove(&self, entry: &IndexEntry) -> Result<(), StoreError> {
        let transaction = self.write()?;
        list(&transaction, &[Listed::Removed(entry.clone())])?;
        commit(transaction)
    }
}

/// Changes the list of all games.
pub(super) fn list(transaction: &WriteTransaction, changes: &[Listed]) -> Result<(), StoreError> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut listing = transaction.open_table(LISTING).map_err(failed)?;
    for change in changes {
        match change {
            Listed::Added(entry) => {
                listing.insert((entry.created.0, entry.game.as_str()), ()).map_err(failed)?;
            }
            Listed::Removed(entry) => {
                listing.remove((entry.created.0, entry.game.as_str())).map_err(failed)?;
            }
        }
    }
    Ok(())
}
