//! Usage history of a cluster: samples of the last day, and the usage of nodes.

use alloc::collections::{BTreeMap, VecDeque};

use crate::books::Books;
use crate::id::PartitionId;
use crate::name::Name;
use crate::resource::Quantity;
use crate::time::Timestamp;

/// Sample of a cluster for one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Time of the sample.
    pub at: Timestamp,
    /// Number of running applications. −1 if it is unknown.
    pub applications: i64,
    /// Number of allocations. −1 if it is unknown.
    pub allocations: i64,
}

impl Sample {
    /// Returns a sample of the current state of all partitions.
    pub fn of(books: &Books, now: Timestamp) -> Self {
        let partitions = || books.partitions().values();
        let running = partitions().map(|one| books.queue(one.root).running).sum::<u64>();
        let allocated = partitions().map(|one| one.allocation_count).sum::<u64>();
        let whole = |count| i64::try_from(count).unwrap_or(i64::MAX);
        Self { at: now, applications: whole(running), allocations: whole(allocated) }
    }

    /// Returns a sample of a minute without data.
    pub const fn unknown(now: Timestamp) -> Self {
        Self { at: now, applications: -1, allocations: -1 }
    }
}

/// Samples of the last day, one for each minute. Source: scheduling §18.1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History(VecDeque<Sample>);

impl History {
    /// Largest number of samples: those of one day.
    pub const SAMPLES: usize = 1_440;

    /// Adds a sample, and drops the oldest beyond the limit.
    pub fn push(&mut self, sample: Sample) {
        if self.0.len() == Self::SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(sample);
    }

    /// Returns the samples, oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Sample> {
        self.0.iter()
    }
}

/// Number of bands of usage.
pub const BANDS: usize = 10;

/// Returns the number of nodes of a partition in each band of usage, for each resource type of a node by name.
///
/// The first band is up to 10 %, the last above 90 %. Foreign allocations do not count. Source: scheduling §18.1, the
/// formula of YuniKorn.
pub fn usage_bands(books: &Books, partition: PartitionId) -> BTreeMap<Name, [u64; BANDS]> {
    let mut bands: BTreeMap<Name, [u64; BANDS]> = BTreeMap::new();
    for (_, node) in books.partition(partition).nodes.iter() {
        let node = books.node(*node);
        for (resource, total) in node.capacity.iter().filter(|(_, total)| *total > Quantity::ZERO) {
            let band = band(node.allocated.get_or_zero(resource), total);
            let name = books.types().name(resource);
            if let Some(counts) = bands.get_mut(name) {
                counts[band] += 1;
            } else {
                let mut counts = [0; BANDS];
                counts[band] = 1;
                bands.insert(name.clone(), counts);
            }
        }
    }
    bands
}

/// Returns the band of this usage of a positive total: `max(0, ceil(10 × min(used ÷ total, 1)) − 1)`. Uses integers, so
/// that rounding cannot put 10 % into the second band.
pub fn band(used: Quantity, total: Quantity) -> usize {
    let (used, total) = (i128::from(used.get().max(0)), i128::from(total.get().max(1)));
    let tenths = (used.min(total) * 10 + total - 1) / total;
    usize::try_from(tenths - 1).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_samples_is_kept() {
        let mut history = History::default();
        for minute in 0..2_000 {
            history.push(Sample::unknown(Timestamp::from_millis(minute * 60_000)));
        }
        let first = history.iter().next().expect("there are some");
        assert_eq!((history.iter().len(), first.at.as_millis()), (1_440, 560 * 60_000));
        assert_eq!((first.applications, first.allocations), (-1, -1));
    }

    #[test]
    fn the_largest_amounts_have_a_band() {
        for (used, total, expected) in [
            (Quantity::MAX, Quantity::MAX, 9),
            (Quantity::MIN, Quantity::MAX, 0),
            (Quantity::MAX, Quantity::of(1), 9),
            (Quantity::of(1), Quantity::ZERO, 9),
        ] {
            assert_eq!(band(used, total), expected, "{used:?} of {total:?}");
        }
    }
}
