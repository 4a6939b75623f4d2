//! How busy the writer was since its start: counters that only rise, for metrics.

use std::marker::PhantomData;
use std::time::Duration;

use headroom_core::WaitCounts;

/// The upper bounds of the classes in which durations of one kind are counted.
pub trait Scale {
    /// They rise; what is longer than the last is counted behind it.
    const BOUNDS: [Duration; CLASSES];
}

/// How many bounds there are.
const CLASSES: usize = 16;

/// What waits for a disk.
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

/// How long things took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durations<S> {
    counts: [u64; CLASSES + 1],
    sum: Duration,
    scale: PhantomData<S>,
}

impl<S: Scale> Durations<S> {
    /// Count one.
    pub(crate) fn note(&mut self, took: Duration) {
        let class = S::BOUNDS.partition_point(|bound| *bound < took);
        self.counts[class] += 1;
        self.sum += took;
    }

    /// How many took at most a bound, and longer than the one before it, with that bound; the
    /// last counts what took longer than all, and has none.
    pub fn counts(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        S::BOUNDS.into_iter().map(Some).chain([None]).zip(self.counts)
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All of them together.
    pub const fn sum(&self) -> Duration {
        self.sum
    }
}

/// How busy the writer was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterStats {
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
    pub flushes: Durations<OfDisk>,
    /// Snapshots.
    pub snapshots: Snapshots,
    /// How often asks came to wait, by the check that holds them back; equal ones of a user count as one.
    pub waits: WaitCounts,
}

impl WriterStats {
    /// Batches that were flushed.
    pub fn batches(&self) -> u64 {
        self.flushes.count()
    }
}

/// What was done for a quick start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshots {
    /// Snapshots that were taken, and how long each was written, in parallel with the writer.
    pub taken: Durations<OfDisk>,
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
