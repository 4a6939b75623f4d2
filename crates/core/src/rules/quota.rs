//! Quota preemption: room is asked back from queues above their maximum. Scheduling §11.7.
//!
//! Queues of tenants have a rule of their own (`rules/tenant/evict.rs`). One run per change: whatever it finds, the clock of the queue stops, and what is still above
//! the maximum stays until the next change. A run never asks back more than the queue is over.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::{Allocation, Books, Queue};
use crate::event::{AllocationEvent, Event, PreemptionCause, QueueEvent};
use crate::id::{AllocationId, QueueId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::{Quantity, Resources, Shares};
use crate::time::Timestamp;

use super::{partition_named, tenant};

/// Where creation times are cut when victims are compared, in milliseconds: within the same hour
/// it does not matter which is newer.
const HOUR: u64 = 60 * 60 * 1_000;

/// Look for queues whose time is over, from the root down.
///
/// Costs the queues of the partition; and the allocations below each queue that is over.
pub(super) fn scan(
    books: &Books,
    now: Timestamp,
    partition: &Name,
) -> Result<Vec<Event>, Rejection> {
    let partition = books.partition(partition_named(books, partition)?);
    let (mut events, mut stopped) = (Vec::new(), BTreeSet::new());
    // What a tenant says of its quota holds whether other queues give back or not.
    if partition.settings.preemption.quota_enabled {
        look(books, now, partition.root, &mut stopped, &mut events);
    } else if let Some(root) = partition.tenants_root() {
        for (child, _) in books.children(root) {
            tenant::look_at_quotas(books, now, child, &mut stopped, &mut events);
        }
    }
    Ok(events)
}

fn look(
    books: &Books,
    now: Timestamp,
    id: QueueId,
    stopped: &mut BTreeSet<AllocationId>,
    events: &mut Vec<Event>,
) {
    let queue = books.queue(id);
    if queue.settings.tenant.is_some() {
        return tenant::look_at_quotas(books, now, id, stopped, events);
    }
    let at = queue.quota_preemption_at.filter(|_| queue.managed);
    let within = queue.max.as_ref().is_none_or(|max| max.is_at_least_existing(&queue.allocated));
    match at {
        Some(_) if within => events.push(Event::Queue(QueueEvent::QuotaClockStopped { queue: id })),
        Some(at) if at <= now => {
            let mut run = Run { books, cause: PreemptionCause::Quota(id), events };
            run.ask_back(id, &excess(books, id, queue));
            events.push(Event::Queue(QueueEvent::QuotaClockStopped { queue: id }));
            return; // What is below it was part of the run.
        }
        Some(_) | None => {}
    }
    for (child, _) in books.children(id) {
        look(books, now, child, stopped, events);
    }
}

/// By how much a queue is above its maximum, without what is being stopped already; no more of
/// a type than it, or a queue above it, is above its guarantee of it.
fn excess(books: &Books, id: QueueId, queue: &Queue) -> Resources {
    let Some(max) = &queue.max else { return Resources::new() };
    let used = queue.allocated.minus(&queue.preempting);
    let over =
        max.iter().map(|(resource, most)| (resource, used.get_or_zero(resource).minus(most)));
    over.filter(|(_, over)| *over > Quantity::ZERO)
        .map(|(resource, over)| {
            let above = books.up(id).filter_map(|(_, queue)| {
                let guaranteed = queue.guaranteed.as_ref()?.get(resource)?;
                Some(queue.allocated.get_or_zero(resource).minus(guaranteed))
            });
            let bound = above.filter(|above| *above > Quantity::ZERO).max();
            (resource, bound.map_or(over, |bound| bound.min(over)))
        })
        .collect()
}

/// One run for one queue.
struct Run<'books, 'events> {
    books: &'books Books,
    cause: PreemptionCause,
    events: &'events mut Vec<Event>,
}

impl Run<'_, '_> {
    /// Ask this much back from a queue.
    fn ask_back(&mut self, id: QueueId, amount: &Resources) {
        if amount.is_empty() {
            return;
        }
        if self.books.queue(id).leaf {
            let cause = self.cause;
            let victims = victims(self.books, id, amount);
            self.events.extend(
                victims
                    .into_iter()
                    .map(|victim| Event::Allocation(AllocationEvent::Preempted { victim, cause })),
            );
            return;
        }
        for (child, part) in parts(self.books, id, amount) {
            self.ask_back(child, &part);
        }
    }
}

/// What each queue below gives of an amount: in proportion to what it has above its guarantee,
/// or has at all if nothing is guaranteed; rounded down.
fn parts(books: &Books, id: QueueId, amount: &Resources) -> Vec<(QueueId, Resources)> {
    let bases: Vec<(QueueId, Resources)> =
        books.children(id).filter_map(|(id, queue)| Some((id, spare(queue)?))).collect();
    let mut sum = Resources::new();
    for (_, base) in &bases {
        sum.add(base);
    }
    let part = |base: &Resources| {
        let part = amount.iter().filter_map(|(resource, amount)| {
            let (base, sum) = (base.get(resource)?.get(), sum.get(resource)?.get());
            let part = i128::from(amount.get()) * i128::from(base) / i128::from(sum).max(1);
            let part = i64::try_from(part).expect("a part is no more than the whole");
            (part > 0).then_some((resource, Quantity::of(part)))
        });
        part.collect()
    };
    bases.iter().map(|(id, base)| (*id, part(base))).collect()
}

/// What a queue has above its guarantee, in the types that it is guaranteed; all that it has if
/// it is guaranteed nothing. None if it has nothing to give. A type below its guarantee has
/// nothing to give (decision D-16).
fn spare(queue: &Queue) -> Option<Resources> {
    if queue.allocated.is_empty() {
        return None;
    }
    let Some(guaranteed) = queue.guaranteed.as_ref().filter(|one| !one.is_empty()) else {
        return Some(queue.allocated.clone());
    };
    if guaranteed.is_at_least_existing(&queue.allocated) {
        return None;
    }
    let above = |(resource, least)| {
        (resource, queue.allocated.get_or_zero(resource).minus(least).max(Quantity::ZERO))
    };
    Some(guaranteed.iter().map(above).collect())
}

/// The order in which allocations go. Preemptable ones go first, and those that are not the first
/// of their application (decision D-5). Then those with the largest part of their types in excess;
/// then the least urgent, the newest, the smallest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct VictimOrder {
    reluctant: bool,
    originator: bool,
    percent: Reverse<usize>,
    priority: i32,
    hour: Reverse<u64>,
    share: Shares,
    number: Reverse<u64>,
}

