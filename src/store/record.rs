//! The stored record: a fixed header that the store reads, and a payload that it does not.

use bytes::Bytes;

use crate::game::{History, Revision, Version};

/// A game as it is stored: what a store needs to know of it, and the rest as opaque bytes.
///
/// On the wire and on disk it is [`Record::HEADER_LENGTH`] bytes of header – the format (one
/// byte), the revision (eight bytes, big-endian) and the history (eight bytes) – and then the
/// payload.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// In which format the payload is written. A store compares nothing with it.
    pub format: u8,
    /// Which state of which course of the game: what compare-and-set compares.
    pub version: Version,
    /// The game, encoded; a store never looks into it.
    pub payload: Bytes,
}

impl Record {
    /// How long the header before the payload is, in bytes.
    pub const HEADER_LENGTH: usize = 17;

    /// Reads a stored value.
    ///
    /// # Errors
    /// [`CorruptRecord`] when the value is shorter than the header.
    pub fn from_stored(stored: Bytes) -> Result<Self, CorruptRecord> {
        let (format, version) = parse_header(&stored)?;
        Ok(Self { format, version, payload: stored.slice(Self::HEADER_LENGTH..) })
    }

    /// The header as it is stored before the payload.
    pub fn header(&self) -> [u8; Self::HEADER_LENGTH] {
        header_bytes(self.format, self.version)
    }

    /// How long the stored value is, in bytes.
    pub fn stored_length(&self) -> usize {
        Self::HEADER_LENGTH + self.payload.len()
    }
}

impl std::fmt::Debug for Record {
    /// Tells how long the payload is, not what is in it: what a game hides stays hidden.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record")
            .field("format", &self.format)
            .field("version", &self.version)
            .field("payload", &format_args!("{} bytes", self.payload.len()))
            .finish()
    }
}

/// A stored value that is too short to be a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the stored record is corrupt: it is {length} bytes long, and its header alone has {}",
    Record::HEADER_LENGTH
)]
pub struct CorruptRecord {
    /// How long the stored value is, in bytes.
    pub length: usize,
}

/// What stands under one id, read among many: a record, nothing, or something that is no record.
/// One corrupt record does not spoil the reading of the others.
pub type Found<T> = Result<Option<T>, CorruptRecord>;

/// The header of a record of this format and version.
pub(super) fn header_bytes(format: u8, version: Version) -> [u8; Record::HEADER_LENGTH] {
    let mut header = [0; Record::HEADER_LENGTH];
    header[0] = format;
    header[1..].copy_from_slice(&version_bytes(version));
    header
}

/// A version as it stands in the header, after the format.
pub(super) fn version_bytes(version: Version) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&version.revision.0.to_be_bytes());
    bytes[8..].copy_from_slice(&version.history.0);
    bytes
}

/// The format and version that a stored value, or its first 17 bytes, begins with.
pub(super) fn parse_header(stored: &[u8]) -> Result<(u8, Version), CorruptRecord> {
    let corrupt = CorruptRecord { length: stored.len() };
    let (&format, rest) = stored.split_first().ok_or(corrupt)?;
    let (&revision, rest) = rest.split_first_chunk::<8>().ok_or(corrupt)?;
    let (&history, _) = rest.split_first_chunk::<8>().ok_or(corrupt)?;
    let revision = Revision(u64::from_be_bytes(revision));
    Ok((format, Version { revision, history: History(history) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let version = Version { revision: Revision(0x0102), history: History(*b"historic") };
        Record { format: 7, version, payload: Bytes::from_static(b"payload") }
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        let record = record();
        let stored = Bytes::from([&record.header()[..], &record.payload].concat());
        assert_eq!(stored[..17], *b"\x07\0\0\0\0\0\0\x01\x02historic");
        assert_eq!(stored.len(), record.stored_length());
        assert_eq!(Record::from_stored(stored), Ok(record));
    }

    #[test]
    fn a_value_shorter_than_the_header_is_corrupt() {
        for length in 0..Record::HEADER_LENGTH {
            let stored = Bytes::copy_from_slice(&record().header()[..length]);
            assert_eq!(Record::from_stored(stored), Err(CorruptRecord { length }));
        }
    }

    #[test]
    fn debug_output_hides_the_payload() {
        assert!(!format!("{:?}", record()).contains("payload\""));
        assert!(format!("{:?}", record()).contains("7 bytes"));
    }
}
