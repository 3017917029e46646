//! Where a reader of the feeds stands.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use prost::Message as _;

use crate::api::error::{ApiError, Reason};
use crate::game::{Millis, Span};
use crate::store::{EntryId, FEED_KEPT, Shard, ShardCount};

/// How far the clocks of this replica and of a store may be apart without a cursor being taken for
/// younger than it is.
const MARGIN: Span = Span::hours(1);

/// What a cursor says, as it is encoded.
#[derive(Clone, PartialEq, prost::Message)]
struct Encoded {
    /// The shard, where it is for one only.
    #[prost(uint32, optional, tag = "1")]
    shard: Option<u32>,
    /// Since when, at the latest, something may be unread.
    #[prost(uint64, tag = "2")]
    unread_since: u64,
    /// For each shard the milliseconds of its place, less those of `base`; 0 for its beginning.
    #[prost(uint64, repeated, tag = "3")]
    millis: Vec<u64>,
    /// For each shard the number of its place.
    #[prost(uint64, repeated, tag = "4")]
    sequences: Vec<u64>,
    /// One less than the earliest time of any place.
    #[prost(uint64, tag = "5")]
    base: u64,
}

/// Where a reader of the feeds stands: after which entry of each shard. As text it is opaque.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::api) struct Cursor {
    /// The shard, where it is for one only.
    pub(super) shard: Option<Shard>,
    /// After which entry of each shard, in order.
    pub(super) places: Vec<EntryId>,
    /// Since when, at the latest, something may be unread; 0 for a reader that has read nothing.
    pub(super) unread_since: Millis,
}

impl Cursor {
    /// Before everything that is kept.
    pub(in crate::api) fn beginning(shard: Option<Shard>, shards: ShardCount) -> Self {
        let count = if shard.is_some() { 1 } else { shards.get().into() };
        Self { shard, places: vec![EntryId::default(); count], unread_since: Millis(0) }
    }

    /// The shards that it is for.
    pub(super) fn shards(&self, shards: ShardCount) -> Vec<Shard> {
        self.shard.map_or_else(|| shards.iter().collect(), |shard| vec![shard])
    }

    /// Reads a cursor for these shards.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(in crate::api) fn read(
        text: &str,
        shard: Option<Shard>,
        shards: ShardCount,
    ) -> Result<Self, String> {
        let read = || {
            let encoded = Encoded::decode(&*URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
            let expected = Self::beginning(shard, shards).places.len();
            let fits = encoded.shard == shard.map(|shard| shard.number().into())
                && encoded.millis.len() == expected
                && encoded.sequences.len() == expected;
            let place = |(&millis, &sequence): (&u64, &u64)| match millis {
                0 => Some(EntryId::default()),
                millis => Some(EntryId { millis: encoded.base.checked_add(millis)?, sequence }),
            };
            let places = encoded.millis.iter().zip(&encoded.sequences).map(place);
            let places = places.collect::<Option<_>>().filter(|_| fits)?;
            Some(Self { shard, places, unread_since: Millis(encoded.unread_since) })
        };
        read().ok_or_else(|| {
            "is no cursor of this stream: send one back just as a message gave it, with the same \
             `shard`"
                .to_owned()
        })
    }

    /// Its text: some bytes for one shard, and some kilobytes for all.
    pub(super) fn to_text(&self) -> String {
        let times = || self.places.iter().map(|place| place.millis);
        let base = times().filter(|millis| *millis > 0).min().map_or(0, |least| least - 1);
        let encoded = Encoded {
            shard: self.shard.map(|shard| shard.number().into()),
            unread_since: self.unread_since.0,
            millis: times().map(|millis| millis.saturating_sub(base)).collect(),
            sequences: self.places.iter().map(|place| place.sequence).collect(),
            base,
        };
        URL_SAFE_NO_PAD.encode(encoded.encode_to_vec())
    }

    /// Refuses a cursor after which something may be gone.
    ///
    /// # Errors
    /// Where it is too old.
    pub(super) fn check_kept(&self, now: Millis) -> Result<(), ApiError> {
        let since = self.unread_since;
        if since == Millis(0) || since + (FEED_KEPT - MARGIN) > now {
            return Ok(());
        }
        Err(ApiError::new(
            Reason::CursorExpired,
            "what follows `after_cursor` is kept for 7 days, and it is older: begin anew without \
             a cursor, and read the games themselves for what was missed",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(shard: Option<Shard>, places: Vec<EntryId>) -> Cursor {
        Cursor { shard, places, unread_since: Millis(7) }
    }

    #[test]
    fn a_cursor_reads_back_for_its_own_shards_only() {
        let shards = ShardCount::new(3).expect("a count");
        let one = shards.shard(1);
        let id = |millis, sequence| EntryId { millis, sequence };
        let here = cursor(one, vec![id(12, 3)]);
        let all = cursor(None, vec![id(12, 3), EntryId::default(), id(1_700_000_000_000, 0)]);
        assert_eq!(Cursor::read(&here.to_text(), one, shards), Ok(here.clone()));
        assert_eq!(Cursor::read(&all.to_text(), None, shards), Ok(all.clone()));
        assert!(Cursor::read(&here.to_text(), shards.shard(2), shards).is_err());
        assert!(Cursor::read(&here.to_text(), None, shards).is_err());
        assert!(Cursor::read(&all.to_text(), None, ShardCount::default()).is_err());
        for text in ["", "yesterday", "all.12"] {
            assert!(Cursor::read(text, None, shards).is_err(), "{text}");
        }
    }

    #[test]
    fn a_cursor_of_all_shards_is_a_few_kilobytes() {
        let places = (0..1024).map(|number| EntryId {
            millis: 1_700_000_000_000 + number * 590_000,
            sequence: number % 3,
        });
        let text = cursor(None, places.collect()).to_text();
        assert!(text.len() < 9_000, "{}", text.len());
    }

    #[test]
    fn a_cursor_older_than_what_is_kept_is_refused() {
        let now = Millis(Span::days(100).0);
        let mut cursor = cursor(None, Vec::new());
        for (since, kept) in [(0, true), (94, true), (93, false)] {
            cursor.unread_since = Millis(Span::days(since).0);
            assert_eq!(cursor.check_kept(now).is_ok(), kept, "{since}");
        }
    }
}
