//! How busy the writer was since its start: counters that only rise, for metrics.

use std::time::Duration;

/// The upper bounds of the classes in which [`Durations`] are counted.
pub const BOUNDS: [Duration; 16] = [
    Duration::from_micros(100),
    Duration::from_micros(200),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(20),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
];

/// How long things took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    /// How many took at most the bound of the same number in [`BOUNDS`], and longer than the one
    /// before it; the last counts what took longer than all bounds.
    pub counts: [u64; BOUNDS.len() + 1],
    /// All of them together.
    pub sum: Duration,
}

impl Durations {
    /// Count one.
    pub(crate) fn note(&mut self, took: Duration) {
        let class = BOUNDS.partition_point(|bound| *bound < took);
        self.counts[class] += 1;
        self.sum += took;
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// How busy the writer was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Commands that were judged.
    pub commands: u64,
    /// Of these, refused.
    pub refused: u64,
    /// Of these, accepted before under the same id.
    pub repeated: u64,
    /// Steps of the scheduler.
    pub steps: u64,
    /// Records that were made durable.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Flushes, one for each batch of records, and how long they took.
    pub flushes: Durations,
    /// Snapshots.
    pub snapshots: Snapshots,
}

impl Work {
    /// Batches that were flushed.
    pub fn batches(&self) -> u64 {
        self.flushes.count()
    }
}

/// What was done for a quick start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshots {
    /// Snapshots that were taken, and how long each was written, beside the writer's work.
    pub taken: Durations,
    /// Attempts that failed.
    pub failed: u64,
    /// How many bytes the last one has; 0 before the first.
    pub last_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_counted_below_the_first_bound_that_it_does_not_exceed() {
        let mut durations = Durations::default();
        for (micros, class) in [(0, 0), (100, 0), (101, 1), (1_000, 3), (9_999_999, 15)] {
            let before = durations.counts[class];
            durations.note(Duration::from_micros(micros));
            assert_eq!(durations.counts[class], before + 1, "{micros} µs");
        }
        durations.note(Duration::from_secs(11));
        assert_eq!((durations.counts[16], durations.count()), (1, 6));
        assert_eq!(durations.sum, Duration::from_micros(21_001_200));
    }
}
