//! Page tokens: where a list goes on.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use prost::Message as _;
use sha2::{Digest as _, Sha256};

use crate::game::Millis;
use crate::store::IndexEntry;

/// The form of the tokens that this release gives, and the only one that it takes.
const VERSION: u32 = 1;

/// What a token says, as it is encoded.
#[derive(Clone, PartialEq, prost::Message)]
struct Encoded {
    #[prost(uint32, tag = "1")]
    version: u32,
    /// What tells the list from others.
    #[prost(bytes = "vec", tag = "2")]
    list: Vec<u8>,
    /// When the last game was created that was looked at, and which it was.
    #[prost(uint64, tag = "3")]
    created: u64,
    #[prost(string, tag = "4")]
    game: String,
}

/// Which list a token goes on with: what was asked for, hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List([u8; 8]);

impl List {
    /// The list that answers a request, of which all is given that other pages have in common.
    pub(super) fn of<'a>(call: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new_with_prefix(call);
        for part in parts {
            // The length in front keeps apart lists that are the same bytes when joined.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let mut cut = [0; 8];
        cut.copy_from_slice(&hash.finalize()[..8]);
        Self(cut)
    }

    /// The token to go on with after a game.
    pub(super) fn after(self, last: &IndexEntry) -> String {
        let encoded = Encoded {
            version: VERSION,
            list: self.0.to_vec(),
            created: last.created.0,
            game: last.game.to_string(),
        };
        URL_SAFE_NO_PAD.encode(encoded.encode_to_vec())
    }

    /// The game to go on after; `None` for no token.
    ///
    /// # Errors
    /// What is wrong with the token.
    pub(super) fn read(self, text: &str) -> Result<Option<IndexEntry>, &'static str> {
        if text.is_empty() {
            return Ok(None);
        }
        let read = || {
            let encoded = Encoded::decode(&*URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
            let game = encoded.game.parse().ok()?;
            let entry = IndexEntry { created: Millis(encoded.created), game };
            (encoded.version == VERSION).then_some((encoded.list, entry))
        };
        let (list, entry) =
            read().ok_or("is no page token: send back the next_page_token of an answer")?;
        if list != self.0 {
            return Err("goes on with another request: send all its fields but page_size again");
        }
        Ok(Some(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(parts: &[&[u8]]) -> List {
        List::of("List", parts.iter().copied())
    }

    #[test]
    fn a_token_reads_back_for_its_own_list_only() {
        let entry = IndexEntry { created: Millis(7), game: "g".parse().expect("an id") };
        let mine = list(&[b"ab", b"c"]);
        let token = mine.after(&entry);
        assert_eq!(mine.read(&token), Ok(Some(entry)));
        assert_eq!(mine.read(""), Ok(None));
        for other in [list(&[b"a", b"bc"]), list(&[b"ab"]), List::of("Lists", [&b"ab"[..], b"c"])] {
            assert!(other.read(&token).expect_err("another list").contains("another request"));
        }
        let newer = Encoded { version: 2, list: mine.0.to_vec(), created: 1, game: "g".to_owned() };
        let newer = URL_SAFE_NO_PAD.encode(newer.encode_to_vec());
        for text in ["?", "AAAA", &token[1..], &newer] {
            assert!(mine.read(text).expect_err("no token").contains("no page token"), "{text}");
        }
    }
}
