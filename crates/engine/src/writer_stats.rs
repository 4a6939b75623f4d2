//! Load of the writer since its start: counters that only rise, for metrics.

use std::marker::PhantomData;
use std::time::Duration;

use headroom_core::WaitCounts;

/// Upper bounds of the classes in which durations of one kind are counted.
pub trait Scale {
    /// The bounds in ascending order. Longer durations are in a class of their own.
    const BOUNDS: [Duration; CLASSES];
}

/// Number of bounds.
const CLASSES: usize = 16;

/// Operations that wait for a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfDisk;

impl Scale for OfDisk {
    const BOUNDS: [Duration; CLASSES] = [
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
}

/// Steps of the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfSteps;

impl Scale for OfSteps {
    const BOUNDS: [Duration; CLASSES] = [
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
}

/// Durations by class, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durations<S> {
    counts: [u64; CLASSES + 1],
    sum: Duration,
    scale: PhantomData<S>,
}

impl<S: Scale> Durations<S> {
    /// Adds a duration.
    pub(crate) fn note(&mut self, took: Duration) {
        let class = S::BOUNDS.partition_point(|bound| *bound < took);
        self.counts[class] += 1;
        self.sum += took;
    }

    /// Returns the number of durations in each class, with its upper bound. The last class has longer durations, and
    /// no bound.
    pub fn counts(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        S::BOUNDS.into_iter().map(Some).chain([None]).zip(self.counts)
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of the durations.
    pub const fn sum(&self) -> Duration {
        self.sum
    }
}

/// Load of the writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterStats {
    /// Number of executed commands.
    pub commands: u64,
    /// Rejected commands among these.
    pub refused: u64,
    /// Commands among these that were accepted before with the same id.
    pub repeated: u64,
    /// Number of steps of the scheduler.
    pub steps: u64,
    /// Number of durable records.
    pub records: u64,
    /// Size of these records in bytes.
    pub bytes: u64,
    /// Durations of flushes, one for each batch of records.
    pub flushes: Durations<OfDisk>,
    /// Statistics of snapshots.
    pub snapshots: Snapshots,
    /// Number of asks that began to wait, by the failed check. Equal asks of a user count once.
    pub waits: WaitCounts,
}

impl WriterStats {
    /// Returns the number of flushed batches.
    pub fn batches(&self) -> u64 {
        self.flushes.count()
    }
}

/// Statistics of snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshots {
    /// Durations of successful snapshots, written in parallel with the writer.
    pub taken: Durations<OfDisk>,
    /// Number of failed attempts.
    pub failed: u64,
    /// Size of the last snapshot in bytes. 0 without a snapshot.
    pub last_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_counted_below_the_first_bound_that_it_does_not_exceed() {
        let mut durations = Durations::<OfDisk>::default();
        for (micros, class) in [(0, 0), (100, 0), (101, 1), (1_000, 3), (9_999_999, 15)] {
            let before = durations.counts[class];
            durations.note(Duration::from_micros(micros));
            assert_eq!(durations.counts[class], before + 1, "{micros} µs");
        }
        durations.note(Duration::from_secs(11));
        assert_eq!((durations.counts[16], durations.count()), (1, 6));
        assert_eq!(durations.sum, Duration::from_micros(21_001_200));
    }

    #[test]
    fn a_step_is_in_the_first_bucket_that_holds_it() {
        let mut times = Durations::<OfSteps>::default();
        for micros in [0, 1, 2, 3, 20_000_000] {
            times.note(Duration::from_micros(micros));
        }
        let counts: Vec<u64> = times.counts().map(|(_, count)| count).collect();
        assert_eq!((&counts[..4], counts[16]), (&[2, 1, 1, 0][..], 1));
        assert_eq!((times.count(), times.sum()), (5, Duration::from_micros(20_000_006)));
    }
}
