//! Bytes as text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::game::{read_hexadecimal, write_hexadecimal};

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
        write_hexadecimal(&self.0, f)
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
        let fault = || HexadecimalError(text.chars().take(80).collect());
        read_hexadecimal(text).map(Self).ok_or_else(fault)
    }
}

impl TryFrom<String> for Hexadecimal {
    type Error = HexadecimalError;

    fn try_from(text: String) -> Result<Self, HexadecimalError> {
        text.parse()
    }
}
