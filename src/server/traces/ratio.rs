//! How many calls are traced.

use std::fmt;
use std::str::FromStr;

/// The share of the calls that are traced where the caller has not decided: from 0, none, to 1,
/// all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceRatio(f64);

// A ratio is a number.
impl Eq for TraceRatio {}

/// A text that is no such share.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no share of the calls: write a number from 0, none, to 1, all, like 0.01")]
pub struct TraceRatioError(String);

impl TraceRatio {
    /// Whether the next call is one of them.
    pub(super) fn draws(self) -> bool {
        rand::random::<f64>() < self.0
    }
}

impl Default for TraceRatio {
    fn default() -> Self {
        Self(0.01)
    }
}

impl fmt::Display for TraceRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TraceRatio {
    type Err = TraceRatioError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ratio = text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
        ratio.map(Self).ok_or_else(|| TraceRatioError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("0", true)]
    #[case("0.25", true)]
    #[case("1", true)]
    #[case("1.5", false)]
    #[case("-0.1", false)]
    #[case("NaN", false)]
    #[case("one", false)]
    fn a_ratio_is_from_0_to_1(#[case] text: &str, #[case] valid: bool) {
        assert_eq!(text.parse::<TraceRatio>().is_ok(), valid);
    }

    #[test]
    fn none_and_all_are_exact() {
        assert!((0..1000).all(|_| !TraceRatio(0.0).draws() && TraceRatio(1.0).draws()));
    }
}
