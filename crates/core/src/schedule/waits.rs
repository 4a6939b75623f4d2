//! Queries about waiting asks and their queues.

use crate::books::{Books, Queue};
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::wait::{Blocker, CheckResult, Wait};

use super::Scheduler;
use super::batch_list::BatchKey;
use super::class::{ClassId, ClassKey};
use super::nodes::Unsuited;
use super::placement_mode::PlacementMode;

impl Scheduler {
    /// Returns the first ask of a class, by which the class is checked. `None` if the class does not exist.
    pub fn first_of(&self, class: ClassId) -> Option<AllocationId> {
        self.classes.rows.get(class).filter(|_| !self.stale)?;
        Some(self.first_ask(class).1)
    }

    /// Returns the applications of a class in the order of their leaf. An application with two batches in the class
    /// occurs twice.
    pub fn applications_of(&self, class: ClassId) -> impl Iterator<Item = ApplicationId> {
        let row = self.classes.rows.get(class).filter(|_| !self.stale);
        let batches = row.into_iter().flat_map(|row| row.batches.keys());
        batches.map(|(_, batch)| self.classes.batches[*batch].application)
    }

    /// Returns the class of a waiting ask.
    pub fn class_of(&self, books: &Books, ask: AllocationId) -> Option<ClassId> {
        let row = books.allocations().get(ask).filter(|row| row.is_pending() && !self.stale)?;
        let waiting = self.applications.get(row.application.index())?;
        let mode = PlacementMode::of(books, ask, row);
        let batch = waiting.batch(BatchKey::of(books, ask, mode))?;
        Some(self.classes.batches[batch].class)
    }

    /// Returns why a partition has no node for a class, or not for all asks that start together.
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

/// Returns the wait for the queue that prevents allocations in a leaf: the leaf itself if it became a parent, an
/// ancestor that became a leaf, or a queue that is stopped or whose tenant is suspended.
pub(super) fn closed_queue_wait(books: &Books, leaf: QueueId) -> Option<Wait> {
    states(books, leaf).find_map(CheckResult::wait)
}

/// Checks whether each queue from the leaf to the root allows allocations.
pub(super) fn states(books: &Books, leaf: QueueId) -> impl Iterator<Item = CheckResult> {
    let shut = move |id: QueueId, queue: &Queue| {
        !queue.accepts_allocations() || queue.leaf != (id == leaf)
    };
    books
        .up(leaf)
        .map(move |(id, queue)| CheckResult::of(Blocker::QueueState(id), shut(id, queue), None))
}
