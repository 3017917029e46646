//! How long to wait before something is tried again.

use std::time::Duration;

use rand::RngExt as _;

/// The shortest and the longest wait, of which half to all is waited.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);

/// How long to wait after so many failures: never the same, so that clients do not come all at once.
pub(super) fn after(failures: u32) -> Duration {
    let wait = SHORTEST.saturating_mul(2_u32.saturating_pow(failures)).min(LONGEST);
    wait.mul_f64(rand::rng().random_range(0.5..1.0))
}
