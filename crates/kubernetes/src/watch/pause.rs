//! Pauses between failed requests.

use std::time::Duration;

/// First pause.
const FIRST: Duration = Duration::from_millis(250);
/// Longest pause.
const LONGEST: Duration = Duration::from_secs(30);

/// Failures in a row, and the pauses after them.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    failures: u32,
}

impl Pauses {
    pub(crate) fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Returns the number of failures in a row, this one included.
    pub(crate) fn failed(&mut self) -> u32 {
        self.failures = self.failures.saturating_add(1);
        self.failures
    }

    /// Returns the pause before the next request. It doubles with each failure, and has a random part, so that clients
    /// do not all come back at once.
    pub(crate) fn pause(&self, requested: Option<Duration>) -> Duration {
        let doubled = FIRST.saturating_mul(1 << self.failures.saturating_sub(1).min(7));
        let whole = requested.unwrap_or(doubled).min(LONGEST);
        whole.mul_f64(rand::random_range(0.5..=1.0)).max(requested.unwrap_or_default().min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit() {
        let mut pauses = Pauses::default();
        let mut limits = Vec::new();
        for _ in 0..40 {
            pauses.failed();
            let pause = pauses.pause(None);
            assert!(pause <= LONGEST && pause >= FIRST / 2);
            limits.push(pause);
        }
        assert!(limits[0] <= FIRST && limits[39] >= LONGEST / 2);
        assert_eq!(pauses.pause(Some(Duration::from_secs(7))), Duration::from_secs(7));
        assert_eq!(pauses.pause(Some(Duration::from_secs(700))), LONGEST);
        pauses.succeeded();
        pauses.failed();
        assert!(pauses.pause(None) <= FIRST);
    }
}
