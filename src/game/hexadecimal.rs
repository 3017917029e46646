//! Bytes as pairs of hexadecimal digits in lower case.

use std::fmt;

/// Writes bytes so.
pub(crate) fn write_hexadecimal(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// The bytes that a text says; `None` where it is not written so.
pub(crate) fn read_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    bytes.collect::<Option<_>>().filter(|_| rest.is_empty())
}
