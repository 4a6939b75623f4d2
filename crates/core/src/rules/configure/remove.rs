//! Removal of a partition that the queue file no longer names.

use alloc::vec::Vec;

use crate::books::Books;
use crate::event::{ApplicationEvent, Event, NodeEvent, PartitionEvent, QueueEvent, Termination};
use crate::id::{PartitionId, QueueId};
use crate::rules::application::leave;

/// Removes a partition with its applications, nodes, limits, and queues.
pub(super) fn partition(books: &Books, partition: PartitionId, events: &mut Vec<Event>) {
    let row = books.partition(partition);
    for (_, application) in row.applications.iter() {
        leave(books, *application, Termination::PartitionRemoved, events);
    }
    // Ended applications are not in the list of the partition.
    for (application, ended) in books.applications().iter() {
        if ended.partition == partition && !ended.state.is_active() {
            events.push(Event::Application(ApplicationEvent::Removed { application }));
        }
    }
    events
        .extend(row.nodes.iter().map(|(_, node)| Event::Node(NodeEvent::Removed { node: *node })));
    for (path, queue) in row.queues.iter() {
        if !row.trackers.limits_at(*queue).is_empty() {
            let (queue, limits) = (path.clone(), Vec::new());
            events.push(Event::Queue(QueueEvent::LimitsChanged { partition, queue, limits }));
        }
    }
    // The reversed order of paths removes children before their parents.
    let mut queues: Vec<QueueId> = row.queues.iter().map(|(_, queue)| *queue).collect();
    queues.reverse();
    queues.retain(|queue| *queue != row.root);
    events.extend(queues.into_iter().map(|queue| Event::Queue(QueueEvent::Removed { queue })));
    events.push(Event::Partition(PartitionEvent::Removed { partition }));
}
