//! What is asked of asks that wait, and of the queues that keep them waiting.

use crate::books::{Books, Queue};
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::wait::{Blocker, CheckResult, Wait};

use super::Scheduler;
use super::batch_list::BatchKey;
use super::class::{ClassId, ClassKey};
use super::nodes::Unsuited;
use super::placement_mode::PlacementMode;

impl Scheduler {
    /// The ask by which a class is judged, if the class still is there.
    pub fn first_of(&self, class: ClassId) -> Option<AllocationId> {
        self.classes.rows.get(class).filter(|_| !self.stale)?;
        Some(self.first_ask(class).1)
    }

    /// The applications whose asks a class has, in the order of their leaf; one that asks for
    /// the same in two ways occurs twice.
    pub fn applications_of(&self, class: ClassId) -> impl Iterator<Item = ApplicationId> {
        let row = self.classes.rows.get(class).filter(|_| !self.stale);
        let batches = row.into_iter().flat_map(|row| row.batches.keys());
        batches.map(|(_, batch)| self.classes.batches[*batch].application)
    }

    /// The class of an ask that waits.
    pub fn class_of(&self, books: &Books, ask: AllocationId) -> Option<ClassId> {
        let row = books.allocations().get(ask).filter(|row| row.is_pending() && !self.stale)?;
        let waiting = self.applications.get(row.application.index())?;
        let mode = PlacementMode::of(books, ask, row);
        let batch = waiting.batch(BatchKey::of(books, ask, mode))?;
        Some(self.classes.batches[batch].class)
    }

    /// Why a partition has no node for a class, or not for all that starts together, where that is so.
    pub(super) fn without_node(
        &self,
        books: &Books,
        partition: PartitionId,
        key: ClassKey,
    ) -> Wait {
        let (nodes, shape) = (&self.nodes[&partition], key.shape);
        if key.members() > 1 && nodes.has_room_for(books, shape, 1) {
            return Wait::of(Blocker::Nodes(partition)); // For some of them, and not for all.
        }
        match nodes.lacks_suiting(books, shape) {
            Some(Unsuited::Label) => Wait::of(Blocker::NoSuchLabel(partition)),
            Some(Unsuited::Blocked) => Wait::of(Blocker::NodeBlocked(partition)),
            None if nodes.is_reserved_from(books, shape) => {
                Wait::of(Blocker::NodesReserved(partition))
            }
            None => {
                let shortfall = nodes.shortfall(books, shape);
                Wait { blocker: Blocker::Nodes(partition), shortfall }
            }
        }
    }
}

/// Returns the queue that keeps a leaf from accepting allocations: itself, if it is a leaf no more, one above that
/// became a leaf, one that is stopped, or whose tenant is suspended.
pub(super) fn closed_queue_wait(books: &Books, leaf: QueueId) -> Option<Wait> {
    states(books, leaf).find_map(CheckResult::wait)
}

/// Whether the queues from a leaf up accept allocations, or keep what is below from them.
pub(super) fn states(books: &Books, leaf: QueueId) -> impl Iterator<Item = CheckResult> {
    let shut = move |id: QueueId, queue: &Queue| {
        !queue.accepts_allocations() || queue.leaf != (id == leaf)
    };
    books
        .up(leaf)
        .map(move |(id, queue)| CheckResult::of(Blocker::QueueState(id), shut(id, queue), None))
}
