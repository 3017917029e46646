//! Pauses between attempts.

use std::time::Duration;

/// The pauses between attempts: each twice as long as the one before, up to half a second, less a
/// random part so that replicas do not return in step.
#[derive(Debug)]
pub(super) struct Pause(Duration);

impl Pause {
    const SHORTEST: Duration = Duration::from_millis(20);
    const LONGEST: Duration = Duration::from_millis(500);

    /// How long to pause now.
    pub(super) fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(Self::LONGEST);
        pause.mul_f64(rand::random_range(0.5..=1.0))
    }
}

impl Default for Pause {
    fn default() -> Self {
        Self(Self::SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_half_a_second() {
        let mut pause = Pause::default();
        let pauses: Vec<Duration> = (0..20).map(|_| pause.next()).collect();
        assert!(pauses[0] <= Pause::SHORTEST, "{pauses:?}");
        assert!(pauses.iter().all(|&pause| pause <= Pause::LONGEST), "{pauses:?}");
        assert!(pauses[19] >= Pause::LONGEST / 2, "{pauses:?}");
    }
}
