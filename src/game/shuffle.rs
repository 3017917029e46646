//! The shuffle that deals and seatings are drawn by: portable, so that anyone can check it.

use hmac::Mac;

use super::hash::keyed;

/// Bytes in one block of random words.
const BLOCK: usize = 32;

/// Random words: HMAC-SHA256(key, big-endian counter from 0), each block eight big-endian `u32`.
struct Words {
    mac: hmac::Hmac<sha2::Sha256>,
    counter: u64,
    block: [u8; BLOCK],
    used: usize,
}

impl Words {
    fn new(key: &[u8; 32]) -> Self {
        Self { mac: keyed(key), counter: 0, block: [0; BLOCK], used: BLOCK }
    }

    fn next(&mut self) -> u32 {
        if self.used == BLOCK {
            self.block = self
                .mac
                .clone()
                .chain_update(self.counter.to_be_bytes())
                .finalize()
                .into_bytes()
                .into();
            self.counter += 1;
            self.used = 0;
        }
        let word = self.block[self.used..self.used + 4].iter();
        self.used += 4;
        word.fold(0, |word, &byte| word << 8 | u32::from(byte))
    }

    /// A number in `0..bound`, each equally likely: words at or above the greatest multiple of
    /// `bound` are rejected.
    fn below(&mut self, bound: u64) -> u64 {
        let limit = (1_u64 << 32) / bound * bound;
        loop {
            let word = u64::from(self.next());
            if word < limit {
                return word % bound;
            }
        }
    }
}

/// Shuffles by Fisher–Yates from the last item down: for i = n−1 … 1, swaps item i with item j,
/// j uniform in 0..=i.
pub fn shuffle<T>(key: &[u8; 32], items: &mut [T]) {
    let mut words = Words::new(key);
    for i in (1..items.len()).rev() {
        let j = words.below(i as u64 + 1);
        items.swap(i, j as usize);
    }
}
