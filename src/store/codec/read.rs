//! Reading a record.

use std::num::NonZeroU16;
use std::sync::Arc;

use arrayvec::ArrayVec;
use prost::Message;

use super::names::Named;
use super::time_control::read_time_control;
use super::{CodecError, RecordCodec, proto};
use crate::game::{
    Claim, DealSource, EngineVersion, Facts, GameId, GameKey, Given, History, Log, Requests, Score,
    Series, ServerSeed, Spectators, StoredGame, StoredSeat, Version,
};
use crate::rules::{Deal, Outcome, Piece, Position, RuleChanges, RuleSet, Seat, Setup};
use crate::store::Record;

/// The game that [`write`](super::write) wrote: what [`RecordCodec::read`] reads without keys.
///
/// # Errors
/// As there.
pub fn read(id: &GameId, record: &Record) -> Result<StoredGame, CodecError> {
    RecordCodec::default().read(id, record)
}

/// What [`RecordCodec::read_on`] reads without keys.
///
/// # Errors
/// As there.
pub fn read_on(known: &StoredGame, record: &Record) -> Result<StoredGame, CodecError> {
    RecordCodec::default().read_on(known, record)
}

/// The game that a message is, of which `known` may have the log up to some entry already.
pub(super) fn read_message(
    id: &GameId,
    version: Version,
    encoded: &[u8],
    known: Option<&Log>,
) -> Result<StoredGame, CodecError> {
    let message = proto::GameRecord::decode(encoded)?;
    // Unknown fields were dropped in decoding and would be lost in writing.
    if message.encoded_len() != encoded.len() {
        let (given, known) = (encoded.len(), message.encoded_len());
        return Err(CodecError::NotUnderstood { given, known });
    }
    if message.engine == 0 {
        return Err(CodecError::Missing { field: "engine" });
    }
    let rules = rules(&message.rules.ok_or(CodecError::Missing { field: "rules" })?)?;
    let deal = message.deal.ok_or(CodecError::Missing { field: "deal" })?;
    let origin = History(bytes("origin", &message.origin, "8 bytes")?);
    let log = match known.and_then(|known| known.read_on(origin, &message.log)) {
        Some(log) => log,
        None => Log::read(origin, message.log).map_err(CodecError::Log)?,
    };
    if log.version() != version {
        return Err(CodecError::Header { header: version, log: log.version() });
    }
    let seat_count = rules.seats();
    let facts = Facts {
        engine: EngineVersion(message.engine),
        deal: deal_source(deal, &rules)?,
        rules,
        key: GameKey::new(bytes("key", &message.key, "32 bytes")?),
        entropy_required: message.entropy_required,
        spectators: spectators(message.spectators, message.spectators_delay)?,
        labels: message.labels,
        time_control: read_time_control(message.time_control)?,
        series: message.series.map(|found| series(found, seat_count)).transpose()?,
    };
    Ok(StoredGame {
        id: id.clone(),
        facts: Arc::new(facts),
        seats: seats(message.seats)?,
        requests: Requests::from_bytes(&message.requests, log.revision())
            .map_err(CodecError::Requests)?,
        log,
        outcome: message.result.as_ref().map(outcome).transpose()?,
    })
}

/// What a field of a fixed length holds. The bytes may be secret and are not repeated.
fn bytes<const N: usize>(
    field: &'static str,
    bytes: &[u8],
    expected: &'static str,
) -> Result<[u8; N], CodecError> {
    bytes.try_into().map_err(|_| {
        let value = format!("{} bytes", bytes.len());
        CodecError::Field { field, value, expected }
    })
}

fn rules(rules: &proto::Rules) -> Result<RuleSet, CodecError> {
    let changes = RuleChanges {
        ladder: Some(rules.ladder.clone()),
        cannon: Some(Named::from_number(rules.cannon)?),
        equals: Some(Named::from_number(rules.equals)?),
        face_down: Some(Named::from_number(rules.face_down)?),
        chain: Some(rules.chain),
        chariot: Some(Named::from_number(rules.chariot)?),
        horse: Some(Named::from_number(rules.horse)?),
        quiet_limit: Some(rules.quiet_limit),
        repetition: Some(Named::from_number(rules.repetition)?),
        repetition_count: Some(rules.repetition_count),
        chase_limit: Some(rules.chase_limit),
        board: Some(Named::from_number(rules.board)?),
        seats: Some(rules.seats),
    };
    RuleSet::TAIWANESE.with(&changes).map_err(CodecError::Rules)
}

