//! Packed bytes: variable-length numbers, and a reader that never panics.

use thiserror::Error;

/// Appends a number as little-endian base 128, seven bits a byte, low bits first.
pub(super) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Why packed bytes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PackingError {
    /// A release after this one wrote them.
    #[error(
        "byte {offset} begins a log entry of the unknown kind {kind}: a newer format, which a newer release reads"
    )]
    UnknownKind {
        /// Where the entry begins.
        offset: usize,
        /// Its first byte.
        kind: u8,
    },
    /// No release wrote them.
    #[error("byte {offset}: expected {expected}")]
    Broken {
        /// Where reading stopped.
        offset: usize,
        /// What would be right.
        expected: &'static str,
    },
}

/// Reads packed bytes from the front.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    /// A reader of `bytes` that begins at `offset`.
    pub(super) fn new(bytes: &'a [u8], offset: usize) -> Self {
        Self { bytes, offset }
    }

    /// How many bytes have been read.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// Whether nothing is left.
    pub(super) fn is_at_end(&self) -> bool {
        self.offset >= self.bytes.len()
    }

    /// The fault that something else was expected here.
    pub(super) fn broken(&self, expected: &'static str) -> PackingError {
        PackingError::Broken { offset: self.offset, expected }
    }

    /// The next byte.
    pub(super) fn byte(&mut self, expected: &'static str) -> Result<u8, PackingError> {
        let byte = *self.bytes.get(self.offset).ok_or_else(|| self.broken(expected))?;
        self.offset += 1;
        Ok(byte)
    }

    /// The next `length` bytes.
    pub(super) fn take(
        &mut self,
        length: usize,
        expected: &'static str,
    ) -> Result<&'a [u8], PackingError> {
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        let taken = rest.get(..length).ok_or_else(|| self.broken(expected))?;
        self.offset += length;
        Ok(taken)
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(
        &mut self,
        expected: &'static str,
    ) -> Result<[u8; N], PackingError> {
        let fault = self.broken(expected);
        self.take(N, expected)?.try_into().map_err(|_| fault)
    }

    /// The next number, in its shortest form only.
    pub(super) fn number(&mut self, expected: &'static str) -> Result<u64, PackingError> {
        let mut number = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte(expected)?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits || (byte == 0 && shift > 0) {
                return Err(self.broken(expected));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.broken(expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            let mut reader = Reader::new(&bytes, 0);
            assert_eq!(reader.number("a number"), Ok(number));
            assert!(reader.is_at_end());
        }
    }

    #[test]
    fn numbers_have_one_form() {
        for bytes in [&[0x80_u8, 0x00][..], &[0x80], &[0xff; 10], &[0xff; 11], &[]] {
            assert!(Reader::new(bytes, 0).number("a number").is_err(), "{bytes:?}");
        }
    }
}
