//! Reading the document of a game: the log with its chain, and the game that it comes to.

use std::num::NonZeroU16;
use std::str::FromStr;
use std::sync::Arc;

use prost_types::Timestamp;

use super::document::{
    ClaimDocument, GameDocument, Proof, ResultDocument, SeriesDocument, SpectatorsDocument,
    TimeControlDocument,
};
use crate::game::{
    Claim, Clock, Commitment, DealSource, EngineVersion, Entropy, Etag, Event, Facts, Game, GameId,
    GameKey, Given, Log, Millis, Requests, Score, Series, ServerSeed, Span, Spectators, StoredGame,
    StoredSeat, TimeControl,
};
use crate::rules::{Deal, EndReason, Outcome, Position, RuleChanges, RuleSet, Seat, Setup};

/// Something in a document that cannot be, or contradicts the rest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is `{value}`: expected {expected}")]
pub struct DocumentFault {
    /// Where: a path of names and indices.
    pub field: String,
    /// What stands there.
    pub value: String,
    /// What would be right.
    pub expected: String,
}

impl DocumentFault {
    pub(super) fn new(field: &str, value: impl ToString, expected: impl ToString) -> Self {
        let value = value.to_string().chars().take(200).collect();
        Self { field: field.to_owned(), value, expected: expected.to_string() }
    }

    pub(super) fn check<T: FromStr>(field: &str, text: &str, what: &str) -> Result<T, Self> {
        text.parse().map_err(|_| Self::new(field, text, what))
    }

    fn within(self, outer: &str) -> Self {
        Self { field: format!("{outer}.{}", self.field), ..self }
    }
}

pub(super) fn read_seat(field: &str, number: u8) -> Result<Seat, DocumentFault> {
    Seat::new(number).ok_or_else(|| DocumentFault::new(field, number, "a seat, 1 to 4"))
}

fn read_time(text: &str) -> Result<Millis, DocumentFault> {
    let time: Option<Timestamp> = text.parse().ok();
    let millis = time.and_then(|time| {
        let seconds = u64::try_from(time.seconds).ok()?;
        let nanos = u64::try_from(time.nanos).ok()?;
        (nanos % 1_000_000 == 0).then_some(Millis(seconds * 1000 + nanos / 1_000_000))
    });
    millis.ok_or_else(|| DocumentFault::new("time", text, "a time in UTC, in milliseconds"))
}

impl GameDocument {
    /// Reads a document.
    ///
    /// # Errors
    /// Where the text is none of this form.
    pub fn read(text: &str) -> Result<Self, DocumentFault> {
        let document: Self = serde_json::from_str(text)
            .map_err(|fault| DocumentFault::new("the document", fault, "the JSON of a game"))?;
        if document.format == Self::FORMAT {
            Ok(document)
        } else {
            Err(DocumentFault::new("format", document.format, Self::FORMAT))
        }
    }

    /// The rule set.
    ///
    /// # Errors
    /// Where it is none.
    pub fn rule_set(&self) -> Result<RuleSet, DocumentFault> {
        let mut changes = RuleChanges::default();
        for (name, value) in &self.rules {
            changes.set(name, value).map_err(|fault| {
                DocumentFault::new(&format!("rules.{name}"), &fault.value, &fault.expected)
            })?;
        }
        RuleSet::TAIWANESE.with(&changes).map_err(|faults| {
            let told: Vec<_> = faults.iter().map(ToString::to_string).collect();
            DocumentFault::new("rules", told.join("; "), "rules that make sense")
        })
    }

    /// The log, each entry of which comes to the etag that stands beside it.
    ///
    /// # Errors
    /// The first entry that does not, or is none.
    pub fn restore_log(&self) -> Result<Log, DocumentFault> {
        let mut log: Option<Log> = None;
        for (index, entry) in self.log.iter().enumerate() {
            let within = |fault: DocumentFault| fault.within(&format!("log[{index}]"));
            let at = read_time(&entry.time).map_err(within)?;
            let event = entry.event.event(entry.imported).map_err(within)?;
            let Etag(told): Etag =
                DocumentFault::check("etag", &entry.etag, "an etag").map_err(within)?;
            let written = match log.take() {
                None if event == Event::Created => Log::begin(told.history, at),
                None => return Err(within(DocumentFault::new("event", "another", "created"))),
                Some(log) if at < log.last_at() => {
                    let expected = "a time that is not before the last entry's";
                    return Err(within(DocumentFault::new("time", &entry.time, expected)));
                }
                Some(mut log) => {
                    log.push(&event, at);
                    log
                }
            };
            let etag = Etag(written.version()).to_string();
            if etag != entry.etag {
                let expected = format!("{etag}, which is what the entries come to up to here");
                return Err(within(DocumentFault::new("etag", &entry.etag, expected)));
            }
            log = Some(written);
        }
        log.ok_or_else(|| DocumentFault::new("log", "empty", "the creation at least"))
    }

