//! Quota preemption: preempts in queues that use more than their maximum. Source: scheduling §11.7.
//!
//! Queues of tenants have a separate rule (`rules/tenant/evict.rs`). Each change of a maximum causes one run. After the
//! run, the timer of the queue stops, and usage that still exceeds the maximum remains until the next change. A run
//! never preempts more than the excess.

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

/// Granularity in milliseconds of creation times when victims are compared. Within the same hour, the order is ignored.
const HOUR: u64 = 60 * 60 * 1_000;

/// Preempts in queues whose delay is over, from the root down.
///
/// Costs the queues of the partition, and the allocations in the subtree of each queue with an excess.
pub(super) fn scan(
    books: &Books,
    now: Timestamp,
    partition: &Name,
) -> Result<Vec<Event>, Rejection> {
    let partition = books.partition(partition_named(books, partition)?);
    let (mut events, mut stopped) = (Vec::new(), BTreeSet::new());
    // The quota settings of tenants apply even if quota preemption is disabled for other queues.
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

/// Returns the amounts by which a queue exceeds its maximum, without those that are already being stopped. For each
/// type, at most the amount by which the queue and its ancestors exceed their guarantees.
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
    /// Preempts this amount in a queue.
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

/// Splits an amount among the children in proportion to their usage above the guarantee, or to their usage if they have
/// no guarantee. Rounds down.
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

/// Returns the usage of a queue above its guarantee, in the guaranteed types, or its whole usage without a guarantee.
/// `None` if there is none. A type below its guarantee does not contribute (decision D-16).
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

/// Order of victims: preemptable allocations first, and originators last (decision D-5). Then those with the largest
/// part of their types in excess, and then a lower priority, a newer creation time, and a smaller size.
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

/// Returns the victims of a leaf for an amount: each allocation in order that does not exceed the rest.
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
