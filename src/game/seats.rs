//! How seats are claimed.

use super::player::PlayerId;

/// How a seat comes to its player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// Its player has it from the creation on.
    Assigned,
    /// Whoever joins first has it.
    Open,
    /// Its player has it once it joins; nobody else can.
    Reserved,
    /// Its player has it once it asks for the rematch that the game is; nobody else can.
    Rematch,
}

/// A seat as a game's creator asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewSeat {
    /// For this player, or for whoever is given its token.
    Assigned(Option<PlayerId>),
    /// For whoever joins first.
    Open,
    /// For this player, once it joins.
    Reserved(PlayerId),
}

/// A seat as it is stored. Ids stand here and not in the log, so that erasing a player breaks no
/// chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSeat {
    /// How it is claimed.
    pub claim: Claim,
    /// Who sits there or may; `None` for an open seat that nobody took, and where no id was given.
    pub player: Option<PlayerId>,
}

impl From<NewSeat> for StoredSeat {
    fn from(seat: NewSeat) -> Self {
        let (claim, player) = match seat {
            NewSeat::Assigned(player) => (Claim::Assigned, player),
            NewSeat::Open => (Claim::Open, None),
            NewSeat::Reserved(player) => (Claim::Reserved, Some(player)),
        };
        Self { claim, player }
    }
}
