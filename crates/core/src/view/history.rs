//! How a cluster was used: the samples of the last day, and how full nodes are.

use alloc::collections::{BTreeMap, VecDeque};

use crate::books::Books;
use crate::id::PartitionId;
use crate::name::Name;
use crate::resource::Quantity;
use crate::time::Timestamp;

/// One minute of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When it was taken.
    pub at: Timestamp,
    /// Applications that run; −1 if that could not be found out.
    pub applications: i64,
    /// Allocations in force; −1 if that could not be found out.
    pub allocations: i64,
}

impl Sample {
    /// The sample of all partitions as they are.
    pub fn of(books: &Books, now: Timestamp) -> Self {
        let partitions = || books.partitions().values();
        let running = partitions().map(|one| books.queue(one.root).running).sum::<u64>();
        let allocated = partitions().map(|one| one.allocation_count).sum::<u64>();
        let whole = |count| i64::try_from(count).unwrap_or(i64::MAX);
        Self { at: now, applications: whole(running), allocations: whole(allocated) }
    }

    /// The sample of a minute about which nothing is known.
    pub const fn unknown(now: Timestamp) -> Self {
        Self { at: now, applications: -1, allocations: -1 }
    }
}

/// The samples of the last day, one for each minute. Source: scheduling §18.1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History(VecDeque<Sample>);

impl History {
    /// How many samples are stored: those of a day.
    pub const SAMPLES: usize = 1_440;

    /// Keep one more, and forget the oldest if there is no room.
    pub fn push(&mut self, sample: Sample) {
        if self.0.len() == Self::SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(sample);
    }

    /// The samples, the oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Sample> {
        self.0.iter()
    }
}

/// How many bands of use there are.
pub const BANDS: usize = 10;

/// How many nodes of a partition are how full, for each resource type that a node has, by name:
/// the first band is up to 10 %, the last above 90 %. What is not scheduled here does not count.
/// Source: scheduling §18.1, the reference's formula.
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

/// The band of this use of a total above zero: `max(0, ceil(10 × min(used ÷ total, 1)) − 1)`, in
/// whole numbers, so that 10 % is in the first band and not by chance in the second.
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
