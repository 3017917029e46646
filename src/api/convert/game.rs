//! Hosted games and their logs.

use prost_types::Timestamp;

use super::position::encode_colours;
use super::{action, result, spectators, time_control};
use crate::api::proto::v1;
use crate::api::proto::v1::log_entry::{
    Aborted, Adjudicated, Agreed, Created, DrawAnswered, DrawOffered, EntropyAdded, Event as Told,
    Joined, PlayerErased, RematchMade, Resigned, SeatTokenReissued, TakebackAnswered,
    TakebackRequested, TimedOut,
};
use crate::game::{
    Claim, Deed, Entry, Etag, Event, Game, GameState, Happening, Millis, Offer, Revision, Ruling,
    Score, Series,
};
use crate::rules::{EndReason, LeaveReason, Seat};
use crate::store::codec::wire::{put_bytes, put_message, put_number};

/// How much of a game to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Everything but the log.
    Basic,
    /// With the log.
    Full,
}

/// A game as everyone may see it, told `now`. Events leave that out: they do not depend on when they
/// are told.
pub fn game(game: &Game, view: View, now: Option<Millis>) -> v1::Game {
    let log = match view {
        View::Basic => Vec::new(),
        View::Full => game.entries().map(|(entry, deed)| log_entry(game, &entry, deed)).collect(),
    };
    v1::Game {
        game_id: game.id().to_string(),
        revision: game.version().revision.0,
        etag: Etag(game.version()).to_string(),
        state: v1::GameState::from(game.state()).into(),
        rules: Some(game.rules().into()),
        seats: seats(game),
        position: Some(game.position().into()),
        legal_actions: legal_actions(game),
        last_action: game.last_action().map(action::record),
        departures: game.referee().departures().iter().map(Into::into).collect(),
        result: game.outcome().map(Into::into),
        commitment: commitment(game),
        entropy_required: game.stored().facts.entropy_required,
        labels: game.stored().facts.labels.clone(),
        create_time: Some(time(game.created_at())),
        start_time: game.started_at().map(time),
        update_time: Some(time(game.updated_at())),
        end_time: game.ended_at().map(time),
        log,
        server_time: now.map(|now| server_time(time(game.updated_at()), now)),
        time_control: Some(time_control::time_control(game.time_control())),
        clocks: time_control::clocks(game),
        deadline: game.deadline().map(time),
        draw_offer: game.draw_offer().map(Into::into),
        takeback_request: game.takeback_request().map(|takeback| takeback.offer.into()),
        series: game.stored().facts.series.as_ref().map(|series| self::series(game, series)),
        rematch_game_id: game.rematch().map(ToString::to_string).unwrap_or_default(),
        spectators: Some(spectators::spectators(game.stored().facts.spectators)),
    }
}

/// When a game is told: not before its last change, whose time may come from another replica, with
/// another estimate of the shard's time.
pub fn server_time(updated: Timestamp, now: Millis) -> Timestamp {
    let now = time(now);
    if (now.seconds, now.nanos) > (updated.seconds, updated.nanos) { now } else { updated }
}

/// Says in a game that was made for no time in particular when it is told.
pub fn set_server_time(told: &mut v1::Game, now: Millis) {
    told.server_time = told.update_time.map(|updated| server_time(updated, now));
}

/// What promises the deal; empty where there is no promise.
pub(super) fn commitment(game: &Game) -> Vec<u8> {
    game.commitment().map(|commitment| commitment.0.to_vec()).unwrap_or_default()
}

pub(super) fn series(game: &Game, series: &Series) -> v1::Series {
    let standing = game.standing();
    let score = |((seat, before), score): ((Seat, &Seat), &Score)| v1::SeriesScore {
        seat: seat.number().into(),
        previous_seat: before.number().into(),
        wins: score.wins,
        draws: score.draws,
    };
    v1::Series {
        previous_game_id: series.previous.to_string(),
        games_ended: standing.games,
        scores: game.seats().zip(&series.before).zip(&standing.scores).map(score).collect(),
    }
}

impl From<Offer> for v1::Offer {
    fn from(offer: Offer) -> Self {
        Self {
            seat: offer.by.number().into(),
            accepted_by: offer.accepted.iter().map(|seat| seat.number().into()).collect(),
        }
    }
}

/// What the seat to move may do: nothing unless the game is being played.
pub fn legal_actions(game: &Game) -> Vec<v1::LegalAction> {
    if game.state() == GameState::Active {
        action::legal_actions(game.referee())
    } else {
        Vec::new()
    }
}

/// The entry that made the game's last revision, with the game after it.
pub fn event(game: &Game) -> Option<v1::GameEvent> {
    let (entry, deed) = game.last_entry()?;
    Some(v1::GameEvent {
        entry: Some(log_entry(game, &entry, deed)),
        game: Some(self::game(game, View::Basic, None)),
    })
}

/// A point in time.
pub fn time(millis: Millis) -> Timestamp {
    Timestamp { seconds: (millis.0 / 1000) as i64, nanos: (millis.0 % 1000) as i32 * 1_000_000 }
}

