//! Queue states after a queue file: stopped queues with their descendants, restarted queues, and queues that the file
//! no longer names. Source: user-headroom §10 (C12).

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::{Books, Queue, QueueSettings, QueueState};
use crate::event::{Event, QueueEvent};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::placement::is_recovery;

use super::target::Target;

fn moved(partition: PartitionId, path: &Name, state: QueueState) -> Event {
    Event::Queue(QueueEvent::Moved { partition, queue: path.clone(), state })
}

/// Returns the event for the state of a new queue. `None` if the queue is active.
pub(in crate::rules) fn of_new(partition: PartitionId, target: &Target<'_>) -> Option<Event> {
    let stopped = target.settings.stopped;
    stopped.then(|| moved(partition, &target.path, QueueState::Stopped))
}

/// Returns the event for the state of an existing queue that the file names. `None` if the state does not change. A
/// stopped queue drains until its last application ends.
pub(in crate::rules) fn of_known(
    partition: PartitionId,
    queue: &Queue,
    target: &Target<'_>,
) -> Option<Event> {
    let state = match (target.settings.stopped, queue.applications) {
        (false, _) if target.draining => QueueState::Draining,
        (false, _) => QueueState::Active,
        (true, 0) => QueueState::Stopped,
        (true, _) => QueueState::Draining,
    };
    (queue.state != state).then(|| moved(partition, &target.path, state))
}

/// Adds the events for the states of queues that the file does not name.
///
/// Queues of an earlier file drain and are removed when they are empty, even if they were stopped. Queues that
/// placement rules created follow the nearest ancestor in the file.
pub(super) fn of_others(
    books: &Books,
    partition: PartitionId,
    wanted: &BTreeMap<QueueId, &Target<'_>>,
    events: &mut Vec<Event>,
) {
    for (path, id) in books.partition(partition).queues.iter() {
        let queue = books.queue(*id);
        if wanted.contains_key(id) {
            continue;
        }
        let state = if queue.managed {
            if queue.settings.stopped {
                events.push(no_more_stopped(partition, queue));
            }
            QueueState::Draining
        } else {
            let above = books.up(*id).find(|(_, above)| above.managed);
            match above.and_then(|(above, _)| wanted.get(&above)) {
                Some(above) if !is_recovery(books, *id) => {
                    if above.settings.stopped {
                        QueueState::Draining
                    } else {
                        QueueState::Active
                    }
                }
                _ => queue.state,
            }
        };
        if queue.state != state {
            events.push(moved(partition, path, state));
        }
    }
}

/// Returns the event that clears the setting `stopped`, because the queue now drains for another reason: the file does
/// not name it.
fn no_more_stopped(partition: PartitionId, queue: &Queue) -> Event {
    let settings = QueueSettings { stopped: false, ..QueueSettings::clone(&queue.settings) };
    Event::Queue(QueueEvent::Changed {
        partition,
        queue: queue.path.clone(),
        leaf: queue.leaf,
        managed: queue.managed,
        settings: Box::new(settings),
    })
}
