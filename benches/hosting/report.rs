//! The figures as a table.

use std::time::Duration;

use crate::load::Tally;

/// What one window came to.
pub(crate) struct Measured {
    /// Microseconds of the servers' processor time a call.
    processor: f64,
    /// Calls a second.
    rate: f64,
    /// The median call, and the slowest but one in a hundred, in milliseconds.
    p50: f64,
    p99: f64,
    /// Bytes of an answer, on average.
    answer: f64,
}

/// What the same window came to for both.
pub(crate) struct Pair {
    pub(crate) banqi: Measured,
    pub(crate) floor: Measured,
}

impl Measured {
    pub(crate) fn new(mut tally: Tally, spent: Duration, took: Duration) -> Self {
        let calls = tally.latencies.len();
        assert!(calls > 0, "not one call was answered");
        tally.latencies.sort_unstable();
        let percentile =
            |part: usize| tally.latencies[(calls - 1) * part / 100].as_secs_f64() * 1e3;
        Self {
            processor: spent.as_secs_f64() * 1e6 / calls as f64,
            rate: calls as f64 / took.as_secs_f64(),
            p50: percentile(50),
            p99: percentile(99),
            answer: tally.answered as f64 / calls as f64,
        }
    }
}

/// Prints what the columns are.
pub(crate) fn heading() {
    println!("Medians over the rounds; the smallest and the largest in brackets.");
    println!(
        "| replicas | call | of | µs of processor a call | calls/s | p50 ms | p99 ms | answer |"
    );
    println!("|---|---|---|---|---|---|---|---|");
}

/// Prints what the rounds of one arrangement came to.
pub(crate) fn lines(replicas: &str, call: &str, pairs: &[Pair]) {
    let line = |of: &str, measured: &dyn Fn(&Pair) -> &Measured| {
        let column = |value: &dyn Fn(&Measured) -> f64| {
            spread(pairs.iter().map(|pair| value(measured(pair))).collect())
        };
        let (processor, low, high) = column(&|measured| measured.processor);
        let (rate, ..) = column(&|measured| measured.rate);
        let (p50, ..) = column(&|measured| measured.p50);
        let (p99, ..) = column(&|measured| measured.p99);
        let (answer, ..) = column(&|measured| measured.answer);
        println!(
            "| {replicas} | {call} | {of} | {processor:.1} ({low:.1}–{high:.1}) | {rate:.0} \
             | {p50:.2} | {p99:.2} | {answer:.0} B |"
        );
    };
    line("banqi", &|pair| &pair.banqi);
    line("floor", &|pair| &pair.floor);
    let ratio = |value: &dyn Fn(&Measured) -> f64| {
        spread(pairs.iter().map(|pair| value(&pair.banqi) / value(&pair.floor)).collect())
    };
    let (processor, low, high) = ratio(&|measured| measured.processor);
    let (rate, ..) = ratio(&|measured| measured.rate);
    println!(
        "| {replicas} | {call} | **ratio** | **{processor:.2}** ({low:.2}–{high:.2}) | {rate:.2} \
         | | | |"
    );
}

/// The median, the smallest and the largest.
fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    (values[values.len() / 2], values[0], values[values.len() - 1])
}
