//! Holds: free capacity of queues that is reserved for asks which have waited too long. They are found from the asks
//! alone. Source: no-starvation NS-20.

use alloc::vec::Vec;

use crate::books::Books;
use crate::event::{AskEvent, Event};
use crate::id::{AllocationId, QueueId};
use crate::resource::{Quantity, Resources};
use crate::time::{Millis, Timestamp};

use super::{all_or_nothing, has_room, is_allowed, link_of, lost_members, may_start, never};

/// Whether queues hold capacity for another ask, and this ask of this amount would take it.
pub(super) fn hold_back(books: &Books, ask: AllocationId, wanted: &Resources) -> bool {
    let row = books.allocation(ask);
    if row.reservation().is_some() && row.preemption_triggered {
        return false; // Others were stopped for it.
    }
    let application = books.application(row.application);
    if books.asks_about_nodes(application.partition) && row.preemption_triggered {
        return false;
    }
    held(books).any(|(owner, queues)| {
        let other = books.allocation(owner);
        let its = books.application(other.application);
        let equal =
            (other.shape, its.queue, its.link) == (row.shape, application.queue, application.link);
        let needed = all_or_nothing::wanted(books, owner);
        let takes = |queue: &QueueId| {
            let queue = books.queue(*queue);
            let Some(max) = &queue.max else { return false };
            wanted.iter().any(|(resource, amount)| {
                let first = needed.get_or_zero(resource);
                let Some(max) = max.get(resource) else { return false };
                let free = max.minus(queue.allocated.get_or_zero(resource));
                amount > Quantity::ZERO && first > Quantity::ZERO && free.minus(first) < amount
            })
        };
        let above: Vec<QueueId> = books.up(application.queue).map(|(id, _)| id).collect();
        // What is guaranteed to the ask and not to the owner is not held back.
        let guaranteed = |queue: &QueueId| {
            let below = above.iter().take_while(|one| *one != queue);
            below.filter(|one| !queues.contains(one)).any(|one| {
                let row = books.queue(*one);
                let after = row.allocated.plus(wanted);
                wanted.iter().all(|(resource, amount)| {
                    let own = row.guaranteed.as_ref().and_then(|all| all.get(resource));
                    amount <= Quantity::ZERO
                        || needed.get_or_zero(resource) <= Quantity::ZERO
                        || own.is_some_and(|own| after.get_or_zero(resource) <= own)
                })
            })
        };
        let mut held = queues.iter().filter(|queue| above.contains(queue));
        !equal && held.any(|queue| takes(queue) && !guaranteed(queue))
    })
}

/// Returns each ask with a hold, and the queues that hold capacity for it.
fn held(books: &Books) -> impl Iterator<Item = (AllocationId, Vec<QueueId>)> {
    books.allocations().iter().filter_map(|(id, row)| Some((id, path(books, id, row.hold()?.top))))
}

/// Returns the queues from the leaf of an ask up to this queue.
fn path(books: &Books, ask: AllocationId, top: QueueId) -> Vec<QueueId> {
    let mut path = Vec::new();
    for (queue, _) in books.up(books.application(books.allocation(ask).application).queue) {
        path.push(queue);
        if queue == top {
            break;
        }
    }
    path
}

/// Returns the fault of a hold that begins or ends now. `None` if there is no fault.
pub fn wrong_hold(books: &Books, now: Timestamp, event: &Event) -> Option<&'static str> {
    let (ask, top) = match event {
        Event::Ask(AskEvent::Held { ask, top }) => (*ask, Some(*top)),
        Event::Ask(AskEvent::HoldEnded { ask }) => (*ask, None),
        _ => return Some("the event is about no hold"),
    };
    let row = books.allocation(ask);
    let application = books.application(row.application);
    let after = books.partition(application.partition).settings.starvation_after;
    let Some(top) = top else {
        let since = row.hold().map(|hold| hold.since);
        let longest = (0..row.holds_failed()).fold(after.get() * 4, |longest, _| longest * 2);
        let over = since.is_some_and(|since| now.since(since).get() >= longest);
        return (!over).then_some("the hold ends too early");
    };
    if after == Millis::ZERO {
        return Some("the partition gives no holds");
    }
    let is_repair = lost_members(application) > 0;
    if !row.is_pending() || (now.since(row.created) < after && !is_repair) {
        return Some("the ask has not waited long enough");
    }
    if never::can_never_start(books, ask) {
        return Some("the ask is impossible");
    }
    let Ok(link) = link_of(books, row.application, application) else {
        return Some("nobody knows whom to charge");
    };
    if !may_start(books, application, link) || !is_allowed(books, application, link, ask) {
        return Some("a user or group limit holds the ask back");
    }
    let wanted = all_or_nothing::wanted(books, ask);
    let lacking = books.up(application.queue).filter(|(_, queue)| !has_room(queue, &wanted)).last();
    if lacking.map(|(queue, _)| queue) != Some(top) {
        return Some("the hold does not end at the highest queue without room");
    }
    let mine = path(books, ask, top);
    let overlaps = |(owner, queues): (AllocationId, Vec<QueueId>)| {
        owner != ask && queues.iter().any(|queue| mine.contains(queue))
    };
    held(books).any(overlaps).then_some("a queue holds room for another ask")
}
