//! Request ids: what makes a call safe to retry.

use sha2::{Digest, Sha256};

use super::packing::{PackingError, Reader, put_number};
use super::revision::Revision;
use crate::rules::{Growing, Seat};

/// How many requests of each seat, and of the platform, a game remembers beside those that created
/// it and joined it.
pub const REMEMBERED_EACH: usize = 8;

/// A call's request id with who called and what was asked, hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    id: [u8; 8],
    body: [u8; 4],
    seat: Option<Seat>,
}

impl Request {
    /// A request.
    ///
    /// `caller` tells callers apart, such as a seat or the name of an API key; `seat` is the seat
    /// that acts, if the call comes from one; `body` is the request without credentials.
    pub fn new(caller: &[u8], seat: Option<Seat>, request_id: &str, body: &[u8]) -> Self {
        // The length in front keeps apart pairs that are the same text when joined.
        let id = Sha256::new()
            .chain_update((caller.len() as u64).to_be_bytes())
            .chain_update(caller)
            .chain_update(request_id)
            .finalize();
        Self { id: cut(&id), body: cut(&Sha256::digest(body)), seat }
    }
}

fn cut<const N: usize>(hash: &[u8]) -> [u8; N] {
    let mut cut = [0; N];
    cut.copy_from_slice(&hash[..N]);
    cut
}

/// How long a request is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// As long as the game: creation and joins.
    Lasting,
    /// Among the last of a seat.
    Seat(Seat),
    /// Among the last of those that came from no seat.
    Platform,
}

impl Scope {
    const PLATFORM_BYTE: u8 = 5;

    fn to_byte(self) -> u8 {
        match self {
            Self::Lasting => 0,
            Self::Seat(seat) => seat.number(),
            Self::Platform => Self::PLATFORM_BYTE,
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Lasting),
            Self::PLATFORM_BYTE => Some(Self::Platform),
            number => Seat::new(number).map(Self::Seat),
        }
    }
}

/// A request that had an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Remembered {
    scope: Scope,
    revision: Revision,
    id: [u8; 8],
    body: [u8; 4],
}

/// What a game knows of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recall {
    /// It had its effect already, and made this revision.
    Done(Revision),
    /// Its id was used before by the same caller, for something else.
    Reused,
}

/// The requests that a game remembers, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests(Growing<Remembered>);

impl Requests {
    /// What is known of a request, if anything.
    pub fn recall(&self, request: &Request) -> Option<Recall> {
        let known = self.0.iter().find(|known| known.id == request.id)?;
        Some(if known.body == request.body { Recall::Done(known.revision) } else { Recall::Reused })
    }

    /// Remembers what made a revision; the oldest of the same seat, or of the platform, gives way.
    pub(super) fn remember(&mut self, request: Request, revision: Revision, lasting: bool) {
        let scope = match request.seat {
            _ if lasting => Scope::Lasting,
            Some(seat) => Scope::Seat(seat),
            None => Scope::Platform,
        };
        let mut same = self.0.iter().enumerate().filter(|(_, known)| known.scope == scope);
        let oldest = same.next().map(|(index, _)| index);
        if scope != Scope::Lasting && same.count() + 1 >= REMEMBERED_EACH {
            oldest.map(|index| self.0.remove(index));
        }
        self.0.push(Remembered { scope, revision, id: request.id, body: request.body });
    }

    /// Those that made this revision or one before it.
    pub(super) fn cut(&self, revision: Revision) -> Self {
        Self(self.0.iter().filter(|known| known.revision <= revision).copied().collect())
    }

    /// Packed for the stored record: each is a byte (0 kept as long as the game, 1 to 4 the seat, 5
    /// the platform), the revision as a variable-length number, 8 bytes of the id's hash, 4 of the
    /// body's.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16 * self.0.len());
        for known in self.0.iter() {
            bytes.push(known.scope.to_byte());
            put_number(&mut bytes, known.revision.0);
            bytes.extend(known.id);
            bytes.extend(known.body);
        }
        bytes
    }

    /// Reads what [`Requests::to_bytes`] wrote in a game that stands at revision `last`.
    ///
    /// # Errors
    /// Where the bytes are something else.
    pub fn from_bytes(bytes: &[u8], last: Revision) -> Result<Self, PackingError> {
        let mut reader = Reader::new(bytes, 0);
        let mut requests = Vec::new();
        while !reader.is_at_end() {
            let fault = reader.broken("whose request it was, 0 to 5");
            let scope = Scope::from_byte(reader.byte("whose request it was")?).ok_or(fault)?;
            let fault = reader.broken("a revision that the game has");
            let revision = Revision(reader.number("a revision")?);
            if revision.0 == 0 || revision > last {
                return Err(fault);
            }
            let id = reader.array("8 bytes of a request id")?;
            let body = reader.array("4 bytes of a body")?;
            requests.push(Remembered { scope, revision, id, body });
        }
        Ok(Self(requests.into()))
    }
}
