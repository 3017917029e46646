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

/// The number of `banqi.v1.Game.server_time`.
const SERVER_TIME: u32 = 20;

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
        let mut bytes = Vec::with_capacity(USUAL_LENGTH);
        bytes.extend(&unchanging.game_id);
        let none = v1::Game::default;
        let beginning = v1::Game {
            revision: state.version().revision.0,
            etag: Etag(state.version()).to_string(),
            state: v1::GameState::from(state.state()).into(),
            ..none()
        };
        beginning.encode_raw(&mut bytes);
        bytes.extend(&unchanging.rules);
        v1::Game { seats: game::seats(state), ..none() }.encode_raw(&mut bytes);
        position::encode_position(state.position(), &mut bytes);
        if state.state() == GameState::Active {
            action::encode_legal_actions(state.referee(), &mut bytes);
        }
        let deeds = v1::Game {
            last_action: state.last_action().map(action::record),
            departures: state.referee().departures().iter().map(Into::into).collect(),
            result: state.outcome().map(Into::into),
            ..none()
        };
        deeds.encode_raw(&mut bytes);
        bytes.extend(&unchanging.creation);
        let times = v1::Game {
            start_time: state.started_at().map(time),
            update_time: Some(updated),
            end_time: state.ended_at().map(time),
            ..none()
        };
        times.encode_raw(&mut bytes);
        let time_stands = bytes.len();
        bytes.extend(&unchanging.time_control);
        let ending = v1::Game {
            clocks: time_control::clocks(state),
            deadline: state.deadline().map(time),
            draw_offer: state.draw_offer().map(Into::into),
            takeback_request: state.takeback_request().map(|takeback| takeback.offer.into()),
            series: state.stored().facts.series.as_ref().map(|before| series(state, before)),
            rematch_game_id: state.rematch().map(ToString::to_string).unwrap_or_default(),
            ..none()
        };
        ending.encode_raw(&mut bytes);
        bytes.extend(&unchanging.spectators);
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
        prost::encoding::message::encode(SERVER_TIME, &time, &mut bytes);
        bytes.put(tail);
        bytes.freeze()
    }
}
