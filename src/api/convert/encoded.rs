//! Games as bytes.
//!
//! A message is the encodings of its fields, one after the other, in the order of their numbers. So
//! it can be put together from pieces, each of which is the encoding of a message with some of the
//! fields: those that never change are encoded once a game, the others once a revision, and
//! `server_time` with each answer.

use bytes::{BufMut as _, Bytes, BytesMut};
use prost::Message as _;
use prost_types::Timestamp;

use super::game::{series, server_time, time};
use super::{action, game, position, spectators, time_control};
use crate::api::proto::v1;
use crate::game::{Etag, Game, GameState, Millis};
use crate::store::codec::wire::{put_encoded, put_number, put_text};

/// The numbers of fields of `banqi.v1.Game`.
mod field {
    pub(super) const REVISION: u32 = 2;
    pub(super) const ETAG: u32 = 3;
    pub(super) const STATE: u32 = 4;
    pub(super) const SEATS: u32 = 6;
    pub(super) const POSITION: u32 = 7;
    pub(super) const LEGAL_ACTIONS: u32 = 8;
    pub(super) const LAST_ACTION: u32 = 9;
    pub(super) const DEPARTURES: u32 = 10;
    pub(super) const RESULT: u32 = 11;
    pub(super) const START_TIME: u32 = 16;
    pub(super) const UPDATE_TIME: u32 = 17;
    pub(super) const END_TIME: u32 = 18;
    pub(super) const SERVER_TIME: u32 = 20;
    pub(super) const CLOCKS: u32 = 22;
    pub(super) const DEADLINE: u32 = 23;
    pub(super) const DRAW_OFFER: u32 = 24;
    pub(super) const TAKEBACK_REQUEST: u32 = 25;
    pub(super) const SERIES: u32 = 26;
    pub(super) const REMATCH_GAME_ID: u32 = 27;
}

/// Much of a state's message, in bytes: the buffer grows for longer ones.
const USUAL_LENGTH: usize = 1024;

/// The pieces of a game's message that are the same in all its revisions.
#[derive(Clone, Debug)]
pub struct UnchangingFields {
    game_id: Vec<u8>,
    rules: Vec<u8>,
    /// From `commitment` to `create_time`.
    creation: Vec<u8>,
    time_control: Vec<u8>,
    spectators: Vec<u8>,
}

impl UnchangingFields {
    /// Those of a game.
    pub fn of(state: &Game) -> Self {
        let facts = &state.stored().facts;
        let encoded = |fields: v1::Game| fields.encode_to_vec();
        let none = v1::Game::default;
        Self {
            game_id: encoded(v1::Game { game_id: state.id().to_string(), ..none() }),
            rules: encoded(v1::Game { rules: Some(state.rules().into()), ..none() }),
            creation: encoded(v1::Game {
                commitment: game::commitment(state),
                entropy_required: facts.entropy_required,
                labels: facts.labels.clone(),
                create_time: Some(time(state.created_at())),
                ..none()
            }),
            time_control: encoded(v1::Game {
                time_control: Some(time_control::time_control(state.time_control())),
                ..none()
            }),
            spectators: encoded(v1::Game {
                spectators: Some(spectators::spectators(facts.spectators)),
                ..none()
            }),
        }
    }
}

/// One state of a game as a `banqi.v1.Game` of the BASIC view, encoded once for every reader who is
/// shown that state. Only `server_time` is left to each answer.
#[derive(Clone, Debug)]
pub struct EncodedGame {
    /// Everything but `server_time`.
    bytes: Bytes,
    /// Where in `bytes` it belongs.
    time_stands: usize,
    updated: Timestamp,
}

impl EncodedGame {
    /// Encodes a state of a game with these unchanging fields.
    pub fn of(state: &Game, unchanging: &UnchangingFields) -> Self {
        let updated = time(state.updated_at());
        let into = &mut Vec::with_capacity(USUAL_LENGTH);
        into.extend(&unchanging.game_id);
        put_number(field::REVISION, state.version().revision.0, into);
        put_text(field::ETAG, Etag(state.version()), into);
        put_number(field::STATE, v1::GameState::from(state.state()) as u32, into);
        into.extend(&unchanging.rules);
        game::encode_seats(field::SEATS, state, into);
        position::encode_position(field::POSITION, state.position(), into);
        if state.state() == GameState::Active {
            action::encode_legal_actions(field::LEGAL_ACTIONS, state.referee(), into);
        }
        if let Some(played) = state.last_action() {
            action::encode_record(field::LAST_ACTION, played, into);
        }
        for departure in state.referee().departures() {
            put_encoded(field::DEPARTURES, &v1::Departure::from(departure), into);
        }
        if let Some(outcome) = state.outcome() {
            put_encoded(field::RESULT, &v1::Result::from(outcome), into);
        }
        into.extend(&unchanging.creation);
        if let Some(started) = state.started_at() {
            put_encoded(field::START_TIME, &time(started), into);
        }
        put_encoded(field::UPDATE_TIME, &updated, into);
        if let Some(ended) = state.ended_at() {
            put_encoded(field::END_TIME, &time(ended), into);
        }
        let time_stands = into.len();
        into.extend(&unchanging.time_control);
        for clock in time_control::clocks(state) {
            put_encoded(field::CLOCKS, &clock, into);
        }
        if let Some(deadline) = state.deadline() {
            put_encoded(field::DEADLINE, &time(deadline), into);
        }
        if let Some(offer) = state.draw_offer() {
            put_encoded(field::DRAW_OFFER, &v1::Offer::from(offer), into);
        }
        if let Some(takeback) = state.takeback_request() {
            put_encoded(field::TAKEBACK_REQUEST, &v1::Offer::from(takeback.offer), into);
        }
        if let Some(before) = &state.stored().facts.series {
            put_encoded(field::SERIES, &series(state, before), into);
        }
        if let Some(rematch) = state.rematch() {
            put_text(field::REMATCH_GAME_ID, rematch, into);
        }
        into.extend(&unchanging.spectators);
        let bytes = std::mem::take(into);
        Self { bytes: bytes.into(), time_stands, updated }
    }

    /// Without `server_time`, as in events.
    pub fn without_time(&self) -> &Bytes {
        &self.bytes
    }

    /// As it is told at a time of the game's shard.
    pub fn at(&self, now: Millis) -> Bytes {
        let (head, tail) = self.bytes.split_at(self.time_stands);
        let time = server_time(self.updated, now);
        let mut bytes = BytesMut::with_capacity(self.bytes.len() + 32);
        bytes.put(head);
        prost::encoding::message::encode(field::SERVER_TIME, &time, &mut bytes);
        bytes.put(tail);
        bytes.freeze()
    }
}
