//! Writing a record.

use super::names::Named;
use super::time_control::write_time_control as time_control;
use super::wire::{put_bytes, put_encoded, put_message, put_number};
use super::{RecordFormat, proto};
use crate::game::{DealSource, Given, Score, Series, Spectators, StoredGame};
use crate::rules::{Outcome, RuleSet, Seat};
use crate::store::Record;

/// More than what most records have beside their logs and requests, in bytes.
const USUAL_LENGTH: usize = 512;

/// The record of a game in the one format that takes neither keys nor randomness: the oldest.
pub fn write(game: &StoredGame) -> Record {
    let mut payload = Vec::with_capacity(usual_length(game));
    put_game(game, &mut payload);
    let (format, version) = (RecordFormat::One.number(), game.log.version());
    Record { format, version, payload: payload.into() }
}

/// How long the encoding of most games with such a log is at most.
pub(super) fn usual_length(game: &StoredGame) -> usize {
    let labels = game.facts.labels.iter().map(|(name, value)| 8 + name.len() + value.len());
    USUAL_LENGTH + game.log.bytes().len() + labels.sum::<usize>()
}

/// Appends what every format has of a game: a `banqi.storage.v1.GameRecord`, field by field, since
/// every write has one.
pub(super) fn put_game(game: &StoredGame, into: &mut Vec<u8>) {
    let facts = &*game.facts;
    put_number(1, facts.engine.0, into);
    put_encoded(2, &rules(&facts.rules), into);
    for seat in &game.seats {
        put_message(3, into, |into| {
            put_number(1, seat.claim.number() as u32, into);
            if let Some(player) = &seat.player {
                put_bytes(2, player.as_str().as_bytes(), into);
            }
        });
    }
    match &facts.deal {
        DealSource::Derived(seed) => put_bytes(4, seed.expose(), into),
        DealSource::Given(deal) => put_encoded(5, &given(deal), into),
    }
    put_bytes(6, facts.key.expose(), into);
    put_bytes(7, &game.log.origin().0, into);
    put_bytes(8, game.log.bytes(), into);
    put_bytes(9, &game.requests.to_bytes(), into);
    prost::encoding::btree_map::encode(
        prost::encoding::string::encode,
        prost::encoding::string::encoded_len,
        prost::encoding::string::encode,
        prost::encoding::string::encoded_len,
        10,
        &facts.labels,
        into,
    );
    put_number(11, spectators(facts.spectators) as u32, into);
    put_number(12, facts.entropy_required, into);
    if let Some(outcome) = &game.outcome {
        put_encoded(13, &result(outcome), into);
    }
    if let Some(control) = time_control(&facts.time_control) {
        put_encoded(14, &control, into);
    }
    if let Some(before) = &facts.series {
        put_encoded(15, &series(before), into);
    }
    if let Spectators::Delayed { turns } = facts.spectators {
        put_number(16, turns.get(), into);
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

fn given(deal: &Given) -> proto::GivenDeal {
    proto::GivenDeal {
        pieces: deal.hidden.pieces().map(|piece| piece.index() as u8).collect(),
        start: deal.start.as_ref().map(ToString::to_string).unwrap_or_default(),
        created: deal.created.as_ref().map(ToString::to_string).unwrap_or_default(),
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
