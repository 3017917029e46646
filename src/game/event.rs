//! What an entry of the log says, and its packed form.
//!
//! An entry is a kind byte, what that kind carries, and the milliseconds since the entry before
//! (for the first one: since the Unix epoch) as a variable-length number:
//!
//! | kind byte | carries | event |
//! |---|---|---|
//! | 0–63 | | flip of the square with that index |
//! | 64–127 | the target's index | move from the square with index kind − 64 |
//! | 128 | | end of a chain |
//! | 129 | | created |
//! | 130 | seat, length (0 for none), entropy | joined |
//! | 131 | seat, length, entropy | entropy added |
//! | 132 | seat | resigned |
//! | 133 | | aborted because it was not begun in time |
//! | 134 | seat | ran out of time |
//! | 135 | seat | offered a draw |
//! | 136, 137 | seat | accepted, declined a draw |
//! | 138 | seat | asked to take back |
//! | 139, 140 | seat | accepted, declined to take back |
//! | 141 | seat, or 0 for the platform | aborted |
//! | 142 | seat | had its token replaced |
//! | 143 | length, the rematch's id | rematch made |
//! | 144 | how many places (0: aborted), the places in seat order | adjudicated |
//! | 145 | seat | had its player's id erased |
//! | 146 | a kind from 0 to 128 and what it carries | acted before the game came here |
//! | 147 | seat, 1 to 3: resigned, ran out of time, abandoned | left before the game came here |
//! | 148 | | agreed to a draw before the game came here |
//! | 149 | as 144 | adjudicated or aborted before the game came here |
//!
//! All other kinds are for later releases. An entry is written once; nothing in it is hidden.

use arrayvec::ArrayVec;

use super::entropy::Entropy;
use super::id::GameId;
use super::import::Happening;
use super::packing::{PackingError, Reader, put_number};
use super::revision::Version;
use super::time::{Millis, Span};
use crate::rules::{Action, LeaveReason, Seat, Square};

const MOVE: u8 = 64;
const END_CHAIN: u8 = 128;
const CREATED: u8 = 129;
const JOINED: u8 = 130;
const ENTROPY_ADDED: u8 = 131;
const RESIGNED: u8 = 132;
const EXPIRED_UNBEGUN: u8 = 133;
const TIMED_OUT: u8 = 134;
const DRAW_OFFERED: u8 = 135;
const DRAW_ACCEPTED: u8 = 136;
const DRAW_DECLINED: u8 = 137;
const TAKEBACK_ASKED: u8 = 138;
const TAKEBACK_ACCEPTED: u8 = 139;
const TAKEBACK_DECLINED: u8 = 140;
const ABORTED: u8 = 141;
const TOKEN_REISSUED: u8 = 142;
const REMATCH_MADE: u8 = 143;
const ADJUDICATED: u8 = 144;
const PLAYER_ERASED: u8 = 145;
const IMPORTED_ACTION: u8 = 146;
const IMPORTED_LEAVE: u8 = 147;
const IMPORTED_AGREEMENT: u8 = 148;
const IMPORTED_RULING: u8 = 149;

/// What an entry of the log says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The game was created: always the first entry, and no other.
    Created,
    /// A seat was taken, by the player whose id stands beside the log.
    Joined {
        /// Which.
        seat: Seat,
        /// What its player added to the deal on the way.
        entropy: Option<Entropy>,
    },
    /// A seat's player added to the deal.
    EntropyAdded {
        /// Which seat.
        seat: Seat,
        /// What.
        entropy: Entropy,
    },
    /// The seat to move acted.
    Played(Action),
    /// A seat resigned.
    Resigned(Seat),
    /// The game was aborted because nobody had acted in time.
    ExpiredUnbegun,
    /// The seat to move ran out of time, or abandoned a game without clocks.
    TimedOut(Seat),
    /// A seat offered a draw.
    DrawOffered(Seat),
    /// A seat answered the offer of a draw.
    DrawAnswered {
        /// Which seat.
        seat: Seat,
        /// Whether it accepted.
        accepted: bool,
    },
    /// A seat asked for its last turn to be taken back.
    TakebackAsked(Seat),
    /// A seat answered the request to take back.
    TakebackAnswered {
        /// Which seat.
        seat: Seat,
        /// Whether it accepted.
        accepted: bool,
    },
    /// The game was aborted before every seat had acted, by a seat or by the platform.
    Aborted(Option<Seat>),
    /// A seat's token was replaced by a new one.
    TokenReissued(Seat),
    /// A rematch was made: the game with this id.
    RematchMade(GameId),
    /// The platform ended the game.
    Adjudicated(Ruling),
    /// The id of the player in a seat was erased, also from what came before.
    PlayerErased(Seat),
    /// What happened before the game came here.
    Imported(Happening),
}

