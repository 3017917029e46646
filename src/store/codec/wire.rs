//! Fields written straight into an encoded message, without a message in between: for what every
//! state of a game has dozens of. As always in proto3, a value that is the default is left out.

use std::fmt::Display;
use std::io::Write as _;

use prost::Message;
use prost::encoding::{WireType, encode_varint, encoded_len_varint};

/// A number in as many bytes as it needs: nearly always one.
#[inline]
fn put_varint(number: u64, into: &mut Vec<u8>) {
    if number < 0x80 {
        into.push(number as u8);
    } else {
        encode_varint(number, into);
    }
}

#[inline]
fn put_key(field: u32, wire: WireType, into: &mut Vec<u8>) {
    put_varint(u64::from(field << 3 | wire as u32), into);
}

/// A number, that of an enum's value, or a truth.
#[inline]
pub(crate) fn put_number(field: u32, number: impl Into<u64>, into: &mut Vec<u8>) {
    let number = number.into();
    if number != 0 {
        put_key(field, WireType::Varint, into);
        put_varint(number, into);
    }
}

/// Bytes, a text or packed numbers.
#[inline]
pub(crate) fn put_bytes(field: u32, bytes: &[u8], into: &mut Vec<u8>) {
    if !bytes.is_empty() {
        put_key(field, WireType::LengthDelimited, into);
        put_varint(bytes.len() as u64, into);
        into.extend_from_slice(bytes);
    }
}

/// A text, which is never empty, as it is displayed.
pub(crate) fn put_text(field: u32, text: impl Display, into: &mut Vec<u8>) {
    put_message(field, into, |into| write!(into, "{text}").expect("a vector takes all"));
}

/// A message of these fields.
pub(crate) fn put_message(field: u32, into: &mut Vec<u8>, fields: impl FnOnce(&mut Vec<u8>)) {
    put_key(field, WireType::LengthDelimited, into);
    // Its length comes first and is known last; most take one byte.
    let length_at = into.len();
    into.push(0);
    fields(into);
    let length = (into.len() - length_at - 1) as u64;
    match encoded_len_varint(length) {
        1 => into[length_at] = length as u8,
        more => {
            let mut bytes = Vec::with_capacity(more);
            encode_varint(length, &mut bytes);
            into.splice(length_at..=length_at, bytes);
        }
    }
}

/// A message that there is.
pub(crate) fn put_encoded(field: u32, message: &impl Message, into: &mut Vec<u8>) {
    prost::encoding::message::encode(field, message, into);
}
