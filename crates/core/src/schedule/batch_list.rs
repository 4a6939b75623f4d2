//! Batches of one application, searched by key.

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

/// Batches in the order of their keys.
///
/// An application can have hundreds of sizes. A search therefore reads an array of shapes only, sixteen in a cache
/// line. It reads the rest of a key only if shapes are equal.
#[derive(Clone, Debug, Default)]
pub(super) struct BatchList {
    shapes: SmallVec<[ShapeId; 4]>,
    rest: SmallVec<[(BatchKey, AskBatchId); 2]>,
    /// Number of batches with placeholders of a gang.
    in_gang: u32,
}

impl BatchList {
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    /// Returns the batch at a position.
    pub(super) fn at(&self, position: usize) -> AskBatchId {
        self.rest[position].1
    }

    /// Returns all batches in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = AskBatchId> {
        self.rest.iter().map(|(_, batch)| *batch)
    }

    /// Returns the batches with placeholders of a gang that is placed as a whole.
    pub(super) fn of_gang(&self) -> impl Iterator<Item = (BatchKey, AskBatchId)> {
        let all = if self.in_gang == 0 { &[] } else { &*self.rest };
        all.iter().filter(|(key, _)| key.in_gang).copied()
    }

    /// Returns the position of the batch with this key.
    pub(super) fn position(&self, key: BatchKey) -> Option<usize> {
        self.search(key).ok()
    }

    pub(super) fn insert(&mut self, key: BatchKey, batch: AskBatchId) {
        match self.search(key) {
            Ok(at) => self.rest[at].1 = batch,
            Err(at) => {
                self.in_gang += u32::from(key.in_gang);
                self.shapes.insert(at, key.shape);
                self.rest.insert(at, (key, batch));
            }
        }
    }

    pub(super) fn remove(&mut self, position: usize) {
        self.shapes.remove(position);
        let (key, _) = self.rest.remove(position);
        self.in_gang -= u32::from(key.in_gang);
    }

    fn search(&self, key: BatchKey) -> Result<usize, usize> {
        let first = self.shapes.partition_point(|one| *one < key.shape);
        let before = self.rest[first..].iter().take_while(|(known, _)| *known < key).count();
        let at = first + before;
        let is_there = self.rest.get(at).is_some_and(|(known, _)| *known == key);
        if is_there { Ok(at) } else { Err(at) }
    }
}
