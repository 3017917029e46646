//! Writing the document of a game.

use super::document::{
    ClaimDocument, GameDocument, LogDocument, Proof, ResultDocument, SeatDocument, SeriesDocument,
    SeriesSeatDocument, SpectatorsDocument, StartDocument, StateDocument, TimeControlDocument,
};
use super::hexadecimal::Hexadecimal;
use super::tell::tell;
use crate::api::convert;
use crate::game::{
    Claim, Clock, DealSource, Entry, Etag, Event, Game, GameState, Millis, Series, Spectators,
    TimeControl,
};
use crate::rules::{Position, Seat};

impl GameDocument {
    /// The document of a game, with what everyone may see of it.
    pub fn of(game: &Game) -> Self {
        let facts = &game.stored().facts;
        let rules = game.rules().fields().map(|(name, value)| (name.to_owned(), value));
        Self {
            format: Self::FORMAT.to_owned(),
            game_id: game.id().to_string(),
            engine: facts.engine.0,
            state: game.state().into(),
            revision: game.version().revision.0,
            etag: Etag(game.version()).to_string(),
            created: time(game.created_at()),
            started: game.started_at().map(time),
            ended: game.ended_at().map(time),
            rules: rules.into(),
            time_control: (&facts.time_control).into(),
            spectators: facts.spectators.into(),
            entropy_required: facts.entropy_required,
            labels: facts.labels.clone(),
            series: facts.series.as_ref().map(series),
            rematch_game_id: game.rematch().map(ToString::to_string),
            seats: game.seats().map(|number| seat(game, number)).collect(),
            start: start(game),
            actions: game.record().entries().iter().map(|entry| entry.event.to_string()).collect(),
            position: game.position().to_string(),
            result: game.outcome().map(|outcome| ResultDocument {
                reason: outcome.reason.name().to_owned(),
                places: outcome.places.to_vec(),
            }),
            log: log(game),
            proof: Proof::of(game),
        }
    }
}

impl Proof {
    /// What proves the deal of a game fair, as far as it can be told now.
    pub fn of(game: &Game) -> Self {
        let bytes = |bytes: &[u8]| Hexadecimal(bytes.to_vec());
        let entropy = |seat| game.entropy(seat).map(|entropy| bytes(entropy.as_bytes()));
        Self {
            game_id: game.id().to_string(),
            commitment: game.commitment().map(|commitment| bytes(&commitment.0)),
            entropies: game.seats().map(|seat| entropy(seat).unwrap_or_default()).collect(),
            server_seed: game.revealed_seed().map(|seed| bytes(seed.expose())),
            deal: game.revealed_deal().map(|deal| deal.to_string()),
        }
    }
}

pub(super) fn time(at: Millis) -> String {
    convert::game::time(at).to_string()
}

fn start(game: &Game) -> StartDocument {
    let given = match &game.stored().facts.deal {
        DealSource::Given(given) => Some(given),
        DealSource::Derived(_) => None,
    };
    let rules = game.rules();
    let position = given.map_or_else(|| Position::start(rules), |given| given.position(rules));
    StartDocument {
        position: position.to_string(),
        given: given.is_some(),
        created: given.and_then(|given| given.created.as_ref()).map(ToString::to_string),
    }
}

fn seat(game: &Game, seat: Seat) -> SeatDocument {
    SeatDocument {
        number: seat.number(),
        player_id: game.player(seat).map(ToString::to_string),
        claim: game.claim(seat).unwrap_or(Claim::Open).into(),
        joined: game.has_joined(seat),
        colours: game.position().colours(seat).to_string(),
        out: game.position().is_out(seat),
    }
}

fn series(series: &Series) -> SeriesDocument {
    let seat = |(before, score): (&Seat, &crate::game::Score)| SeriesSeatDocument {
        previous_seat: before.number(),
        wins_before: score.wins,
        draws_before: score.draws,
    };
    SeriesDocument {
        previous_game_id: series.previous.to_string(),
        games_before: series.games,
        seats: series.before.iter().zip(&series.scores).map(seat).collect(),
    }
}

fn log(game: &Game) -> Vec<LogDocument> {
    let entry = |(entry, deed): (Entry, _)| LogDocument {
        revision: entry.version.revision.0,
        etag: Etag(entry.version).to_string(),
        time: time(entry.at),
        imported: matches!(entry.event, Event::Imported(_)),
        event: tell(game, &entry.event, deed),
    };
    game.entries().map(entry).collect()
}

impl From<GameState> for StateDocument {
    fn from(state: GameState) -> Self {
        match state {
            GameState::Waiting => Self::Waiting,
            GameState::Active => Self::Active,
            GameState::Finished => Self::Finished,
        }
    }
}

impl From<Claim> for ClaimDocument {
    fn from(claim: Claim) -> Self {
        match claim {
            Claim::Assigned => Self::Assigned,
            Claim::Open => Self::Open,
            Claim::Reserved => Self::Reserved,
            Claim::Rematch => Self::Rematch,
        }
    }
}

impl From<Spectators> for SpectatorsDocument {
    fn from(spectators: Spectators) -> Self {
        match spectators {
            Spectators::Open => Self::Open,
            Spectators::Delayed { turns } => Self::Delayed { turns: turns.get() },
            Spectators::Hidden => Self::None,
        }
    }
}

impl From<&TimeControl> for TimeControlDocument {
    fn from(control: &TimeControl) -> Self {
        let first_turn_ms = control.first_turn().map(|span| span.0);
        match control.clock() {
            Clock::Unlimited { inactivity } => {
                let inactivity_ms = inactivity.map(|span| span.0);
                Self::Unlimited { inactivity_ms, first_turn_ms }
            }
            Clock::SuddenDeath { main } => Self::SuddenDeath { main_ms: main.0, first_turn_ms },
            Clock::Increment { main, increment } => {
                Self::Increment { main_ms: main.0, increment_ms: increment.0, first_turn_ms }
            }
            Clock::PerTurn { limit } => Self::PerTurn { limit_ms: limit.0, first_turn_ms },
            Clock::ByoYomi { main, periods, period } => {
                let (main_ms, period_ms) = (main.0, period.0);
                Self::ByoYomi { main_ms, periods, period_ms, first_turn_ms }
            }
            Clock::Correspondence { days } => Self::Correspondence { days, first_turn_ms },
        }
    }
}
