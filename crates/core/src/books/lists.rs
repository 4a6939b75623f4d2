//! Linked lists of rows: children of a queue, its applications, the asks and allocations of an application, and the
//! allocations of a node.
//!
//! The links are stored in the rows, so that copying a row costs the same regardless of the length of its lists.

use super::StopRequest;
use crate::id::{AllocationId, ApplicationId, NodeId, QueueId};

use super::{Allocation, Application, Books, Queue};

impl Books {
    /// Returns the children of a queue, in order of creation.
    pub fn children(&self, queue: QueueId) -> impl Iterator<Item = (QueueId, &Queue)> {
        let mut next = self.queues[queue].first_child;
        core::iter::from_fn(move || {
            let id = next?;
            let row = &self.queues[id];
            next = row.next_sibling;
            Some((id, row))
        })
    }

    /// Returns the unfinished applications of a leaf, in order of submission.
    pub fn applications_in(
        &self,
        queue: QueueId,
    ) -> impl Iterator<Item = (ApplicationId, &Application)> {
        let mut next = self.queues[queue].first_application;
        core::iter::from_fn(move || {
            let id = next?;
            let row = &self.applications[id];
            next = row.next_in_queue;
            Some((id, row))
        })
    }

    /// Returns the asks and allocations of an application, newest first.
    pub fn allocations_of(
        &self,
        application: ApplicationId,
    ) -> impl Iterator<Item = (AllocationId, &Allocation)> {
        let mut next = self.applications[application].first_allocation;
        core::iter::from_fn(move || {
            let id = next?;
            let row = &self.allocations[id];
            next = row.next_in_application;
            Some((id, row))
        })
    }

    /// Returns the ask or allocation of an application with this key.
    pub fn allocation_named(&self, application: ApplicationId, key: &str) -> Option<AllocationId> {
        let partition = self.partition(self.applications[application].partition);
        let found = *partition.allocations.get(key)?;
        (self.allocations[found].application == application).then_some(found)
    }

    /// Returns the allocations on a node that are being preempted.
    pub(crate) fn preempted_on(&self, node: NodeId) -> impl Iterator<Item = AllocationId> {
        let all = self.allocations_on(node);
        all.filter(|(_, row)| row.mark == StopRequest::Preempted).map(|(id, _)| id)
    }

    /// Returns the allocations on a node, newest first.
    pub fn allocations_on(
        &self,
        node: NodeId,
    ) -> impl Iterator<Item = (AllocationId, &Allocation)> {
        let mut next = self.nodes[node].first_allocation;
        core::iter::from_fn(move || {
            let id = next?;
            let row = &self.allocations[id];
            next = row.next_on_node;
            Some((id, row))
        })
    }

    pub(super) fn attach_queue(&mut self, queue: QueueId) {
        let Some(parent) = self.queues[queue].parent else {
            return;
        };
        self.queues[parent].child_count += 1;
        let last = self.queues[parent].last_child.replace(queue);
        self.queues[queue].previous_sibling = last;
        match last {
            Some(last) => self.queues[last].next_sibling = Some(queue),
            None => self.queues[parent].first_child = Some(queue),
        }
    }

    pub(super) fn detach_queue(&mut self, queue: QueueId) {
        let row = &self.queues[queue];
        let Some(parent) = row.parent else { return };
        let (previous, next) = (row.previous_sibling, row.next_sibling);
        self.queues[parent].child_count -= 1;
        match previous {
            Some(previous) => self.queues[previous].next_sibling = next,
            None => self.queues[parent].first_child = next,
        }
        match next {
            Some(next) => self.queues[next].previous_sibling = previous,
            None => self.queues[parent].last_child = previous,
        }
    }

    pub(super) fn attach_application(&mut self, application: ApplicationId) {
        let queue = self.applications[application].queue;
        let last = self.queues[queue].last_application.replace(application);
        self.applications[application].previous_in_queue = last;
        match last {
            Some(last) => self.applications[last].next_in_queue = Some(application),
            None => self.queues[queue].first_application = Some(application),
        }
    }

    pub(super) fn detach_application(&mut self, application: ApplicationId) {
        let row = &mut self.applications[application];
        let queue = row.queue;
        let (previous, next) = (row.previous_in_queue.take(), row.next_in_queue.take());
        match previous {
            Some(previous) => self.applications[previous].next_in_queue = next,
            None => self.queues[queue].first_application = next,
        }
        match next {
            Some(next) => self.applications[next].previous_in_queue = previous,
            None => self.queues[queue].last_application = previous,
        }
    }

    pub(super) fn attach_allocation(&mut self, allocation: AllocationId) {
        let application = self.allocations[allocation].application;
        let first = self.applications[application].first_allocation.replace(allocation);
        self.allocations[allocation].next_in_application = first;
        if let Some(first) = first {
            self.allocations[first].previous_in_application = Some(allocation);
        }
    }

    pub(super) fn detach_allocation(&mut self, allocation: &Allocation) {
        let (previous, next) = (allocation.previous_in_application, allocation.next_in_application);
        match previous {
            Some(previous) => self.allocations[previous].next_in_application = next,
            None => self.applications[allocation.application].first_allocation = next,
        }
        if let Some(next) = next {
            self.allocations[next].previous_in_application = previous;
        }
    }

    #[inline]
    pub(super) fn attach_to_node(&mut self, allocation: AllocationId, node: NodeId) {
        let first = self.nodes[node].first_allocation.replace(allocation);
        self.allocations[allocation].next_on_node = first;
        if let Some(first) = first {
            self.allocations[first].previous_on_node = Some(allocation);
        }
    }

    pub(super) fn detach_from_node(&mut self, allocation: &Allocation, node: NodeId) {
        let (previous, next) = (allocation.previous_on_node, allocation.next_on_node);
        match previous {
            Some(previous) => self.allocations[previous].next_on_node = next,
            None => self.nodes[node].first_allocation = next,
        }
        if let Some(next) = next {
            self.allocations[next].previous_on_node = previous;
        }
    }
}
