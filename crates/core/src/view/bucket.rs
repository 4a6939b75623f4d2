//! Nodes by usage.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::Books;
use crate::id::PartitionId;
use crate::name::Name;
use crate::resource::Quantity;

use super::history::BANDS;
use super::percent::percent;

/// Returns the nodes of a partition by ID, in buckets of their usage, for each resource type of a node by name.
///
/// The first bucket is up to 10 %, the last above 90 %. As in YuniKorn, whole percentages are compared, so 10.9 % is in
/// the first bucket. Source: REST API §10.3.
pub fn node_buckets(books: &Books, partition: PartitionId) -> BTreeMap<Name, [Vec<Name>; BANDS]> {
    let nodes = || books.partition(partition).nodes.iter().map(|(_, id)| books.node(*id));
    let types: BTreeSet<_> =
        nodes().flat_map(|node| node.capacity.iter()).map(|(one, _)| one).collect();
    let mut all = BTreeMap::new();
    for resource in types {
        let mut buckets: [Vec<Name>; BANDS] = Default::default();
        for node in nodes() {
            let used = node.allocated.get_or_zero(resource);
            let capacity = node.capacity.get_or_zero(resource);
            buckets[bucket(capacity, used)].push(node.name.clone());
        }
        all.insert(books.types().name(resource).clone(), buckets);
    }
    all
}

/// Returns `max(0, ceil(percent / 10) - 1)`, at most the last bucket.
fn bucket(capacity: Quantity, used: Quantity) -> usize {
    // A node without capacity and usage of the type is empty.
    let percent = percent(capacity.get(), used.get());
    usize::try_from((percent.saturating_add(9) / 10 - 1).max(0)).unwrap_or(0).min(BANDS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_its_upper_bound() {
        for (capacity, used, expected) in [
            (100, 0, 0),
            (100, 10, 0),
            (1_000, 109, 0),
            (100, 11, 1),
            (100, 20, 1),
            (100, 91, 9),
            (100, 100, 9),
            (100, 250, 9),
            (0, 1, 9),
            (0, 0, 0),
            (1, i64::MAX, 9),
        ] {
            let found = bucket(Quantity::of(capacity), Quantity::of(used));
            assert_eq!(found, expected, "{used} of {capacity}");
        }
    }
}
