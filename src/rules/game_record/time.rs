//! Times in the headers of game records.

use std::fmt;
use std::str::FromStr;

use super::error::HeaderError;

/// A time in UTC as RFC 3339 writes it: `2024-05-01T12:30:00Z`, or with a fraction of up to nine
/// digits. It is kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UtcTime(String);

impl UtcTime {
    /// The time as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for UtcTime {
    type Err = HeaderError;

    fn from_str(text: &str) -> Result<Self, HeaderError> {
        let time = is_utc_time(text).then(|| Self(text.to_owned()));
        time.ok_or_else(|| HeaderError::Created(text.to_owned()))
    }
}

/// Whether this is a time in UTC by RFC 3339: `2024-05-01T12:30:00Z`, or with a fraction of up to
/// nine digits.
fn is_utc_time(text: &str) -> bool {
    let Some((seconds, rest)) = text.split_at_checked(19) else { return false };
    let shape = seconds.bytes().zip(*b"dddd-dd-ddTdd:dd:dd").all(|(byte, shape)| match shape {
        b'd' => byte.is_ascii_digit(),
        fixed => byte == fixed,
    });
    let in_range = |at: usize, least: u8, most: u8| {
        seconds
            .get(at..at + 2)
            .and_then(|two| two.parse().ok())
            .is_some_and(|value: u8| (least..=most).contains(&value))
    };
    let fraction = match rest.strip_suffix('Z') {
        Some("") => true,
        Some(fraction) => fraction.strip_prefix('.').is_some_and(|digits| {
            (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
        }),
        None => false,
    };
    // A leap second is 60.
    let ranges = [(5, 1, 12), (8, 1, 31), (11, 0, 23), (14, 0, 59), (17, 0, 60)];
    shape && fraction && ranges.into_iter().all(|(at, least, most)| in_range(at, least, most))
}