/// How the platform ends a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// With these places, in seat order.
    Places(ArrayVec<u8, { Seat::MAX }>),
    /// As aborted: nobody has won or lost.
    Aborted,
}

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The version of the game once the entry was written.
    pub version: Version,
    /// When it happened.
    pub at: Millis,
    /// What happened.
    pub event: Event,
}

/// Appends an entry's packed form.
pub(super) fn pack(bytes: &mut Vec<u8>, event: &Event, since_last: Span) {
    match event {
        Event::Played(action) => pack_action(bytes, *action),
        Event::Created => bytes.push(CREATED),
        Event::Joined { seat, entropy } => {
            bytes.extend([JOINED, seat.number(), entropy.as_ref().map_or(0, Entropy::length_byte)]);
            bytes.extend_from_slice(entropy.as_ref().map_or(&[], Entropy::as_bytes));
        }
        Event::EntropyAdded { seat, entropy } => {
            bytes.extend([ENTROPY_ADDED, seat.number(), entropy.length_byte()]);
            bytes.extend_from_slice(entropy.as_bytes());
        }
        Event::Resigned(seat) => bytes.extend([RESIGNED, seat.number()]),
        Event::ExpiredUnbegun => bytes.push(EXPIRED_UNBEGUN),
        Event::TimedOut(seat) => bytes.extend([TIMED_OUT, seat.number()]),
        Event::DrawOffered(seat) => bytes.extend([DRAW_OFFERED, seat.number()]),
        Event::DrawAnswered { seat, accepted } => {
            bytes.extend([if *accepted { DRAW_ACCEPTED } else { DRAW_DECLINED }, seat.number()]);
        }
        Event::TakebackAsked(seat) => bytes.extend([TAKEBACK_ASKED, seat.number()]),
        Event::TakebackAnswered { seat, accepted } => {
            let kind = if *accepted { TAKEBACK_ACCEPTED } else { TAKEBACK_DECLINED };
            bytes.extend([kind, seat.number()]);
        }
        Event::Aborted(seat) => bytes.extend([ABORTED, seat.map_or(0, Seat::number)]),
        Event::TokenReissued(seat) => bytes.extend([TOKEN_REISSUED, seat.number()]),
        Event::RematchMade(id) => {
            // An id has 1 to 64 bytes.
            bytes.extend([REMATCH_MADE, id.as_str().len() as u8]);
            bytes.extend_from_slice(id.as_str().as_bytes());
        }
        Event::Adjudicated(ruling) => pack_ruling(bytes, ADJUDICATED, ruling),
        Event::PlayerErased(seat) => bytes.extend([PLAYER_ERASED, seat.number()]),
        Event::Imported(Happening::Acted(action)) => {
            bytes.push(IMPORTED_ACTION);
            pack_action(bytes, *action);
        }
        Event::Imported(Happening::Left { seat, reason }) => {
            bytes.extend([IMPORTED_LEAVE, seat.number(), leave_number(*reason)]);
        }
        Event::Imported(Happening::Agreed) => bytes.push(IMPORTED_AGREEMENT),
        Event::Imported(Happening::Ended(ruling)) => pack_ruling(bytes, IMPORTED_RULING, ruling),
    }
    put_number(bytes, since_last.0);
}

fn pack_action(bytes: &mut Vec<u8>, action: Action) {
    match action {
        Action::Flip(square) => bytes.push(square.index()),
        Action::Move { from, to } => bytes.extend([MOVE + from.index(), to.index()]),
        Action::EndChain => bytes.push(END_CHAIN),
    }
}

fn pack_ruling(bytes: &mut Vec<u8>, kind: u8, ruling: &Ruling) {
    let places = match ruling {
        Ruling::Places(places) => places.as_slice(),
        Ruling::Aborted => &[],
    };
    // There is one for each of at most four seats.
    bytes.extend([kind, places.len() as u8]);
    bytes.extend_from_slice(places);
}

const fn leave_number(reason: LeaveReason) -> u8 {
    match reason {
        LeaveReason::Resignation => 1,
        LeaveReason::Timeout => 2,
        LeaveReason::Abandoned => 3,
    }
}

