//! The log: one entry a revision, kept as the bytes that were first written.

use super::event::{Entry, Event, pack, unpack};
use super::packing::{PackingError, Reader};
use super::revision::{History, Revision, Version};
use super::time::Millis;
use crate::rules::Growing;

/// A game's log. It always has its first entry, [`Event::Created`], and contains nothing hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    bytes: Growing<u8>,
    /// One a revision; the first is the random origin of the chain.
    histories: Growing<History>,
    /// The history of the last entry, also at the end of `histories`.
    last: History,
    last_at: Millis,
}

impl Log {
    /// A log with its first entry. `origin` should be random.
    pub fn begin(origin: History, at: Millis) -> Self {
        let mut bytes = Vec::new();
        pack(&mut bytes, &Event::Created, at.since(Millis(0)));
        Self { bytes: bytes.into(), histories: vec![origin].into(), last: origin, last_at: at }
    }

    /// The log with these bytes, as [`Log::bytes`] gave them.
    ///
    /// # Errors
    /// Where they are no log, or one of a newer format.
    pub fn read(origin: History, bytes: Vec<u8>) -> Result<Self, PackingError> {
        let mut reader = Reader::new(&bytes, 0);
        let (event, since_epoch) = unpack(&mut reader)?;
        if event != Event::Created {
            return Err(PackingError::Broken { offset: 0, expected: "the entry of the creation" });
        }
        let begun = reader.offset();
        let mut log = Self {
            bytes: Growing::default(),
            histories: vec![origin].into(),
            last: origin,
            last_at: Millis(since_epoch.0),
        };
        log.read_entries(bytes, begun)?;
        Ok(log)
    }

    /// The log with these bytes, where they go on from this one; `None` where they do not, or hold
    /// something broken or new that [`Log::read`] will name. Costs only what was added.
    pub fn read_on(&self, origin: History, bytes: &[u8]) -> Option<Self> {
        if self.origin() != origin || !bytes.starts_with(self.bytes()) {
            return None;
        }
        let mut log = self.clone();
        log.read_entries(bytes.to_vec(), self.bytes.len()).ok()?;
        Some(log)
    }

    /// Takes `bytes` as its own, of which those before `start` were read already.
    fn read_entries(&mut self, bytes: Vec<u8>, start: usize) -> Result<(), PackingError> {
        let mut reader = Reader::new(&bytes, start);
        while !reader.is_at_end() {
            let offset = reader.offset();
            let (event, since_last) = unpack(&mut reader)?;
            let at = self.last_at.0.checked_add(since_last.0);
            let Some(at) = at.filter(|_| event != Event::Created) else {
                let expected = "an entry after the creation, at a time below 2^64";
                return Err(PackingError::Broken { offset, expected });
            };
            self.last_at = Millis(at);
            self.last = self.last.then(&bytes[offset..reader.offset()]);
            self.histories.push(self.last);
        }
        self.bytes = bytes.into();
        Ok(())
    }

    /// Appends an entry. A time before the last entry's counts as the last entry's: a game's time
    /// never goes back.
    pub fn push(&mut self, event: &Event, at: Millis) {
        let start = self.bytes.len();
        pack(&mut self.bytes, event, at.since(self.last_at));
        self.last_at = self.last_at.max(at);
        self.last = self.last.then(&self.bytes[start..]);
        self.histories.push(self.last);
    }

    /// The random bytes that the chain of histories begins with.
    pub fn origin(&self) -> History {
        self.histories.first().copied().unwrap_or(self.last)
    }

    /// The entries, packed.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many entries.
    pub fn revision(&self) -> Revision {
        Revision(self.histories.len() as u64)
    }

    /// The version that the last entry made.
    pub fn version(&self) -> Version {
        Version { revision: self.revision(), history: self.last }
    }

    /// The version with this revision; `None` for 0 and for a revision still to come.
    pub fn version_at(&self, revision: Revision) -> Option<Version> {
        let index = usize::try_from(revision.0.checked_sub(1)?).ok()?;
        Some(Version { revision, history: *self.histories.get(index)? })
    }

    /// When the last entry was written.
    pub fn last_at(&self) -> Millis {
        self.last_at
    }

    /// The entries, the first one first.
    pub fn entries(&self) -> Entries<'_> {
        self.entries_from(0, 0, Millis(0))
    }

    /// The entries that come after those of `earlier`, which must be a beginning of this log.
    pub(super) fn entries_after(&self, earlier: &Self) -> Entries<'_> {
        self.entries_from(earlier.bytes.len(), earlier.histories.len(), earlier.last_at)
    }

    fn entries_from(&self, offset: usize, index: usize, at: Millis) -> Entries<'_> {
        Entries { reader: Reader::new(&self.bytes, offset), histories: &self.histories, index, at }
    }

    /// This log as it was at a revision; `None` for 0 and for a revision still to come.
    pub fn cut(&self, revision: Revision) -> Option<Self> {
        let version = self.version_at(revision)?;
        let mut entries = self.entries();
        let last = entries.by_ref().find(|entry| entry.version == version)?;
        Some(Self {
            bytes: self.bytes[..entries.reader.offset()].to_vec().into(),
            histories: self.histories[..entries.index].to_vec().into(),
            last: version.history,
            last_at: last.at,
        })
    }
}

/// Entries of a log, read one by one.
pub struct Entries<'a> {
    reader: Reader<'a>,
    histories: &'a [History],
    index: usize,
    at: Millis,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let history = *self.histories.get(self.index)?;
        // Every byte was read once when the log was made, so there is no fault left to tell.
        let (event, since_last) = unpack(&mut self.reader).ok()?;
        self.index += 1;
        self.at = self.at + since_last;
        let version = Version { revision: Revision(self.index as u64), history };
        Some(Entry { version, at: self.at, event })
    }
}
