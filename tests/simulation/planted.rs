//! Faults planted in the simulated store: what the checks are for, and must find.

use rstest::rstest;

use crate::runs::{RUNS, first_fault};

/// A fault of the store, or of how a replica uses it, that is there in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// A write takes the place of whatever stands.
    NoCompareAndSet,
    /// A reading is now and then answered with what stood before the last write.
    StaleCache,
    /// No hint arrives, and no comparison of versions makes up for it.
    LostHint,
    /// What a game remembers of requests is forgotten, so that a repeated one is done twice.
    DoubledRetry,
    /// The shards' time follows every jump of the server's clock.
    WrongClock,
}

/// In runs of always the same seeds, so that this finds them today if it did yesterday.
#[rstest]
#[case(Planted::NoCompareAndSet)]
#[case(Planted::StaleCache)]
#[case(Planted::LostHint)]
#[case(Planted::DoubledRetry)]
#[case(Planted::WrongClock)]
fn a_planted_fault_is_found(#[case] planted: Planted) {
    let fault = first_fault(1..=RUNS, Some(planted));
    let (seed, fault) = fault.unwrap_or_else(|| panic!("{planted:?}: not in {RUNS} runs"));
    println!("{planted:?} is found with seed {seed}:\n{fault}");
}
