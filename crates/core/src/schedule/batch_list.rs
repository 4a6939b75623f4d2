//! The batches of one application, found by what they want.

use smallvec::SmallVec;

use crate::books::Books;
use crate::id::{AllocationId, ShapeId};

use super::class::AskBatchId;
use super::placement_mode::PlacementMode;

/// What distinguishes the asks of one application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BatchKey {
    pub(super) shape: ShapeId,
    pub(super) mode: PlacementMode,
    /// Whether they are placeholders of its gang, which is placed as a whole.
    pub(super) in_gang: bool,
}

impl BatchKey {
    /// Of an ask in this mode.
    pub(super) fn of(books: &Books, ask: AllocationId, mode: PlacementMode) -> Self {
        let row = books.allocation(ask);
        Self { shape: row.shape, mode, in_gang: books.is_of_whole_gang(row) }
    }
}

/// Batches in the order of their keys.
#[derive(Clone, Debug, Default)]
pub(super) struct BatchList(SmallVec<[(BatchKey, AskBatchId); 2]>);

impl BatchList {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The batch at a position.
    pub(super) fn at(&self, position: usize) -> AskBatchId {
        self.0[position].1
    }

    /// All in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = AskBatchId> {
        self.0.iter().map(|(_, batch)| *batch)
    }

    /// The placeholders of its gang, where that is placed as a whole.
    pub(super) fn of_gang(&self) -> impl Iterator<Item = (BatchKey, AskBatchId)> {
        self.0.iter().filter(|(key, _)| key.in_gang).copied()
    }

    /// Where the batch of this key is.
    pub(super) fn position(&self, key: BatchKey) -> Option<usize> {
        self.0.binary_search_by_key(&key, |(known, _)| *known).ok()
    }

    /// Add a batch of a key that has none.
    pub(super) fn insert(&mut self, key: BatchKey, batch: AskBatchId) {
        let at = self.0.partition_point(|(known, _)| *known < key);
        self.0.insert(at, (key, batch));
    }

    pub(super) fn remove(&mut self, position: usize) {
        self.0.remove(position);
    }
}
