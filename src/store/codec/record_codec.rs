//! How the records of a store are written and read.

use std::sync::Arc;

use rand::rngs::SysError;
use zeroize::Zeroizing;

use super::read::read_message;
use super::seal_key::{AssociatedData, Sealed};
use super::write::{put_game, usual_length};
use super::{CodecError, RecordFormat, SealKeys, write};
use crate::game::{GameId, Log, StoredGame};
use crate::store::Record;

/// How records are written, and which can be read. The default writes the format that the release
/// before this one writes, and has no keys.
#[derive(Clone, Debug)]
pub struct RecordCodec {
    writing: Writing,
    newest: RecordFormat,
}

/// In which format records are written, and with the keys for what.
#[derive(Clone, Debug)]
enum Writing {
    /// Format 1. Keys open what others have sealed.
    Plain { opening: Option<Arc<SealKeys>> },
    /// Format 2. There is no sealing without a key.
    Sealed(Arc<SealKeys>),
}

/// Records were to be sealed without a key to do it with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("records of format {0} are sealed, and there are no keys to seal them with")]
pub struct SealedWithoutKeys(pub RecordFormat);

impl Default for RecordCodec {
    fn default() -> Self {
        Self { writing: Writing::Plain { opening: None }, newest: RecordFormat::NEWEST }
    }
}

impl RecordCodec {
    /// Writes this format; keys seal a sealed one, and open what is sealed in any case.
    ///
    /// # Errors
    /// Where the format is sealed and there are no keys.
    pub fn new(format: RecordFormat, keys: Option<SealKeys>) -> Result<Self, SealedWithoutKeys> {
        let keys = keys.map(Arc::new);
        let writing = match (format, keys) {
            (RecordFormat::One, opening) => Writing::Plain { opening },
            (RecordFormat::Two, Some(keys)) => Writing::Sealed(keys),
            (RecordFormat::Two, None) => return Err(SealedWithoutKeys(format)),
        };
        Ok(Self { writing, ..Self::default() })
    }

    /// As a release reads and writes that has no newer format than format 1: it stands for that
    /// release in tests of two releases side by side.
    pub fn of_the_first_release() -> Self {
        Self { newest: RecordFormat::One, ..Self::default() }
    }

    /// The format that is written.
    pub fn format(&self) -> RecordFormat {
        match self.writing {
            Writing::Plain { .. } => RecordFormat::One,
            Writing::Sealed(_) => RecordFormat::Two,
        }
    }

    /// The keys that open what is sealed.
    pub fn keys(&self) -> Option<&SealKeys> {
        match &self.writing {
            Writing::Plain { opening } => opening.as_deref(),
            Writing::Sealed(keys) => Some(keys),
        }
    }

    /// The record of a game.
    ///
    /// # Errors
    /// Where it is to be sealed, and the operating system has no randomness to give.
    pub fn write(&self, game: &StoredGame) -> Result<Record, SysError> {
        let keys = match &self.writing {
            Writing::Plain { .. } => return Ok(write(game)),
            Writing::Sealed(keys) => keys,
        };
        let (format, version) = (self.format().number(), game.log.version());
        let associated = AssociatedData::of(&game.id, format, version);
        // With so much room that it need not move, and leave behind a copy that is not wiped.
        let mut message = Zeroizing::new(Vec::with_capacity(2 * usual_length(game)));
        put_game(game, &mut message);
        let payload = keys.sealing().seal(&associated, &message)?.into();
        Ok(Record { format, version, payload })
    }

    /// The game that a record is.
    ///
    /// # Errors
    /// Where the record is of a newer format, sealed with a key that is not there, broken, or not
    /// what the header says.
    pub fn read(&self, id: &GameId, record: &Record) -> Result<StoredGame, CodecError> {
        self.read_with(id, record, None)
    }

    /// Like [`Self::read`], but sparing what `known` has of the log already. Where the record goes
    /// on from that one, only what was added is read and hashed.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_on(&self, known: &StoredGame, record: &Record) -> Result<StoredGame, CodecError> {
        self.read_with(&known.id, record, Some(&known.log))
    }

    fn read_with(
        &self,
        id: &GameId,
        record: &Record,
        known: Option<&Log>,
    ) -> Result<StoredGame, CodecError> {
        let format = RecordFormat::from_number(record.format);
        match format.filter(|format| *format <= self.newest) {
            Some(RecordFormat::One) => read_message(id, record.version, &record.payload, known),
            Some(RecordFormat::Two) => {
                let message = self.unseal(id, record)?;
                read_message(id, record.version, &message, known)
            }
            None if record.format == 0 => Err(CodecError::NoFormat),
            None => Err(CodecError::NewerFormat { format: record.format, newest: self.newest }),
        }
    }

    fn unseal(&self, id: &GameId, record: &Record) -> Result<Zeroizing<Vec<u8>>, CodecError> {
        let length = record.payload.len();
        let sealed = Sealed::parse(&record.payload).ok_or(CodecError::SealCut { length })?;
        let key = self.keys().and_then(|keys| keys.find(sealed.key));
        let key = key.ok_or(CodecError::UnknownSealKey { key: sealed.key })?;
        let opened = key.open(&AssociatedData::of(id, record.format, record.version), &sealed);
        opened.ok_or(CodecError::SealBroken { key: sealed.key })
    }
}
