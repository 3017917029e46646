//! Entries of a shard's feed and outbox.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;

use crate::game::Span;

/// How long an entry of a feed is kept.
pub const FEED_KEPT: Span = Span::days(7);

/// Where an entry stands in its shard's feed or outbox. Later entries have greater ids.
///
/// As text it is the time in milliseconds, a dash, and the number among those of the same
/// millisecond, which is how Redis writes the ids of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId {
    /// When it was added, in milliseconds since the Unix epoch on the store's own clock.
    pub millis: u64,
    /// Which of those of the same millisecond it is, from 0.
    pub sequence: u64,
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.millis, self.sequence)
    }
}

/// A text that is no entry's id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id of an entry: one is two numbers and a dash between them")]
pub struct EntryIdError(pub String);

impl FromStr for EntryId {
    type Err = EntryIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (millis, sequence) = text.split_once('-')?;
            Some(Self { millis: millis.parse().ok()?, sequence: sequence.parse().ok()? })
        };
        read().ok_or_else(|| EntryIdError(text.chars().take(80).collect()))
    }
}

/// One entry of a feed or an outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands.
    pub id: EntryId,
    /// What it says; a store never looks into it.
    pub content: Bytes,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_and_sort_by_age() {
        let early = EntryId { millis: 99, sequence: 11 };
        let late = EntryId { millis: 100, sequence: 2 };
        assert!(early < late);
        assert_eq!(late.to_string(), "100-2");
        assert_eq!("100-2".parse(), Ok(late));
        for text in ["", "100", "-1", "1-", "1-2-3", "a-b"] {
            assert_eq!(text.parse::<EntryId>(), Err(EntryIdError(text.into())));
        }
    }
}
