//! Evictions of a tenant that uses more than its lowered quota. Source: tenants §7.
//!
//! Tasks with the lowest priority are first, and of equal priority the newest, until every type is within the quota. A
//! task that proves unnecessary stays. A gang stops completely or not at all. Tasks that are not preemptable are never
//! stopped. Usage that still exceeds the quota is reported and not forced.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::{Allocation, Books, StopRequest};
use crate::config::tenant::TenantMapping;
use crate::event::{AllocationEvent, Event, PreemptionCause, QueueEvent};
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, Resources};
use crate::time::Timestamp;

use super::check::used_by;
use super::instances::here;

/// Result for a usage above a quota.
#[derive(Debug, Default)]
pub(crate) struct Eviction {
    /// Amounts by which the usage exceeds the quota, without those that are already being stopped.
    pub(crate) excess: Resources,
    /// Allocations to stop, in this order.
    pub(crate) victims: Vec<AllocationId>,
    /// Amounts that still exceed the quota after these stops.
    pub(crate) rest: Resources,
    /// Whether some allocations stay only for now, because a member is about to replace a placeholder.
    pub(crate) unsettled: bool,
}

/// Evicts in tenants whose delay is over, in a queue of a tenant and its descendants. Descendants are first, because
/// their evictions also reduce the usage of the ancestors.
pub(in crate::rules) fn look(
    books: &Books,
    now: Timestamp,
    id: QueueId,
    stopped: &mut BTreeSet<AllocationId>,
    events: &mut Vec<Event>,
) {
    for (child, _) in books.children(id) {
        look(books, now, child, stopped, events);
    }
    let queue = books.queue(id);
    let (Some(at), Some(max)) = (queue.quota_preemption_at, &queue.max) else { return };
    let within = queue.allocated.is_empty() || max.is_at_least_existing(&queue.allocated);
    if !within {
        if at > now {
            return;
        }
        let eviction = evict(books, id, max, stopped);
        let cause = PreemptionCause::Quota(id);
        stopped.extend(&eviction.victims);
        let victims = eviction.victims.into_iter();
        events.extend(
            victims.map(|victim| Event::Allocation(AllocationEvent::Preempted { victim, cause })),
        );
        if eviction.unsettled && !eviction.rest.is_empty() {
            return; // The next look finds it settled.
        }
    }
    events.push(Event::Queue(QueueEvent::QuotaClockStopped { queue: id }));
}

/// Returns the allocations to stop so that a queue uses at most `max`. These are in addition to the allocations that
/// are already being stopped and those in `stopped`.
///
/// Costs the allocations in the subtree of the queue, sorted.
pub(crate) fn evict(
    books: &Books,
    queue: QueueId,
    max: &Resources,
    stopped: &BTreeSet<AllocationId>,
) -> Eviction {
    let used = books.queue(queue).allocated.clone();
    let mut search = Search { books, queue, stopped, use_of: BTreeMap::new(), used };
    let mut tasks = search.tasks();
    let over = max
        .iter()
        .map(|(resource, most)| (resource, search.used.get_or_zero(resource).minus(most)));
    let excess: Resources = over.filter(|(_, over)| *over > Quantity::ZERO).collect();
    if excess.is_empty() {
        return Eviction::default();
    }
    let unsettled = tasks.iter().any(|task| task.unsettled);
    tasks.retain(|task| task.may_go && task.size.shares_type(&excess));
    tasks.sort_unstable_by_key(|task| task.turn);
    let mut left = excess.clone();
    let mut picked: Vec<&Task> = Vec::new();
    for task in &tasks {
        let helps = task.size.iter().any(|(one, _)| left.get_or_zero(one) > Quantity::ZERO);
        if helps && search.take(task, &excess) {
            left.subtract_existing(&task.size);
            picked.push(task);
        }
    }
    let above = |left: &Resources| -> Resources {
        left.iter().filter(|(_, amount)| *amount > Quantity::ZERO).collect()
    };
    let rest = above(&left);
    // The task that was selected last is the first that can stay.
    for at in (0..picked.len()).rev() {
        let without = left.plus_existing(&picked[at].size);
        if above(&without) == rest {
            left = without;
            picked.remove(at);
        }
    }
    let victims = picked.iter().flat_map(|task| task.members.iter().copied()).collect();
    Eviction { excess, victims, rest, unsettled }
}

/// Order of evictions: lower priority first, then newer.
type Turn = (i32, Reverse<(Timestamp, u64)>);

/// Unit of eviction: an allocation, or all allocations of a gang.
struct Task {
    members: Vec<AllocationId>,
    leaf: QueueId,
    size: Resources,
    turn: Turn,
    /// Whether all its allocations are preemptable, and none is about to be replaced.
    may_go: bool,
    unsettled: bool,
}

/// Search for tasks in the subtree of a queue.
struct Search<'a> {
    books: &'a Books,
    queue: QueueId,
    stopped: &'a BTreeSet<AllocationId>,
    /// Remaining usage of the descendants that have a guarantee.
    use_of: BTreeMap<QueueId, Resources>,
    /// Remaining usage of the queue itself.
    used: Resources,
}

