//! The JSON document of a game. `docs/export.md` describes it, field by field.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::hexadecimal::Hexadecimal;

/// A game. Times are in UTC as RFC 3339 writes them, spans in milliseconds, seats numbers from 1, and
/// positions, pieces and records the texts of `RULES.md` §9.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameDocument {
    /// Which form of document this is: [`GameDocument::FORMAT`].
    pub format: String,
    /// The game's id.
    pub game_id: String,
    /// The engine that its log is replayed by.
    pub engine: u32,
    /// Where it is in its life.
    pub state: StateDocument,
    /// How many entries its log has.
    pub revision: u64,
    /// The state that it is in.
    pub etag: String,
    /// When it was created.
    pub created: String,
    /// When every seat was ready and play could begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Every field of `RULES.md` §3, by name.
    pub rules: BTreeMap<String, String>,
    /// How much time the seats have.
    pub time_control: TimeControlDocument,
    /// Who may read it without a seat.
    pub spectators: SpectatorsDocument,
    /// Whether it waits for every seat's entropy.
    pub entropy_required: bool,
    /// The creator's own labels.
    pub labels: BTreeMap<String, String>,
    /// The series that it goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesDocument>,
    /// Its rematch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rematch_game_id: Option<String>,
    /// The seats, in order.
    pub seats: Vec<SeatDocument>,
    /// Where it started.
    pub start: StartDocument,
    /// What counts, in order, as a game record has it: nothing that was taken back.
    pub actions: Vec<String>,
    /// The position that it came to.
    pub position: String,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultDocument>,
    /// All that happened, one entry a revision.
    pub log: Vec<LogDocument>,
    /// What proves the deal fair.
    pub proof: Proof,
}

impl GameDocument {
    /// The form of document that this release writes and reads.
    pub const FORMAT: &'static str = "banqi-game-1";
}

impl fmt::Display for GameDocument {
    /// The document on one line, with a line break behind it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        writeln!(f, "{text}")
    }
}

/// Where a game is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StateDocument {
    /// For players, or for their entropy.
    Waiting,
    /// It is being played.
    Active,
    /// It has ended.
    Finished,
}

/// How much time the seats have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "clock", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TimeControlDocument {
    /// No clock.
    Unlimited {
        /// How long a turn may take; unset for ever.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inactivity_ms: Option<u64>,
        /// For each seat's first turn instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_turn_ms: Option<u64>,
    },
    /// So much for the whole game.
    SuddenDeath {
        /// How much.
        main_ms: u64,
        /// For each seat's first turn instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_turn_ms: Option<u64>,
    },
    /// More after every turn.
    Increment {
        /// How much at the start.
        main_ms: u64,
        /// How much after each turn.
        increment_ms: u64,
        /// For each seat's first turn instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_turn_ms: Option<u64>,
    },
    /// So much for each turn.
    PerTurn {
        /// How much.
        limit_ms: u64,
        /// For each seat's first turn instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_turn_ms: Option<u64>,
    },
    /// So much for the whole game, then periods.
    ByoYomi {
        /// How much at the start.
        main_ms: u64,
        /// How many periods.
        periods: u8,
        /// How long each is.
        period_ms: u64,
        /// For each seat's first turn instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_turn_ms: Option<u64>,
    },
    /// So many days for each turn.
    Correspondence {
        /// How many.
        days: u16,
        /// For each seat's first turn instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_turn_ms: Option<u64>,
    },
}

/// Who may read a game without a seat in it, before it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SpectatorsDocument {
    /// Everyone, as it is played.
    Open,
    /// Everyone, so many turns late.
    Delayed {
        /// How many.
        turns: u16,
    },
    /// Nobody.
    None,
}

/// Where a rematch stands in its series, before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesDocument {
    /// The game before.
    pub previous_game_id: String,
    /// How many games came to an end before.
    pub games_before: u32,
    /// The seats, in order.
    pub seats: Vec<SeriesSeatDocument>,
}

