//! The formats of records.

use std::fmt;
use std::str::FromStr;

/// A format of records. Every format up to [`Self::NEWEST`] is read; which one is written is the
/// operator's choice, so that releases side by side can keep to one that both of them read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordFormat {
    /// The message of `proto/banqi/storage/v1/record.proto`. What is written unless another is
    /// asked for, since the release before this one reads no newer format.
    #[default]
    One,
    /// The same message, sealed: `docs/decisions/0011-sealed-records.md`.
    Two,
}

impl RecordFormat {
    /// Every format, the oldest first.
    pub const ALL: [Self; 2] = [Self::One, Self::Two];

    /// The oldest format.
    pub const OLDEST: Self = Self::One;

    /// The newest format.
    pub const NEWEST: Self = Self::Two;

    /// Its number, as the header of a record has it.
    pub const fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }

    /// Whether a record of this format is sealed, and so needs a key.
    pub const fn is_sealed(self) -> bool {
        match self {
            Self::One => false,
            Self::Two => true,
        }
    }

    /// The format of this number, if this release knows it.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.number() == number)
    }
}

impl fmt::Display for RecordFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

/// A text that is no format that this release writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no format that this release writes: expected {oldest} to {newest}, of which {newest} \
     is sealed",
    oldest = RecordFormat::OLDEST,
    newest = RecordFormat::NEWEST
)]
pub struct RecordFormatError(String);

impl FromStr for RecordFormat {
    type Err = RecordFormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let format = Self::ALL.into_iter().find(|format| format.to_string() == text);
        format.ok_or_else(|| RecordFormatError(text.chars().take(80).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_numbered_from_the_oldest_to_the_newest() {
        let numbers: Vec<u8> = RecordFormat::ALL.iter().map(|format| format.number()).collect();
        assert_eq!(numbers, (1..=RecordFormat::NEWEST.number()).collect::<Vec<_>>());
        for format in RecordFormat::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
            assert_eq!(RecordFormat::from_number(format.number()), Some(format));
            assert!(RecordFormat::OLDEST <= format && format <= RecordFormat::NEWEST);
        }
    }

    #[test]
    fn a_format_that_there_is_not_is_told_with_those_there_are() {
        for text in ["0", "3", "02", "two", "", "256"] {
            let told = text.parse::<RecordFormat>().expect_err(text).to_string();
            assert!(
                told.contains(&format!("`{text}`")) && told.contains("expected 1 to 2"),
                "{told}"
            );
        }
        assert_eq!([0, 3, 255].map(RecordFormat::from_number), [None; 3]);
    }

    #[test]
    fn the_format_written_by_default_is_that_of_the_release_before() {
        assert_eq!(RecordFormat::default(), RecordFormat::One);
        assert!(!RecordFormat::default().is_sealed(), "it needs no keys");
    }
}
