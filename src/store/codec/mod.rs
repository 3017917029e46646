//! The stored form of a game: the only place where the storage schema is touched.
//!
//! Reading is strict. A record that holds a field, a value or a log entry which this release does
//! not know is refused, because writing it again would lose what was not understood.

mod format;
mod index_task;
mod lifecycle;
mod names;
mod read;
mod record_codec;
mod seal_key;
mod seal_keys;
mod time_control;
pub(crate) mod wire;
mod write;

pub use format::{RecordFormat, RecordFormatError};
pub use index_task::{IndexChange, IndexTask, IndexTaskError};
pub use lifecycle::Lifecycle;
pub use read::{read, read_on};
pub use record_codec::{RecordCodec, SealedWithoutKeys};
pub use seal_key::{SealKeyError, SealKeyId};
pub use seal_keys::{SealKeyFault, SealKeyLineError, SealKeys, SealKeysError};
pub use write::write;

use crate::game::{NewGameFault, PackingError};
use crate::rules::{DealError, RuleFault};

/// Generated from `proto/banqi/storage/v1/record.proto`, which has the comments.
#[allow(clippy::all, missing_docs, unreachable_pub)]
mod proto {
    include!(concat!(env!("OUT_DIR"), "/banqi.storage.v1.rs"));
}

/// Why a stored value cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CodecError {
    /// A later release wrote it.
    #[error("the record has the newer format {format}; this release reads formats up to {newest}")]
    NewerFormat {
        /// Which format it has.
        format: u8,
        /// The newest that can be read.
        newest: RecordFormat,
    },
    /// It is of no format.
    #[error("the record has format 0; formats begin at 1")]
    NoFormat,
    /// It is sealed with a key that is not among those at hand.
    #[error(
        "the record is sealed with the key {key}, which is not among the keys to open records with"
    )]
    UnknownSealKey {
        /// Which key it would take.
        key: SealKeyId,
    },
    /// It does not open with the key that it says it is sealed with.
    #[error(
        "the record does not open with its key {key}: it was changed, or was stored for another \
         game or state"
    )]
    SealBroken {
        /// Which key it says it is sealed with.
        key: SealKeyId,
    },
    /// It is too short to be sealed.
    #[error(
        "the sealed record has {length} bytes after its header; the seal alone takes {}",
        seal_key::Sealed::OVERHEAD
    )]
    SealCut {
        /// How many bytes it has after its header.
        length: usize,
    },
    /// It is no message of the schema.
    #[error("the record cannot be decoded: {0}")]
    Message(#[from] prost::DecodeError),
    /// It holds fields that this release does not know, or was not written by any release.
    #[error(
        "the record has {given} bytes of which {known} are understood: a newer format, or broken"
    )]
    NotUnderstood {
        /// How many bytes there are.
        given: usize,
        /// How many a rewriting would leave.
        known: usize,
    },
    /// An enum's value of a newer format.
    #[error("`{name}` has the unknown value {number}: a newer format")]
    UnknownNumber {
        /// The enum in the schema.
        name: &'static str,
        /// Its value.
        number: i32,
    },
    /// A field that every record has.
    #[error("`{field}` is missing")]
    Missing {
        /// Which.
        field: &'static str,
    },
    /// A field with something that it cannot hold.
    #[error("`{field}` is {value}, but must be {expected}")]
    Field {
        /// Which.
        field: &'static str,
        /// What it holds; for a secret, only its length.
        value: String,
        /// What would be right.
        expected: &'static str,
    },
    /// Rules that make no sense.
    #[error("the rules make no sense: {}", list(.0))]
    Rules(Vec<RuleFault>),
    /// A time control that makes no sense.
    #[error("the time control makes no sense: {}", list(.0))]
    TimeControl(Vec<NewGameFault>),
    /// A given deal that is none.
    #[error("the given deal is none: {0}")]
    Deal(DealError),
    /// A log that is none, or of a newer format.
    #[error("the log cannot be read: {0}")]
    Log(PackingError),
    /// Remembered requests that are none.
    #[error("the remembered requests cannot be read: {0}")]
    Requests(PackingError),
    /// The header tells of another log than the record has.
    #[error("the header says {header:?}, but the log comes to {log:?}")]
    Header {
        /// The header's version.
        header: crate::game::Version,
        /// The log's.
        log: crate::game::Version,
    },
}

impl CodecError {
    /// Whether another replica may be able to read the record: one of a newer release, or one that
    /// has its key.
    pub fn may_be_read_elsewhere(&self) -> bool {
        self.is_newer() || matches!(self, Self::UnknownSealKey { .. })
    }

    /// Whether the record is of a newer format rather than broken.
    pub fn is_newer(&self) -> bool {
        matches!(
            self,
            Self::NewerFormat { .. }
                | Self::UnknownNumber { .. }
                | Self::Log(PackingError::UnknownKind { .. })
        )
    }
}

fn list(faults: &[impl ToString]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