fn seats(seats: Vec<proto::Seat>) -> Result<ArrayVec<StoredSeat, { Seat::MAX }>, CodecError> {
    if seats.len() > Seat::MAX {
        let value = format!("a list of {}", seats.len());
        return Err(CodecError::Field { field: "seats", value, expected: "2 or 4 seats" });
    }
    seats.into_iter().map(seat).collect()
}

fn seat(seat: proto::Seat) -> Result<StoredSeat, CodecError> {
    let claim: Claim = Named::from_number(seat.claim)?;
    let player = match seat.player_id.as_str() {
        "" => None,
        id => Some(id.parse().map_err(|_| CodecError::Field {
            field: "player_id",
            value: format!("{} bytes", id.len()),
            expected: "1 to 128 bytes of text without control characters",
        })?),
    };
    Ok(StoredSeat { claim, player })
}

fn deal_source(deal: proto::game_record::Deal, rules: &RuleSet) -> Result<DealSource, CodecError> {
    match deal {
        proto::game_record::Deal::DerivedFrom(seed) => {
            Ok(DealSource::Derived(ServerSeed::new(bytes("derived_from", &seed, "32 bytes")?)))
        }
        proto::game_record::Deal::Given(given) => {
            let pieces: Option<Vec<_>> =
                given.pieces.iter().map(|&index| Piece::from_index(index.into())).collect();
            let pieces = pieces.ok_or(CodecError::Field {
                field: "pieces",
                value: "something else".to_owned(),
                expected: "numbers of pieces, 0 to 27",
            })?;
            let some = |text: String| Some(text).filter(|text| !text.is_empty());
            let start = some(given.start).map(|text| start(text, rules)).transpose()?;
            let position = start.clone().unwrap_or_else(|| Position::start(rules));
            let created = some(given.created).map(|text| {
                text.parse().map_err(|_| CodecError::Field {
                    field: "created",
                    value: format!("{text:?}"),
                    expected: "a time in UTC as RFC 3339 writes it",
                })
            });
            let hidden = Deal::under(&position, &pieces).map_err(CodecError::Deal)?;
            Ok(Given { start, hidden, created: created.transpose()? }.into())
        }
    }
}

fn start(text: String, rules: &RuleSet) -> Result<Position, CodecError> {
    let setup: Option<Setup> = text.parse().ok();
    let position = setup.and_then(|setup| setup.into_position(rules).ok());
    position.ok_or(CodecError::Field {
        field: "start",
        value: text,
        expected: "a position of these rules",
    })
}

fn outcome(result: &proto::Result) -> Result<Outcome, CodecError> {
    let places = result.places.as_slice().try_into().map_err(|_| CodecError::Field {
        field: "places",
        value: format!("{} bytes", result.places.len()),
        expected: "at most 4 bytes",
    })?;
    Ok(Outcome { reason: Named::from_number(result.reason)?, places })
}

fn spectators(number: i32, delay: u32) -> Result<Spectators, CodecError> {
    let turns = u16::try_from(delay).ok().and_then(NonZeroU16::new);
    match (proto::Spectators::try_from(number), turns, delay) {
        (Ok(proto::Spectators::Open), _, 0) => Ok(Spectators::Open),
        (Ok(proto::Spectators::Hidden), _, 0) => Ok(Spectators::Hidden),
        (Ok(proto::Spectators::Delayed), Some(turns), _) => Ok(Spectators::Delayed { turns }),
        (Ok(proto::Spectators::Unspecified), ..) => {
            Err(CodecError::Missing { field: "spectators" })
        }
        (Ok(_), ..) => Err(CodecError::Field {
            field: "spectators_delay",
            value: delay.to_string(),
            expected: "1 to 65535 turns where spectators are delayed, and 0 elsewhere",
        }),
        (Err(_), ..) => Err(CodecError::UnknownNumber { name: "Spectators", number }),
    }
}

fn series(series: proto::Series, seat_count: u8) -> Result<Series, CodecError> {
    let previous = series.previous.parse().map_err(|_| CodecError::Field {
        field: "previous",
        value: format!("{} bytes", series.previous.len()),
        expected: "the id of a game",
    })?;
    let fault = || CodecError::Field {
        field: "series.seats",
        value: format!("a list of {}", series.seats.len()),
        expected: "as many seats as the rules say, each from 1 to 4",
    };
    if series.seats.len() != usize::from(seat_count) {
        return Err(fault());
    }
    let seat = |seat: &proto::SeriesSeat| u8::try_from(seat.before).ok().and_then(Seat::new);
    let score = |seat: &proto::SeriesSeat| Score { wins: seat.wins, draws: seat.draws };
    Ok(Series {
        previous,
        games: series.games,
        before: series.seats.iter().map(seat).collect::<Option<_>>().ok_or_else(fault)?,
        scores: series.seats.iter().map(score).collect(),
    })
}