    /// The game that has ended, replayed from its log, rules and deal.
    ///
    /// # Errors
    /// What is wrong, or that it has not ended.
    pub fn restore(&self) -> Result<Game, DocumentFault> {
        let rules = self.rule_set()?;
        let log = self.restore_log()?;
        let seats = self.seats.iter().enumerate().map(|(index, seat)| {
            let field = format!("seats[{index}].player_id");
            let read = |id: &String| DocumentFault::check(&field, id, "the id of a player");
            let player = seat.player_id.as_ref().map(read).transpose()?;
            Ok(StoredSeat { claim: seat.claim.into(), player })
        });
        let seats: Vec<_> = seats.collect::<Result<_, DocumentFault>>()?;
        let count = seats.len();
        if count > Seat::MAX {
            return Err(DocumentFault::new("seats", count, "at most 4"));
        }
        let facts = Facts {
            engine: EngineVersion(self.engine),
            deal: self.deal_source(&rules)?,
            rules,
            // Tokens are not part of a document.
            key: GameKey::new([0; 32]),
            entropy_required: self.entropy_required,
            spectators: self.spectators.restore()?,
            labels: self.labels.clone(),
            time_control: self.time_control.restore()?,
            series: self.series.as_ref().map(SeriesDocument::restore).transpose()?,
        };
        let stored = StoredGame {
            id: DocumentFault::check("game_id", &self.game_id, "an id")?,
            facts: Arc::new(facts),
            seats: seats.into_iter().collect(),
            log,
            requests: Requests::default(),
            outcome: self.result.as_ref().map(ResultDocument::restore).transpose()?,
        };
        Game::replay(stored)
            .map_err(|fault| DocumentFault::new("the game", fault, "one that can be replayed"))
    }

    fn deal_source(&self, rules: &RuleSet) -> Result<DealSource, DocumentFault> {
        if !self.start.given {
            return Ok(DealSource::Derived(self.proof.seed()?));
        }
        let text = &self.start.position;
        let setup: Setup = DocumentFault::check("start.position", text, "a position")?;
        let position = setup
            .into_position(rules)
            .map_err(|_| DocumentFault::new("start.position", text, "a position of these rules"))?;
        let deal = self.proof.deal.as_deref().unwrap_or_default();
        let hidden = Deal::parse_hidden(&position, deal)
            .map_err(|fault| DocumentFault::new("proof.deal", deal, fault))?;
        let created = self.start.created.as_ref();
        let created = created
            .map(|time| DocumentFault::check("start.created", time, "a time in UTC"))
            .transpose()?;
        let start = Some(position).filter(|position| *position != Position::start(rules));
        Ok(Given { start, hidden, created }.into())
    }
}

impl Proof {
    /// The server seed.
    ///
    /// # Errors
    /// Where it is not told, or not of 32 bytes.
    pub fn seed(&self) -> Result<ServerSeed, DocumentFault> {
        let seed = self.server_seed.clone().unwrap_or_default();
        let bytes = seed.0.as_slice().try_into().map_err(|_| {
            DocumentFault::new("proof.server_seed", &seed, "32 bytes, told once a game has ended")
        })?;
        Ok(ServerSeed::new(bytes))
    }

    /// What each seat added to the deal.
    ///
    /// # Errors
    /// Where something is longer than it can be.
    pub fn entropies(&self) -> Result<Vec<Option<Entropy>>, DocumentFault> {
        let read = |(index, bytes): (usize, &super::Hexadecimal)| match bytes.0.as_slice() {
            [] => Ok(None),
            some => Entropy::new(some).map(Some).map_err(|_| {
                DocumentFault::new(&format!("proof.entropies[{index}]"), bytes, "0 to 64 bytes")
            }),
        };
        self.entropies.iter().enumerate().map(read).collect()
    }

