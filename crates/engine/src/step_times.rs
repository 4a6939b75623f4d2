//! How long the scheduler thinks, for metrics.

use std::time::Duration;

/// How long steps of the scheduler took, counted in buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTimes {
    counts: [u64; Self::BOUNDS.len() + 1],
    sum: Duration,
}

impl StepTimes {
    /// The largest duration in each bucket; the last bucket has none.
    pub const BOUNDS: [Duration; 16] = [
        Duration::from_micros(1),
        Duration::from_micros(2),
        Duration::from_micros(5),
        Duration::from_micros(10),
        Duration::from_micros(20),
        Duration::from_micros(50),
        Duration::from_micros(100),
        Duration::from_micros(200),
        Duration::from_micros(500),
        Duration::from_millis(1),
        Duration::from_millis(2),
        Duration::from_millis(5),
        Duration::from_millis(10),
        Duration::from_millis(100),
        Duration::from_secs(1),
        Duration::from_secs(10),
    ];

    pub(crate) fn note(&mut self, took: Duration) {
        let bucket = Self::BOUNDS.partition_point(|bound| *bound < took);
        self.counts[bucket] += 1;
        self.sum += took;
    }

    /// How many steps are in each bucket, with its bound.
    pub fn counts(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        let bounds = Self::BOUNDS.into_iter().map(Some).chain([None]);
        bounds.zip(self.counts)
    }

    /// How many steps there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All of them together.
    pub const fn sum(&self) -> Duration {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_in_the_first_bucket_that_holds_it() {
        let mut times = StepTimes::default();
        for micros in [0, 1, 2, 3, 20_000_000] {
            times.note(Duration::from_micros(micros));
        }
        let counts: Vec<u64> = times.counts().map(|(_, count)| count).collect();
        assert_eq!((&counts[..4], counts[16]), (&[2, 1, 1, 0][..], 1));
        assert_eq!((times.count(), times.sum()), (5, Duration::from_micros(20_000_006)));
    }
}
