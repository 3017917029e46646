//! Events of a log, written and read.

use super::document::EventDocument as Told;
use super::hexadecimal::Hexadecimal;
use super::restore::{DocumentFault, read_seat};
use crate::game::{Deed, Entropy, Event, Game, Happening, Ruling};
use crate::rules::{EndReason, LeaveReason, Record};

/// What an event is in the document.
pub(super) fn tell(game: &Game, event: &Event, deed: Deed) -> Told {
    let bytes = |entropy: &Entropy| Hexadecimal(entropy.as_bytes().to_vec());
    match event {
        Event::Created => Told::Created,
        Event::Joined { seat, entropy } => Told::Joined {
            seat: seat.number(),
            player_id: game.player(*seat).map(ToString::to_string),
            entropy: entropy.as_ref().map(bytes),
        },
        Event::EntropyAdded { seat, entropy } => {
            Told::EntropyAdded { seat: seat.number(), entropy: bytes(entropy) }
        }
        Event::Played(_) | Event::Imported(Happening::Acted(_)) => played(deed),
        Event::Resigned(seat) => Told::Resigned { seat: seat.number() },
        Event::TimedOut(seat) => Told::TimedOut {
            seat: seat.number(),
            reason: reason(deed.left.unwrap_or(LeaveReason::Timeout)),
        },
        Event::ExpiredUnbegun => Told::Expired,
        Event::Aborted(seat) => Told::Aborted { seat: seat.map(|seat| seat.number()) },
        Event::DrawOffered(seat) => Told::DrawOffered { seat: seat.number() },
        Event::DrawAnswered { seat, accepted } => {
            Told::DrawAnswered { seat: seat.number(), accepted: *accepted }
        }
        Event::TakebackAsked(seat) => Told::TakebackRequested { seat: seat.number() },
        Event::TakebackAnswered { seat, accepted } => {
            Told::TakebackAnswered { seat: seat.number(), accepted: *accepted, undone: deed.undone }
        }
        Event::TokenReissued(seat) => Told::SeatTokenReissued { seat: seat.number() },
        Event::RematchMade(id) => Told::RematchMade { game_id: id.to_string() },
        Event::Imported(Happening::Left { seat, reason: LeaveReason::Resignation }) => {
            Told::Resigned { seat: seat.number() }
        }
        Event::Imported(Happening::Left { seat, reason: left }) => {
            Told::TimedOut { seat: seat.number(), reason: reason(*left) }
        }
        Event::Imported(Happening::Agreed) => Told::Agreed,
        Event::Imported(Happening::Ended(Ruling::Aborted)) => Told::Aborted { seat: None },
        Event::Adjudicated(Ruling::Aborted) => Told::Adjudicated { places: Vec::new() },
        Event::Adjudicated(Ruling::Places(places))
        | Event::Imported(Happening::Ended(Ruling::Places(places))) => {
            Told::Adjudicated { places: places.to_vec() }
        }
        Event::PlayerErased(seat) => Told::PlayerErased { seat: seat.number() },
    }
}

fn played(deed: Deed) -> Told {
    // An entry that was played always has what it did.
    deed.played.map_or(Told::Created, |played| Told::Played {
        seat: played.seat.number(),
        turn: played.turn_number,
        record: played.record.to_string(),
    })
}

fn reason(reason: LeaveReason) -> String {
    EndReason::from(reason).name().to_owned()
}

impl Told {
    /// The event that this tells of.
    pub(super) fn event(&self, imported: bool) -> Result<Event, DocumentFault> {
        if imported {
            return self.happening().map(Event::Imported);
        }
        let seat = |number: &u8| read_seat("seat", *number);
        Ok(match self {
            Self::Created => Event::Created,
            Self::Joined { seat: number, entropy, .. } => Event::Joined {
                seat: seat(number)?,
                entropy: entropy.as_ref().map(read_entropy).transpose()?,
            },
            Self::EntropyAdded { seat: number, entropy } => {
                Event::EntropyAdded { seat: seat(number)?, entropy: read_entropy(entropy)? }
            }
            Self::Played { record, .. } => Event::Played(read_record(record)?.action()),
            Self::Resigned { seat: number } => Event::Resigned(seat(number)?),
            Self::TimedOut { seat: number, .. } => Event::TimedOut(seat(number)?),
            Self::Expired => Event::ExpiredUnbegun,
            Self::Aborted { seat: number } => {
                Event::Aborted(number.as_ref().map(seat).transpose()?)
            }
            Self::Agreed => {
                return Err(DocumentFault::new(
                    "event",
                    "agreed",
                    "one that is not imported alone",
                ));
            }
            Self::DrawOffered { seat: number } => Event::DrawOffered(seat(number)?),
            Self::DrawAnswered { seat: number, accepted } => {
                Event::DrawAnswered { seat: seat(number)?, accepted: *accepted }
            }
            Self::TakebackRequested { seat: number } => Event::TakebackAsked(seat(number)?),
            Self::TakebackAnswered { seat: number, accepted, .. } => {
                Event::TakebackAnswered { seat: seat(number)?, accepted: *accepted }
            }
            Self::SeatTokenReissued { seat: number } => Event::TokenReissued(seat(number)?),
            Self::RematchMade { game_id } => {
                Event::RematchMade(DocumentFault::check("game_id", game_id, "an id")?)
            }
            Self::Adjudicated { places } => Event::Adjudicated(read_ruling(places)?),
            Self::PlayerErased { seat: number } => Event::PlayerErased(seat(number)?),
        })
    }

    fn happening(&self) -> Result<Happening, DocumentFault> {
        Ok(match self {
            Self::Played { record, .. } => Happening::Acted(read_record(record)?.action()),
            Self::Resigned { seat } => Happening::Left {
                seat: read_seat("seat", *seat)?,
                reason: LeaveReason::Resignation,
            },
            Self::TimedOut { seat, reason: name } => {
                let known = LeaveReason::ALL.into_iter().find(|known| reason(*known) == *name);
                let reason = known
                    .ok_or_else(|| DocumentFault::new("reason", name, "TIMEOUT or ABANDONED"))?;
                Happening::Left { seat: read_seat("seat", *seat)?, reason }
            }
            Self::Agreed => Happening::Agreed,
            Self::Aborted { seat: None } => Happening::Ended(Ruling::Aborted),
            Self::Adjudicated { places } => Happening::Ended(read_ruling(places)?),
            _ => {
                return Err(DocumentFault::new("imported", "true", "an action or an end"));
            }
        })
    }
}

fn read_ruling(places: &[u8]) -> Result<Ruling, DocumentFault> {
    if places.is_empty() {
        return Ok(Ruling::Aborted);
    }
    let read = places.try_into().map(Ruling::Places);
    read.map_err(|_| DocumentFault::new("places", places.len(), "at most 4 places"))
}

fn read_record(text: &str) -> Result<Record, DocumentFault> {
    DocumentFault::check("record", text, "the record of an action")
}

fn read_entropy(bytes: &Hexadecimal) -> Result<Entropy, DocumentFault> {
    Entropy::new(&bytes.0).map_err(|_| DocumentFault::new("entropy", bytes, "1 to 64 bytes"))
}
