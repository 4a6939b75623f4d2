//! How each event changes the books.
//!
//! An event is a fact: it is applied, not judged. Whoever makes events (`rules` and
//! `schedule`) has checked them, and replaying a journal never checks again.

mod allocation;
mod application;
mod structure;

use crate::event::Event;
use crate::id::{PartitionId, QueueId};
use crate::resource::{Amounts, Resources};
use crate::time::Timestamp;

use crate::books::tracker::Trackers;
use crate::books::{Books, Partition, Queue};

impl Books {
    /// Change the books by one event.
    ///
    /// # Panics
    /// When the event names a row that is not there: the events are then not of these books.
    pub fn apply(&mut self, now: Timestamp, event: &Event) {
        match event {
            Event::PartitionAdded { partition, settings, root } => {
                self.add_partition(now, partition, settings.clone(), root);
            }
            Event::PartitionChanged { partition, settings } => {
                self.change_partition(*partition, settings.clone());
            }
            Event::PartitionRemoved { partition } => self.remove_partition(*partition),
            Event::Configured { checksum } => self.checksum = checksum.clone(),
            Event::QueueAdded { partition, parent, name, leaf, managed, settings } => {
                self.add_queue(now, *partition, parent, name, (*leaf, *managed), settings);
            }
            Event::QueueChanged { partition, queue, leaf, managed, settings } => {
                let queue = self.partition(*partition).queues_path(queue);
                self.change_queue(now, queue, (*leaf, *managed), settings);
            }
            Event::QueueMoved { partition, queue, state } => {
                let queue = self.partition(*partition).queues_path(queue);
                self.queues[queue].state = *state;
                self.watch_emptiness(now, queue);
            }
            Event::QueueRemoved { queue } => self.remove_queue(now, *queue),
            Event::LimitsChanged { partition, queue, limits } => {
                self.set_limits(*partition, queue, limits);
            }
            Event::NodeAdded { partition, node, capacity, schedulable } => {
                self.add_node(*partition, node, capacity, *schedulable);
            }
            Event::NodeResized { node, capacity } => {
                let capacity = self.types.intern_all(capacity).pruned();
                let row = &mut self.nodes[*node];
                let change = capacity.minus(&row.capacity);
                row.set_capacity(capacity);
                let partition = row.partition;
                self.resize_root(partition, &change);
            }
            Event::NodeScheduling { node, schedulable } => {
                self.nodes[*node].schedulable = *schedulable;
            }
            Event::NodeRemoved { node } => self.remove_node(*node),
            Event::ApplicationAdded { partition, queue, application, user, groups } => {
                let queue = self.partition(*partition).queues_path(queue);
                self.add_application(now, queue, application, user, groups);
            }
            Event::ApplicationRejected { .. } => self.reject_application(now, event),
            Event::ApplicationLinked { application, group } => {
                self.link(*application, group.as_ref());
            }
            Event::GroupUnlinked { application } => self.unlink_group(*application),
            Event::ApplicationUnlinked { application } => self.unlink(*application),
            Event::ApplicationMoved { application, state, timer } => {
                self.move_application(now, *application, *state, *timer);
            }
            Event::ApplicationRemoved { application } => self.remove_application(now, *application),
            Event::AskAdded { .. } => self.add_ask(event),
            Event::AskRemoved { ask, termination: _ } => self.remove_ask(*ask),
            Event::Placed { ask, node } => self.place(now, *ask, *node),
            Event::Resized { allocation, resources } => self.resize(now, *allocation, resources),
            Event::Released { allocation, termination: _ } => self.release(*allocation),
        }
    }

    /// The vector of these amounts; none unless it limits or grants anything at all.
    pub(super) fn positive(&mut self, amounts: &Amounts) -> Option<Resources> {
        amounts.is_strictly_positive().then(|| self.types.intern_all(amounts))
    }

    pub(super) fn each_up(&mut self, queue: QueueId, mut change: impl FnMut(&mut Queue)) {
        let mut next = Some(queue);
        while let Some(id) = next {
            let queue = &mut self.queues[id];
            change(queue);
            next = queue.parent;
        }
    }

    pub(super) fn partition_mut(&mut self, partition: PartitionId) -> &mut Partition {
        self.partitions.get_mut(&partition).expect("the event names a partition that is there")
    }

    pub(super) fn trackers(&mut self, partition: PartitionId) -> &mut Trackers {
        &mut self.partition_mut(partition).trackers
    }
}

impl Partition {
    /// The queue at a path that an event names.
    pub(super) fn queues_path(&self, path: &str) -> QueueId {
        *self.queues.get(path).expect("the event names a queue that is there")
    }
}
