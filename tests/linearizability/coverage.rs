//! What a run had in it, so that it cannot pass for want of anything happening.

use std::collections::BTreeMap;
use std::fmt;

/// How often each thing happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage(BTreeMap<String, usize>);

impl Coverage {
    pub(crate) fn count(&mut self, what: String) {
        self.add(what, 1);
    }

    pub(crate) fn add(&mut self, what: String, count: usize) {
        *self.0.entry(what).or_default() += count;
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (what, count) in other.0 {
            self.add(what, count);
        }
    }

    pub(crate) fn of(&self, what: &str) -> usize {
        self.0.get(what).copied().unwrap_or(0)
    }

    /// Those of these things that did not happen.
    pub(crate) fn missing<'a>(&self, wanted: &[&'a str]) -> Vec<&'a str> {
        wanted.iter().copied().filter(|what| !self.0.contains_key(*what)).collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(what, count)| writeln!(f, "{count:>8} {what}"))
    }
}
