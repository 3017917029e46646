//! Slots: the parts into which Redis Cluster divides keys.

use crc::{CRC_16_XMODEM, Crc};

const HASH: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// How many slots there are.
pub(super) const SLOTS: u16 = 16_384;

/// The slot that a key or channel is in. A server that stands alone serves them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(u16);

impl Slot {
    /// The slot of a key: the CRC-16 of its hash tag modulo the number of slots. The tag is what
    /// stands between the first `{` and the next `}`, or the whole key when nothing does.
    pub(super) fn of(key: &str) -> Self {
        let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        let tag = tag.map(|(tag, _)| tag).filter(|tag| !tag.is_empty());
        Self(HASH.checksum(tag.unwrap_or(key).as_bytes()) % SLOTS)
    }

    /// The slot's number as an index.
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_in_the_slot_that_the_server_says() {
        // What `CLUSTER KEYSLOT` answers.
        for (key, slot) in [
            ("123456789", 12_739),
            ("banqi:{0042}:clock", 13_836),
            ("banqi:{0042}:watch:a-game", 13_836),
            ("banqi:shards", 3_868),
            ("banqi:player:{}:games", 5_270),
            ("banqi:player:{a}{:*\u{e9}}:games", 15_495),
        ] {
            assert_eq!(Slot::of(key), Slot(slot), "{key}");
        }
    }
}