/// Reads one entry.
pub(super) fn unpack(reader: &mut Reader<'_>) -> Result<(Event, Span), PackingError> {
    let offset = reader.offset();
    let kind = reader.byte("a log entry")?;
    let event = match kind {
        0..=END_CHAIN => Event::Played(action(reader, kind)?),
        CREATED => Event::Created,
        JOINED => {
            let seat = seat(reader)?;
            let length = reader.byte("the length of entropy")?;
            let entropy = if length == 0 { None } else { Some(entropy(reader, length)?) };
            Event::Joined { seat, entropy }
        }
        ENTROPY_ADDED => {
            let seat = seat(reader)?;
            let length = reader.byte("the length of entropy")?;
            Event::EntropyAdded { seat, entropy: entropy(reader, length)? }
        }
        RESIGNED => Event::Resigned(seat(reader)?),
        EXPIRED_UNBEGUN => Event::ExpiredUnbegun,
        TIMED_OUT => Event::TimedOut(seat(reader)?),
        DRAW_OFFERED => Event::DrawOffered(seat(reader)?),
        DRAW_ACCEPTED | DRAW_DECLINED => {
            Event::DrawAnswered { seat: seat(reader)?, accepted: kind == DRAW_ACCEPTED }
        }
        TAKEBACK_ASKED => Event::TakebackAsked(seat(reader)?),
        TAKEBACK_ACCEPTED | TAKEBACK_DECLINED => {
            Event::TakebackAnswered { seat: seat(reader)?, accepted: kind == TAKEBACK_ACCEPTED }
        }
        ABORTED => {
            let fault = reader.broken("a seat, or 0");
            match reader.byte("a seat, or 0")? {
                0 => Event::Aborted(None),
                number => Event::Aborted(Some(Seat::new(number).ok_or(fault)?)),
            }
        }
        TOKEN_REISSUED => Event::TokenReissued(seat(reader)?),
        REMATCH_MADE => Event::RematchMade(game_id(reader)?),
        ADJUDICATED => Event::Adjudicated(ruling(reader)?),
        PLAYER_ERASED => Event::PlayerErased(seat(reader)?),
        IMPORTED_ACTION => {
            let fault = reader.broken("the kind of an action");
            match reader.byte("the kind of an action")? {
                kind @ 0..=END_CHAIN => Event::Imported(Happening::Acted(action(reader, kind)?)),
                _ => return Err(fault),
            }
        }
        IMPORTED_LEAVE => {
            let seat = seat(reader)?;
            Event::Imported(Happening::Left { seat, reason: leave_reason(reader)? })
        }
        IMPORTED_AGREEMENT => Event::Imported(Happening::Agreed),
        IMPORTED_RULING => Event::Imported(Happening::Ended(ruling(reader)?)),
        kind => return Err(PackingError::UnknownKind { offset, kind }),
    };
    Ok((event, Span(reader.number("milliseconds since the entry before")?)))
}

/// An action whose kind, at most [`END_CHAIN`], was read.
fn action(reader: &mut Reader<'_>, kind: u8) -> Result<Action, PackingError> {
    Ok(match kind {
        0..MOVE => Action::Flip(square(reader, kind)?),
        MOVE..END_CHAIN => {
            let from = square(reader, kind - MOVE)?;
            let to = reader.byte("the target of a move")?;
            let to = square(reader, to)?;
            if from == to {
                return Err(reader.broken("a move to another square"));
            }
            Action::Move { from, to }
        }
        END_CHAIN.. => Action::EndChain,
    })
}

fn leave_reason(reader: &mut Reader<'_>) -> Result<LeaveReason, PackingError> {
    let fault = reader.broken("why a seat left, 1 to 3");
    let number = reader.byte("why a seat left, 1 to 3")?;
    LeaveReason::ALL.into_iter().find(|reason| leave_number(*reason) == number).ok_or(fault)
}

fn square(reader: &Reader<'_>, index: u8) -> Result<Square, PackingError> {
    Square::new(index).ok_or_else(|| reader.broken("a square's index, 0 to 63"))
}

fn seat(reader: &mut Reader<'_>) -> Result<Seat, PackingError> {
    let fault = reader.broken("a seat, 1 to 4");
    Seat::new(reader.byte("a seat, 1 to 4")?).ok_or(fault)
}

fn ruling(reader: &mut Reader<'_>) -> Result<Ruling, PackingError> {
    let fault = reader.broken("the places of at most 4 seats");
    let count = reader.byte("how many places")?;
    let places = reader.take(count.into(), "places")?;
    Ok(match places.try_into().map_err(|_| fault)? {
        places if count > 0 => Ruling::Places(places),
        _ => Ruling::Aborted,
    })
}

fn game_id(reader: &mut Reader<'_>) -> Result<GameId, PackingError> {
    let fault = reader.broken("the id of a game");
    let length = reader.byte("the length of an id")?;
    let bytes = reader.take(length.into(), "the id of a game")?;
    std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()).ok_or(fault)
}

fn entropy(reader: &mut Reader<'_>, length: u8) -> Result<Entropy, PackingError> {
    let fault = reader.broken("entropy of 1 to 64 bytes");
    Entropy::new(reader.take(length.into(), "entropy of 1 to 64 bytes")?).map_err(|_| fault)
}
