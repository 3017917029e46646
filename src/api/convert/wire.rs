//! Fields written straight into an encoded message, without a message in between: for what every
//! state of a game has dozens of. As always in proto3, a value that is the default is left out.

use prost::encoding::{WireType, encode_key, encode_varint};

/// A number, or that of an enum's value.
pub(super) fn put_number(field: u32, number: u32, into: &mut Vec<u8>) {
    if number != 0 {
        encode_key(field, WireType::Varint, into);
        encode_varint(number.into(), into);
    }
}

/// A text, bytes, an encoded message or packed numbers.
pub(super) fn put_bytes(field: u32, bytes: &[u8], into: &mut Vec<u8>) {
    if !bytes.is_empty() {
        encode_key(field, WireType::LengthDelimited, into);
        encode_varint(bytes.len() as u64, into);
        into.extend_from_slice(bytes);
    }
}

/// A message of less than 128 bytes, so that its length takes one byte.
pub(super) fn put_short_message(field: u32, into: &mut Vec<u8>, fields: impl FnOnce(&mut Vec<u8>)) {
    encode_key(field, WireType::LengthDelimited, into);
    into.push(0);
    let start = into.len();
    fields(into);
    let length = into.len() - start;
    assert!(length < 0x80, "a message of {length} bytes is no short one");
    into[start - 1] = length as u8;
}
