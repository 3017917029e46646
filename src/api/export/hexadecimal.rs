//! Bytes as text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Bytes that are written as lower-case hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Hexadecimal(pub Vec<u8>);

/// A text that is no such bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}`: expected pairs of hexadecimal digits in lower case")]
pub struct HexadecimalError(String);

impl fmt::Display for Hexadecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl From<Hexadecimal> for String {
    fn from(bytes: Hexadecimal) -> Self {
        bytes.to_string()
    }
}

impl FromStr for Hexadecimal {
    type Err = HexadecimalError;

    fn from_str(text: &str) -> Result<Self, HexadecimalError> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
        let bytes: Option<Vec<u8>> = bytes.collect();
        let fault = || HexadecimalError(text.chars().take(80).collect());
        bytes.filter(|_| rest.is_empty()).map(Self).ok_or_else(fault)
    }
}

impl TryFrom<String> for Hexadecimal {
    type Error = HexadecimalError;

    fn try_from(text: String) -> Result<Self, HexadecimalError> {
        text.parse()
    }
}