impl<'a> Search<'a> {
    fn tasks(&mut self) -> Vec<Task> {
        let (mut tasks, mut open) = (Vec::new(), vec![self.queue]);
        while let Some(queue) = open.pop() {
            open.extend(self.books.children(queue).map(|(id, _)| id));
            let books = self.books;
            for (application, _) in books.applications_in(queue) {
                self.tasks_of(queue, application, &mut tasks);
            }
        }
        tasks
    }

    /// Adds the tasks of an application that are not being stopped.
    fn tasks_of(&mut self, leaf: QueueId, application: ApplicationId, tasks: &mut Vec<Task>) {
        let books = self.books;
        let is_gang = books.stops_whole(application);
        let mut whole: Option<Task> = None;
        for (id, one) in books.allocations_of(application).filter(|(_, one)| one.is_allocated()) {
            let size = books.resources_of(id);
            if self.is_going(id, one) {
                self.used.subtract(size);
                continue;
            }
            for (queue, guaranteed) in self.below(leaf) {
                if guaranteed {
                    self.use_of.entry(queue).or_default().add(size);
                }
            }
            let task = Task {
                members: vec![id],
                leaf,
                size: size.clone(),
                turn: (one.priority, Reverse((one.created, one.number.unsigned_abs()))),
                may_go: one.mark == StopRequest::None
                    && one.preemptable
                    && one.required_node().is_none(),
                unsettled: one.partner().is_some(),
            };
            match &mut whole {
                Some(whole) => whole.join(task),
                None if is_gang => whole = Some(task),
                None => tasks.push(task),
            }
        }
        tasks.extend(whole);
    }

    /// Returns whether an allocation is being stopped, or is about to be, without a replacement.
    fn is_going(&self, id: AllocationId, row: &Allocation) -> bool {
        let asked = row.mark != StopRequest::None && row.partner().is_none();
        asked || self.stopped.contains(&id)
    }

    /// Returns the queues from a leaf to the queue with the excess, without that queue, and whether each has a
    /// guarantee.
    fn below(&self, leaf: QueueId) -> impl Iterator<Item = (QueueId, bool)> + use<'a> {
        let top = self.queue;
        let up = self.books.up(leaf).take_while(move |(id, _)| *id != top);
        up.map(|(id, queue)| (id, queue.guaranteed.is_some()))
    }

    /// Selects a task, unless its stop would leave a descendant with less than its guarantee in an exceeded type,
    /// because the descendant could reclaim it. Returns whether the task is selected.
    fn take(&mut self, task: &Task, excess: &Resources) -> bool {
        let guarded: Vec<QueueId> =
            self.below(task.leaf).filter(|(_, guaranteed)| *guaranteed).map(|(id, _)| id).collect();
        let keeps = |id: &QueueId| {
            let (used, row) = (self.use_of.get(id), self.books.queue(*id));
            let (Some(used), Some(least)) = (used, &row.guaranteed) else { return true };
            let wanted = least.iter().filter(|(one, _)| excess.has(*one) && task.size.has(*one));
            let mut after = wanted.map(|(one, least)| {
                (used.get_or_zero(one).minus(task.size.get_or_zero(one)), least)
            });
            after.all(|(after, least)| after >= least)
        };
        if !guarded.iter().all(keeps) {
            return false;
        }
        for id in guarded {
            self.use_of.entry(id).or_default().subtract(&task.size);
        }
        true
    }
}

impl Task {
    /// Adds another member of the same gang. The gang has the highest priority and the oldest age of its members.
    fn join(&mut self, other: Self) {
        self.members.extend(other.members);
        self.size.add(&other.size);
        self.turn = (self.turn.0.max(other.turn.0), self.turn.1.max(other.turn.1));
        self.may_go &= other.may_go;
        self.unsettled |= other.unsettled;
    }
}

/// Returns the evictions that a new quota of a tenant would cause. `None` if the tenant does not exist. A tenant that
/// is a limit has no evictions.
pub(crate) fn lowered(
    books: &Books,
    partition: PartitionId,
    tenant: &Name,
    quota: &Amounts,
) -> Option<Eviction> {
    let here = here(books, partition)?;
    let row = here.tenants.get(tenant)?;
    if here.config.is_exempt(tenant) {
        return Some(Eviction::default());
    }
    let known = |(name, most): (&Name, Quantity)| Some((books.types().find(name)?, most));
    let max: Resources = quota.iter().filter_map(known).collect();
    if row.settings.mapping == TenantMapping::Queue {
        let path = here.tenants.path_of(&here.config.root, tenant)?;
        let queue = books.queue_at(partition, &path)?;
        return Some(evict(books, queue, &max, &BTreeSet::new()));
    }
    let used = used_by(&here, tenant).unwrap_or_default();
    let over = max.iter().map(|(one, most)| (one, used.get_or_zero(one).minus(most)));
    let excess: Resources = over.filter(|(_, over)| *over > Quantity::ZERO).collect();
    Some(Eviction { rest: excess.clone(), excess, ..Eviction::default() })
}