    /// The id of the game.
    ///
    /// # Errors
    /// Where it is none.
    pub fn id(&self) -> Result<GameId, DocumentFault> {
        DocumentFault::check("proof.game_id", &self.game_id, "an id")
    }

    /// Whether the seed is the one that `commitment` promises.
    ///
    /// # Errors
    /// That it is not, or that there is no seed.
    pub fn check_commitment(&self, field: &str, commitment: &[u8]) -> Result<(), DocumentFault> {
        let promise = Commitment::to(&self.seed()?);
        if promise.0 == *commitment {
            return Ok(());
        }
        let told = super::Hexadecimal(commitment.to_vec());
        let expected = format!("{promise}, which is what the server seed comes to");
        Err(DocumentFault::new(field, told, expected))
    }
}

impl From<ClaimDocument> for Claim {
    fn from(claim: ClaimDocument) -> Self {
        match claim {
            ClaimDocument::Assigned => Self::Assigned,
            ClaimDocument::Open => Self::Open,
            ClaimDocument::Reserved => Self::Reserved,
            ClaimDocument::Rematch => Self::Rematch,
        }
    }
}

impl ResultDocument {
    fn restore(&self) -> Result<Outcome, DocumentFault> {
        let known = EndReason::ALL.into_iter().find(|reason| reason.name() == self.reason);
        let reason = known.ok_or_else(|| {
            DocumentFault::new(
                "result.reason",
                &self.reason,
                EndReason::ALL.map(EndReason::name).join(", "),
            )
        })?;
        let places = self.places.as_slice().try_into().map_err(|_| {
            DocumentFault::new("result.places", self.places.len(), "at most 4 places")
        })?;
        Ok(Outcome { reason, places })
    }
}

impl SpectatorsDocument {
    fn restore(self) -> Result<Spectators, DocumentFault> {
        match self {
            Self::Open => Ok(Spectators::Open),
            Self::None => Ok(Spectators::Hidden),
            Self::Delayed { turns } => NonZeroU16::new(turns)
                .map(|turns| Spectators::Delayed { turns })
                .ok_or_else(|| DocumentFault::new("spectators.turns", turns, "1 to 65535")),
        }
    }
}

impl TimeControlDocument {
    fn restore(&self) -> Result<TimeControl, DocumentFault> {
        let (clock, first) = match *self {
            Self::Unlimited { inactivity_ms, first_turn_ms } => {
                (Clock::Unlimited { inactivity: inactivity_ms.map(Span) }, first_turn_ms)
            }
            Self::SuddenDeath { main_ms, first_turn_ms } => {
                (Clock::SuddenDeath { main: Span(main_ms) }, first_turn_ms)
            }
            Self::Increment { main_ms, increment_ms, first_turn_ms } => {
                let (main, increment) = (Span(main_ms), Span(increment_ms));
                (Clock::Increment { main, increment }, first_turn_ms)
            }
            Self::PerTurn { limit_ms, first_turn_ms } => {
                (Clock::PerTurn { limit: Span(limit_ms) }, first_turn_ms)
            }
            Self::ByoYomi { main_ms, periods, period_ms, first_turn_ms } => {
                let (main, period) = (Span(main_ms), Span(period_ms));
                (Clock::ByoYomi { main, periods, period }, first_turn_ms)
            }
            Self::Correspondence { days, first_turn_ms } => {
                (Clock::Correspondence { days }, first_turn_ms)
            }
        };
        TimeControl::new(clock, first.map(Span)).map_err(|faults| {
            let told: Vec<_> = faults.iter().map(ToString::to_string).collect();
            DocumentFault::new("time_control", told.join("; "), "a time control that makes sense")
        })
    }
}

impl SeriesDocument {
    fn restore(&self) -> Result<Series, DocumentFault> {
        let count =
            || DocumentFault::new("series.seats", self.seats.len(), "as many as the game's");
        if self.seats.len() > Seat::MAX {
            return Err(count());
        }
        let before = self.seats.iter().map(|seat| read_seat("series.seats", seat.previous_seat));
        let score = |seat: &super::SeriesSeatDocument| Score {
            wins: seat.wins_before,
            draws: seat.draws_before,
        };
        Ok(Series {
            previous: DocumentFault::check(
                "series.previous_game_id",
                &self.previous_game_id,
                "an id",
            )?,
            games: self.games_before,
            before: before.collect::<Result<_, _>>()?,
            scores: self.seats.iter().map(score).collect(),
        })
    }
}