/// A seat of a rematch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesSeatDocument {
    /// The seat that it was in the game before.
    pub previous_seat: u8,
    /// Games that it won alone before.
    pub wins_before: u32,
    /// Games in which it shared the first place before.
    pub draws_before: u32,
}

/// A seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatDocument {
    /// Its number.
    pub number: u8,
    /// Who sits there, or whom it is reserved for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player_id: Option<String>,
    /// How it comes to its player.
    pub claim: ClaimDocument,
    /// Whether its player is there.
    pub joined: bool,
    /// What it commands.
    pub colours: String,
    /// Whether it is out of a game of four seats.
    pub out: bool,
}

/// How a seat comes to its player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ClaimDocument {
    /// From the creation on.
    Assigned,
    /// Whoever joins first.
    Open,
    /// Once the player joins.
    Reserved,
    /// Once the player asks for the rematch.
    Rematch,
}

/// Where a game started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartDocument {
    /// The position.
    pub position: String,
    /// Whether position and deal were given, and not dealt by the service.
    pub given: bool,
    /// When the game was created, as the record says that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultDocument {
    /// The rule that ended it.
    pub reason: String,
    /// The place of each seat, in seat order; none for an aborted game.
    pub places: Vec<u8>,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogDocument {
    /// The revision that it made.
    pub revision: u64,
    /// The game's etag from then on.
    pub etag: String,
    /// When it happened.
    pub time: String,
    /// Whether it happened before the game was imported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    /// What happened.
    #[serde(flatten)]
    pub event: EventDocument,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventDocument {
    /// The game was created.
    Created,
    /// A seat was taken.
    Joined {
        /// Which.
        seat: u8,
        /// By whom.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        player_id: Option<String>,
        /// What the player added to the deal on the way.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entropy: Option<Hexadecimal>,
    },
    /// A seat's player added to the deal.
    EntropyAdded {
        /// Which seat.
        seat: u8,
        /// What.
        entropy: Hexadecimal,
    },
    /// The seat to move acted.
    Played {
        /// Which.
        seat: u8,
        /// The number of the turn.
        turn: u32,
        /// What it did.
        record: String,
    },
    /// A seat resigned.
    Resigned {
        /// Which.
        seat: u8,
    },
    /// A seat ran out of time.
    TimedOut {
        /// Which.
        seat: u8,
        /// `TIMEOUT`, or `ABANDONED` where it had no clock.
        reason: String,
    },
    /// The game was aborted.
    Aborted {
        /// By which seat; unset for the platform.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seat: Option<u8>,
    },
    /// The game was aborted because nobody had begun it in time.
    Expired,
    /// All seats still in had agreed to a draw; only of an imported game.
    Agreed,
    /// A seat offered a draw.
    DrawOffered {
        /// Which.
        seat: u8,
    },
    /// A seat answered that.
    DrawAnswered {
        /// Which.
        seat: u8,
        /// Whether it accepted.
        accepted: bool,
    },
    /// A seat asked for its last turn to be taken back.
    TakebackRequested {
        /// Which.
        seat: u8,
    },
    /// A seat answered that.
    TakebackAnswered {
        /// Which.
        seat: u8,
        /// Whether it accepted.
        accepted: bool,
        /// How many of the last actions were taken back.
        undone: u32,
    },
    /// A seat's token was replaced.
    SeatTokenReissued {
        /// Which seat's.
        seat: u8,
    },
    /// A rematch was made.
    RematchMade {
        /// The game that it is.
        game_id: String,
    },
    /// The platform ended it.
    Adjudicated {
        /// The place of each seat, in seat order; none where it was aborted.
        places: Vec<u8>,
    },
    /// The id of a seat's player was erased, also from what came before.
    PlayerErased {
        /// Which seat's.
        seat: u8,
    },
}

/// What proves a deal fair: `docs/fairness.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The game's id.
    pub game_id: String,
    /// The promise; unset for a given deal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commitment: Option<Hexadecimal>,
    /// What each seat added, in seat order; empty for nothing.
    pub entropies: Vec<Hexadecimal>,
    /// What the deal was derived from; only after the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_seed: Option<Hexadecimal>,
    /// What lay face down at the start; only after the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deal: Option<String>,
}