impl VictimOrder {
    fn of(row: &Allocation, size: &Resources, amount: &Resources, max: Option<&Resources>) -> Self {
        let wanted: Resources = size.iter().filter(|(resource, _)| amount.has(*resource)).collect();
        Self {
            reluctant: !row.preemptable,
            originator: row.originator,
            percent: Reverse(100 * wanted.len() / size.len().max(1)),
            priority: row.priority,
            hour: Reverse(row.created.as_millis() / HOUR),
            share: Shares::of(&wanted, max),
            number: Reverse(row.number.unsigned_abs()),
        }
    }
}

/// What a leaf gives of an amount: one by one, each allocation that does not make it too much.
fn victims(books: &Books, leaf: QueueId, amount: &Resources) -> Vec<AllocationId> {
    let max = books.effective_max(leaf);
    let mut candidates: Vec<(VictimOrder, AllocationId)> = books
        .applications_in(leaf)
        .flat_map(|(application, _)| books.allocations_of(application))
        .map(|(id, row)| (id, row, books.shapes().get(row.shape)))
        .filter(|(_, row, size)| row.is_eligible_victim(size, amount))
        .map(|(id, row, size)| (VictimOrder::of(row, size, amount, max.as_ref()), id))
        .collect();
    candidates.sort_unstable();
    let mut sum = Resources::new();
    candidates.retain(|(_, id)| {
        let more = sum.plus(books.resources_of(*id));
        let is_enough = amount.is_at_least_existing(&more);
        if is_enough {
            sum = more;
        }
        is_enough
    });
    candidates.into_iter().map(|(_, id)| id).collect()
}
