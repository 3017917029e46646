//! One state of a game, with the bytes that tell it.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::api::convert::encoded::{EncodedGame, UnchangingFields};
use crate::game::Game;

/// One state of a hosted game, and the message that tells of it, encoded when it is first told.
///
/// The message is made of this state and nothing else, so whoever may see the state may have the
/// message. Who sees less of the game, such as a late spectator, is shown an earlier state, which
/// has a message of its own: what is kept here needs no key that says for whom.
#[derive(Debug)]
pub(crate) struct HostedGame {
    game: Game,
    encoded: OnceLock<EncodedGame>,
    /// What is the same in all states of the game, shared by those that this replica knows.
    unchanging: Arc<OnceLock<UnchangingFields>>,
}

impl HostedGame {
    /// A state that has not been told yet.
    pub(crate) fn new(game: Game) -> Arc<Self> {
        Arc::new(Self { game, encoded: OnceLock::new(), unchanging: Arc::default() })
    }

    /// The same, sharing what never changes with another state, if that is one of the same game.
    pub(super) fn after(game: Game, known: Option<&Self>) -> Arc<Self> {
        let same = known.filter(|known| Arc::ptr_eq(&known.stored().facts, &game.stored().facts));
        let unchanging = same.map(|known| Arc::clone(&known.unchanging)).unwrap_or_default();
        Arc::new(Self { game, encoded: OnceLock::new(), unchanging })
    }

    /// The message that tells of it.
    pub(crate) fn encoded(&self) -> &EncodedGame {
        self.encoded.get_or_init(|| {
            let unchanging = self.unchanging.get_or_init(|| UnchangingFields::of(&self.game));
            EncodedGame::of(&self.game, unchanging)
        })
    }
}

impl Deref for HostedGame {
    type Target = Game;

    fn deref(&self) -> &Game {
        &self.game
    }
}
