//! Writing a record.

use prost::Message;

use super::names::Named;
use super::time_control::write_time_control as time_control;
use super::{RecordFormat, proto};
use crate::game::{DealSource, Score, Series, Spectators, StoredGame, StoredSeat};
use crate::rules::{Outcome, RuleSet, Seat};
use crate::store::Record;

/// The record of a game in the one format that takes neither keys nor randomness: the oldest.
pub fn write(game: &StoredGame) -> Record {
    let payload = message(game).encode_to_vec().into();
    Record { format: RecordFormat::One.number(), version: game.log.version(), payload }
}

/// What every format has of a game.
pub(super) fn message(game: &StoredGame) -> proto::GameRecord {
    let facts = &*game.facts;
    proto::GameRecord {
        engine: facts.engine.0,
        rules: Some(rules(&facts.rules)),
        seats: game.seats.iter().map(seat).collect(),
        deal: Some(deal(&facts.deal)),
        key: facts.key.expose().to_vec(),
        origin: game.log.origin().0.to_vec(),
        log: game.log.bytes().to_vec(),
        requests: game.requests.to_bytes(),
        labels: facts.labels.clone(),
        spectators: spectators(facts.spectators).into(),
        entropy_required: facts.entropy_required,
        result: game.outcome.as_ref().map(result),
        time_control: time_control(&facts.time_control),
        series: facts.series.as_ref().map(series),
        spectators_delay: match facts.spectators {
            Spectators::Delayed { turns } => turns.get().into(),
            Spectators::Open | Spectators::Hidden => 0,
        },
    }
}

fn rules(rules: &RuleSet) -> proto::Rules {
    proto::Rules {
        ladder: rules.ladder().to_string(),
        cannon: rules.cannon().number(),
        equals: rules.equals().number(),
        face_down: rules.face_down().number(),
        chain: rules.chain(),
        chariot: rules.chariot().number(),
        horse: rules.horse().number(),
        quiet_limit: rules.quiet_limit().into(),
        repetition: rules.repetition().number(),
        repetition_count: rules.repetition_count().into(),
        chase_limit: rules.chase_limit().into(),
        board: rules.board().number(),
        seats: rules.seats().into(),
    }
}

fn seat(seat: &StoredSeat) -> proto::Seat {
    proto::Seat {
        claim: seat.claim.number(),
        player_id: seat.player.as_ref().map_or_else(String::new, ToString::to_string),
    }
}

fn deal(source: &DealSource) -> proto::game_record::Deal {
    match source {
        DealSource::Derived(seed) => proto::game_record::Deal::DerivedFrom(seed.expose().to_vec()),
        DealSource::Given(given) => proto::game_record::Deal::Given(proto::GivenDeal {
            pieces: given.hidden.pieces().map(|piece| piece.index() as u8).collect(),
            start: given.start.as_ref().map(ToString::to_string).unwrap_or_default(),
            created: given.created.as_ref().map(ToString::to_string).unwrap_or_default(),
        }),
    }
}

fn result(outcome: &Outcome) -> proto::Result {
    proto::Result { reason: outcome.reason.number(), places: outcome.places.to_vec() }
}

fn spectators(spectators: Spectators) -> proto::Spectators {
    match spectators {
        Spectators::Open => proto::Spectators::Open,
        Spectators::Delayed { .. } => proto::Spectators::Delayed,
        Spectators::Hidden => proto::Spectators::Hidden,
    }
}

fn series(series: &Series) -> proto::Series {
    let seat = |(before, score): (&Seat, &Score)| proto::SeriesSeat {
        before: before.number().into(),
        wins: score.wins,
        draws: score.draws,
    };
    proto::Series {
        previous: series.previous.to_string(),
        games: series.games,
        seats: series.before.iter().zip(&series.scores).map(seat).collect(),
    }
}
