//! A partition that the file does not name any more.

use alloc::vec::Vec;

use crate::books::Books;
use crate::event::{Event, Termination};
use crate::id::{PartitionId, QueueId};
use crate::rules::application::leave;

/// Everything goes: applications with what they have and ask for, nodes, limits, queues.
pub(super) fn partition(books: &Books, partition: PartitionId, events: &mut Vec<Event>) {
    let row = books.partition(partition);
    for (_, application) in row.applications.iter() {
        leave(books, *application, Termination::PartitionRemoved, events);
    }
    // Ended ones are remembered by no partition.
    for (application, ended) in books.applications().iter() {
        if ended.partition == partition && !ended.state.is_active() {
            events.push(Event::ApplicationRemoved { application });
        }
    }
    events.extend(row.nodes.iter().map(|(_, node)| Event::NodeRemoved { node: *node }));
    for (path, queue) in row.queues.iter() {
        if !row.trackers.limits_at(*queue).is_empty() {
            let (queue, limits) = (path.clone(), Vec::new());
            events.push(Event::LimitsChanged { partition, queue, limits });
        }
    }
    // Paths in order, turned round: children before their parents.
    let mut queues: Vec<QueueId> = row.queues.iter().map(|(_, queue)| *queue).collect();
    queues.reverse();
    queues.retain(|queue| *queue != row.root);
    events.extend(queues.into_iter().map(|queue| Event::QueueRemoved { queue }));
    events.push(Event::PartitionRemoved { partition });
}