fn log_entry(game: &Game, entry: &Entry, deed: Deed) -> v1::LogEntry {
    let event = match &entry.event {
        Event::Created => Told::Created(Created {}),
        Event::Joined { seat, .. } => Told::Joined(Joined {
            seat: seat.number().into(),
            player_id: game.player(*seat).map(ToString::to_string).unwrap_or_default(),
        }),
        Event::EntropyAdded { seat, .. } => {
            Told::EntropyAdded(EntropyAdded { seat: seat.number().into() })
        }
        Event::Played(_) => {
            Told::Played(deed.played.as_ref().map(action::record).unwrap_or_default())
        }
        Event::Resigned(seat) => Told::Resigned(Resigned { seat: seat.number().into() }),
        Event::ExpiredUnbegun => Told::Aborted(Aborted { seat: 0 }),
        Event::Aborted(seat) => {
            Told::Aborted(Aborted { seat: seat.map_or(0, |seat| seat.number().into()) })
        }
        Event::TimedOut(seat) => Told::TimedOut(TimedOut {
            seat: seat.number().into(),
            reason: left(deed.left.unwrap_or(LeaveReason::Timeout)),
        }),
        Event::DrawOffered(seat) => Told::DrawOffered(DrawOffered { seat: seat.number().into() }),
        Event::DrawAnswered { seat, accepted } => {
            Told::DrawAnswered(DrawAnswered { seat: seat.number().into(), accepted: *accepted })
        }
        Event::TakebackAsked(seat) => {
            Told::TakebackRequested(TakebackRequested { seat: seat.number().into() })
        }
        Event::TakebackAnswered { seat, accepted } => Told::TakebackAnswered(TakebackAnswered {
            seat: seat.number().into(),
            accepted: *accepted,
            undone_actions: deed.undone,
        }),
        Event::TokenReissued(seat) => {
            Told::SeatTokenReissued(SeatTokenReissued { seat: seat.number().into() })
        }
        Event::Imported(happening) => imported(happening, deed),
        Event::RematchMade(id) => Told::RematchMade(RematchMade { game_id: id.to_string() }),
        Event::Adjudicated(Ruling::Places(places)) => adjudicated(places),
        Event::Adjudicated(Ruling::Aborted) => adjudicated(&[]),
        Event::PlayerErased(seat) => {
            Told::PlayerErased(PlayerErased { seat: seat.number().into() })
        }
    };
    let Revision(revision) = entry.version.revision;
    v1::LogEntry {
        revision,
        etag: Etag(entry.version).to_string(),
        time: Some(time(entry.at)),
        event: Some(event),
        imported: matches!(entry.event, Event::Imported(_)),
    }
}

/// What happened before the game came here, told as if it had happened here.
fn imported(happening: &Happening, deed: Deed) -> Told {
    match *happening {
        Happening::Acted(_) => {
            Told::Played(deed.played.as_ref().map(action::record).unwrap_or_default())
        }
        Happening::Left { seat, reason: LeaveReason::Resignation } => {
            Told::Resigned(Resigned { seat: seat.number().into() })
        }
        Happening::Left { seat, reason } => {
            Told::TimedOut(TimedOut { seat: seat.number().into(), reason: left(reason) })
        }
        Happening::Agreed => Told::Agreed(Agreed {}),
        Happening::Ended(Ruling::Aborted) => Told::Aborted(Aborted { seat: 0 }),
        Happening::Ended(Ruling::Places(ref places)) => adjudicated(places),
    }
}

fn adjudicated(places: &[u8]) -> Told {
    Told::Adjudicated(Adjudicated { placements: result::placements(places) })
}

fn left(reason: LeaveReason) -> i32 {
    v1::EndReason::from(EndReason::from(reason)).into()
}

/// The seats of a game, in order.
pub(super) fn seats(game: &Game) -> Vec<v1::GameSeat> {
    game.seats().map(|seat| self::seat(game, seat)).collect()
}

/// Appends what [`seats`] makes.
pub(super) fn encode_seats(field: u32, game: &Game, into: &mut Vec<u8>) {
    for seat in game.seats() {
        put_message(field, into, |into| {
            put_number(1, seat.number(), into);
            if let Some(player) = game.player(seat) {
                put_bytes(2, player.as_str().as_bytes(), into);
            }
            let claim = game.claim(seat).map_or(v1::SeatClaim::Unspecified, Into::into);
            put_number(3, claim as u32, into);
            put_number(4, game.has_joined(seat), into);
            put_number(5, game.entropy(seat).is_some(), into);
            encode_colours(6, game.position().colours(seat), into);
            put_number(7, game.position().is_out(seat), into);
        });
    }
}

fn seat(game: &Game, seat: Seat) -> v1::GameSeat {
    let colours = game.position().colours(seat);
    v1::GameSeat {
        number: seat.number().into(),
        player_id: game.player(seat).map(ToString::to_string).unwrap_or_default(),
        claim: game.claim(seat).map_or(v1::SeatClaim::Unspecified, Into::into).into(),
        joined: game.has_joined(seat),
        entropy_added: game.entropy(seat).is_some(),
        colours: colours.iter().map(|colour| v1::Colour::from(colour).into()).collect(),
        out: game.position().is_out(seat),
    }
}

impl From<GameState> for v1::GameState {
    fn from(state: GameState) -> Self {
        match state {
            GameState::Waiting => Self::Waiting,
            GameState::Active => Self::Active,
            GameState::Finished => Self::Finished,
        }
    }
}

impl From<Claim> for v1::SeatClaim {
    fn from(claim: Claim) -> Self {
        match claim {
            Claim::Assigned => Self::Assigned,
            Claim::Open => Self::Open,
            Claim::Reserved => Self::Reserved,
            Claim::Rematch => Self::Rematch,
        }
    }
}
