//! The limits that the counts are held to, as they stand in `limits.txt`.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::fs;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions/limits.txt");

/// By how many hundredths a count may be above its limit: other releases of the compiler and of
/// what the crate is built on move them a little.
const LEEWAY: u64 = 5;

/// What somebody does whose change makes something dearer on purpose.
pub(crate) const HOW_TO_RAISE: &str = "Find out what got dearer (`cargo bench --bench game`, or \
    callgrind), or, if it is worth its price, say so in the commit and make the counts the new \
    limits: cargo bench --bench instructions -- --write";

/// How many instructions something takes.
pub(crate) struct Count {
    pub(crate) name: String,
    pub(crate) instructions: u64,
}

impl Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>9}  {}", self.instructions, self.name)
    }
}

/// How many instructions each thing may take, by its name.
pub(crate) struct Limits(BTreeMap<String, u64>);

impl Limits {
    /// Reads them.
    pub(crate) fn read() -> Self {
        let text = fs::read_to_string(FILE).unwrap_or_else(|error| panic!("{FILE}: {error}"));
        let limit = |line: &str| {
            let (number, name) = line.trim_start().split_once("  ")?;
            Some((name.to_owned(), number.parse().ok()?))
        };
        let limits = text.lines().map(|line| {
            limit(line).unwrap_or_else(|| panic!("{FILE}: `{line}` is no number and name"))
        });
        Self(limits.collect())
    }

    /// Whether a count is within its limit, which is told where it is not, or far below.
    pub(crate) fn allow(&self, count: &Count) -> bool {
        let name = &count.name;
        let Some(limit) = self.0.get(name) else {
            eprintln!("`{name}` has no limit yet");
            return false;
        };
        let hundredths = count.instructions * 100 / limit;
        if hundredths > 100 + LEEWAY {
            eprintln!("`{name}` takes {} instructions; the limit is {limit}", count.instructions);
            return false;
        }
        if hundredths < 100 - LEEWAY {
            println!("`{name}` has become cheaper than its limit, {limit}: lower that (--write)");
        }
        true
    }
}

/// Makes counts the limits.
pub(crate) fn write(counts: &[Count]) {
    let lines: String = counts.iter().map(|count| format!("{count}\n")).collect();
    fs::write(FILE, lines).unwrap_or_else(|error| panic!("{FILE}: {error}"));
}
