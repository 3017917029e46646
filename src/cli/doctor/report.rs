//! What came of the checks.

use std::io::{self, Write};

use serde_json::json;

use super::check::Check;

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Ok,
    Warning,
    Fault,
    Skipped,
}

impl Verdict {
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Fault => "fault",
            Self::Skipped => "skipped",
        }
    }
}

/// What came of one check: faults and warnings with what to do, skipped ones with why.
#[derive(Debug)]
struct Told {
    check: Check,
    verdict: Verdict,
    text: String,
}

/// What came of all of them.
#[derive(Debug, Default)]
pub(super) struct Report(Vec<Told>);

impl Report {
    pub(super) fn tell(&mut self, check: Check, verdict: Verdict, text: impl Into<String>) {
        // A line each, whatever an error has to say.
        let text = text.into().split_whitespace().collect::<Vec<_>>().join(" ");
        self.0.push(Told { check, verdict, text });
    }

    pub(super) fn ok(&mut self, check: Check, text: impl Into<String>) {
        self.tell(check, Verdict::Ok, text);
    }

    pub(super) fn warning(&mut self, check: Check, text: impl Into<String>) {
        self.tell(check, Verdict::Warning, text);
    }

    pub(super) fn fault(&mut self, check: Check, text: impl Into<String>) {
        self.tell(check, Verdict::Fault, text);
    }

    pub(super) fn skipped(&mut self, check: Check, text: impl Into<String>) {
        self.tell(check, Verdict::Skipped, text);
    }

    /// Whether something was told of a check.
    pub(super) fn has(&self, check: Check) -> bool {
        self.0.iter().any(|told| told.check == check)
    }

    /// Skips the checks from one to another of which nothing was told.
    pub(super) fn skip_rest(&mut self, first: Check, last: Check, why: &str) {
        for &check in Check::ALL.iter().filter(|&&check| first <= check && check <= last) {
            if !self.has(check) {
                self.skipped(check, why);
            }
        }
    }

    /// How often a verdict was told.
    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.0.iter().filter(|told| told.verdict == verdict).count()
    }

    /// Writes a line a check, in their order, then what was skipped for each reason, and how many were not
    /// as they should be. JSON has them all in their order.
    pub(super) fn write(&mut self, out: &mut impl Write, as_json: bool) -> io::Result<()> {
        self.0.sort_by_key(|told| told.check);
        let [faults, warnings] = [Verdict::Fault, Verdict::Warning].map(|it| self.count(it));
        if as_json {
            let checks = self.0.iter().map(|told| {
                json!({
                    "check": told.check.name(),
                    "verdict": told.verdict.name(),
                    "text": told.text,
                })
            });
            let checks: Vec<_> = checks.collect();
            let told = json!({ "checks": checks, "faults": faults, "warnings": warnings });
            return writeln!(out, "{told:#}");
        }
        let (skipped, done): (Vec<_>, Vec<_>) =
            self.0.iter().partition(|told| told.verdict == Verdict::Skipped);
        for Told { check, verdict, text } in done {
            writeln!(out, "{:<7}  {:<21}  {text}", verdict.name(), check.name())?;
        }
        let mut reasons: Vec<&str> = Vec::new();
        for Told { text, .. } in &skipped {
            if !reasons.contains(&text.as_str()) {
                reasons.push(text);
            }
        }
        for reason in reasons {
            let alike = skipped.iter().filter(|told| told.text == reason);
            let names: Vec<&str> = alike.map(|told| told.check.name()).collect();
            writeln!(out, "skipped  {}: {reason}", names.join(", "))?;
        }
        writeln!(out, "\nfaults: {faults}, warnings: {warnings}")
    }
}
