//! Batches of one application, searched by key.

use alloc::collections::BTreeMap;

use smallvec::SmallVec;

use crate::books::Books;
use crate::id::{AllocationId, ShapeId};

use super::class::AskBatchId;
use super::placement_mode::PlacementMode;

/// Key that distinguishes the asks of one application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BatchKey {
    pub(super) shape: ShapeId,
    pub(super) mode: PlacementMode,
    /// Whether they are placeholders of a gang that is placed as a whole.
    pub(super) in_gang: bool,
    /// Whether the queues hold capacity for the ask. Such an ask is the only one of its batch. False for tasks whose
    /// members start together, because these stay in one batch.
    pub(super) has_hold: bool,
}

impl BatchKey {
    /// Returns the key of an ask with this placement mode.
    pub(super) fn of(books: &Books, ask: AllocationId, mode: PlacementMode) -> Self {
        let row = books.allocation(ask);
        let has_hold = row.hold().is_some() && !matches!(mode, PlacementMode::AllOrNothing(_));
        Self { shape: row.shape, mode, in_gang: books.is_of_whole_gang(row), has_hold }
    }
}

/// Number of batches from which a list is a tree.
const MANY: usize = 1_024;

/// Batches in the order of their keys.
#[derive(Clone, Debug, Default)]
pub(super) struct BatchList {
    entries: Entries,
    /// Number of batches with placeholders of a gang.
    in_gang: u32,
}

#[derive(Clone, Debug)]
enum Entries {
    /// An application can have hundreds of sizes. A search therefore reads an array of shapes first, sixteen in a cache
    /// line. It reads the rest of a key only if shapes are equal.
    Few { shapes: SmallVec<[ShapeId; 4]>, rest: SmallVec<[(BatchKey, AskBatchId); 2]> },
    /// Each ask about which the RM was asked has a batch. An array would move thousands of them for each change.
    Many(BTreeMap<BatchKey, AskBatchId>),
}

impl Default for Entries {
    fn default() -> Self {
        Self::Few { shapes: SmallVec::new(), rest: SmallVec::new() }
    }
}

impl BatchList {
    pub(super) fn len(&self) -> usize {
        match &self.entries {
            Entries::Few { rest, .. } => rest.len(),
            Entries::Many(all) => all.len(),
        }
    }

    /// Returns all batches in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = AskBatchId> {
        self.entries().map(|(_, batch)| batch)
    }

    /// Returns the batches with placeholders of a gang that is placed as a whole.
    pub(super) fn of_gang(&self) -> impl Iterator<Item = (BatchKey, AskBatchId)> {
        let all = if self.in_gang == 0 { None } else { Some(self.entries()) };
        all.into_iter().flatten().filter(|(key, _)| key.in_gang)
    }

    fn entries(&self) -> impl Iterator<Item = (BatchKey, AskBatchId)> {
        let (few, many) = match &self.entries {
            Entries::Few { rest, .. } => (rest.as_slice(), None),
            Entries::Many(all) => ([].as_slice(), Some(all)),
        };
        let many = many.into_iter().flatten().map(|(key, batch)| (*key, *batch));
        few.iter().copied().chain(many)
    }

    /// Returns the batch with this key.
    pub(super) fn get(&self, key: BatchKey) -> Option<AskBatchId> {
        match &self.entries {
            Entries::Few { shapes, rest } => Some(rest[search(shapes, rest, key).ok()?].1),
            Entries::Many(all) => all.get(&key).copied(),
        }
    }

    /// Adds a batch, or replaces the one with this key.
    pub(super) fn insert(&mut self, key: BatchKey, batch: AskBatchId) {
        let is_new = match &mut self.entries {
            Entries::Few { shapes, rest } => match search(shapes, rest, key) {
                Ok(at) => {
                    rest[at].1 = batch;
                    false
                }
                Err(at) => {
                    shapes.insert(at, key.shape);
                    rest.insert(at, (key, batch));
                    if rest.len() >= MANY {
                        self.entries = Entries::Many(rest.drain(..).collect());
                    }
                    true
                }
            },
            Entries::Many(all) => all.insert(key, batch).is_none(),
        };
        self.in_gang += u32::from(is_new && key.in_gang);
    }

    pub(super) fn remove(&mut self, key: BatchKey) {
        let is_there = match &mut self.entries {
            Entries::Few { shapes, rest } => search(shapes, rest, key).is_ok_and(|at| {
                shapes.remove(at);
                rest.remove(at);
                true
            }),
            Entries::Many(all) => {
                let is_there = all.remove(&key).is_some();
                if all.is_empty() {
                    self.entries = Entries::default();
                }
                is_there
            }
        };
        self.in_gang -= u32::from(is_there && key.in_gang);
    }
}

/// Returns the position of a key, or where it belongs.
fn search(
    shapes: &[ShapeId],
    rest: &[(BatchKey, AskBatchId)],
    key: BatchKey,
) -> Result<usize, usize> {
    let first = shapes.partition_point(|one| *one < key.shape);
    let equal = shapes[first..].partition_point(|one| *one == key.shape);
    let found = rest[first..first + equal].binary_search_by_key(&key, |(known, _)| *known);
    found.map(|at| first + at).map_err(|at| first + at)
}

#[cfg(test)]
mod tests {
    use slotmap::KeyData;

    use super::*;
    use crate::id::{Id as _, Slot};

    fn entry(number: u32) -> (BatchKey, AskBatchId) {
        let ask = AllocationId::from_slot(Slot::new(number, 0));
        let shape = ShapeId::from_slot(Slot::new(number % 3, 0));
        let mode = PlacementMode::NeedsVerdict(ask);
        let key = BatchKey { shape, mode, in_gang: number.is_multiple_of(5), has_hold: false };
        (key, KeyData::from_ffi(u64::from(number) + 1).into())
    }

    #[test]
    fn an_array_and_a_tree_have_the_same_order() {
        let count: u32 = 3_000;
        assert!(count as usize > 2 * MANY);
        // 7 has no factor in common with the count, so each number occurs once.
        let numbers = || (0..count).map(|number| number * 7 % count);
        let (mut list, mut expected) = (BatchList::default(), BTreeMap::new());
        let is_equal = |list: &BatchList, expected: &BTreeMap<BatchKey, AskBatchId>| {
            assert_eq!(list.len(), expected.len());
            assert!(list.iter().eq(expected.values().copied()));
            let gang = expected.iter().filter(|(key, _)| key.in_gang);
            assert!(list.of_gang().eq(gang.map(|(key, batch)| (*key, *batch))));
        };
        for number in numbers() {
            let (key, batch) = entry(number);
            assert_eq!(list.get(key), None);
            list.insert(key, entry(number + 1).1);
            list.insert(key, batch);
            expected.insert(key, batch);
            assert_eq!(list.get(key), Some(batch));
            if number.is_multiple_of(97) {
                is_equal(&list, &expected);
            }
        }
        is_equal(&list, &expected);
        for number in numbers() {
            let (key, _) = entry(number);
            list.remove(key);
            list.remove(key);
            expected.remove(&key);
            if number.is_multiple_of(97) {
                is_equal(&list, &expected);
            }
        }
        assert_eq!((list.len(), list.in_gang), (0, 0));
    }
}
