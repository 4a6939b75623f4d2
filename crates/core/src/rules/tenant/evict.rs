//! What is stopped of a tenant that uses more than its quota, since that was lowered. Tenants §7.
//!
//! The least urgent tasks go first, of equally urgent ones the youngest, until every type is within
//! the quota. A task that turns out not to be needed stays. A gang goes as a whole or not at all,
//! and what does not offer itself is never stopped. What then is left above the quota is reported,
//! and not forced.

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

/// What comes of a use above a quota.
#[derive(Debug, Default)]
pub(crate) struct Eviction {
    /// By how much the use is above the quota, without what is being stopped already.
    pub(crate) excess: Resources,
    /// What is to be stopped, in this order.
    pub(crate) victims: Vec<AllocationId>,
    /// What is above the quota when they have stopped.
    pub(crate) rest: Resources,
    /// Whether something stays for the moment alone: a member is about to take a place of its gang.
    pub(crate) unsettled: bool,
}

/// Look for tenants whose time is over, at a queue of one and below. Those below go first: what they
/// give, the one above need not.
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

/// What has to be stopped in a queue and below for it to use no more than this, apart from what is
/// being stopped already and these.
///
/// Costs the allocations below the queue, sorted.
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
    // The last that was taken is the one to keep first.
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

/// When a task goes: the least urgent first, then the youngest.
type Turn = (i32, Reverse<(Timestamp, u64)>);

/// What goes as a whole: an allocation, or all that a gang has.
struct Task {
    members: Vec<AllocationId>,
    leaf: QueueId,
    size: Resources,
    turn: Turn,
    /// Whether all of it offers itself, and nothing is about to take the place of any.
    may_go: bool,
    unsettled: bool,
}

/// Looks for tasks below a queue.
struct Search<'a> {
    books: &'a Books,
    queue: QueueId,
    stopped: &'a BTreeSet<AllocationId>,
    /// What stays of the queues below that have a guarantee.
    use_of: BTreeMap<QueueId, Resources>,
    /// What stays of the queue itself.
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

    /// What an application has and keeps so far.
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

    /// Whether the RM was asked to stop an allocation, or is to be, and nothing takes its place.
    fn is_going(&self, id: AllocationId, row: &Allocation) -> bool {
        let asked = row.mark != StopRequest::None && row.partner().is_none();
        asked || self.stopped.contains(&id)
    }

    /// The queues from a leaf up to the one that is above its maximum, that one not included, and
    /// whether each has a guarantee.
    fn below(&self, leaf: QueueId) -> impl Iterator<Item = (QueueId, bool)> + use<'a> {
        let top = self.queue;
        let up = self.books.up(leaf).take_while(move |(id, _)| *id != top);
        up.map(|(id, queue)| (id, queue.guaranteed.is_some()))
    }

    /// Take a task, unless that leaves a queue below with less than its guarantee of what is exceeded:
    /// it would get that back. Whether it is taken.
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
    /// Another member of the same gang: it is as urgent as the most urgent, and as old as the oldest.
    fn join(&mut self, other: Self) {
        self.members.extend(other.members);
        self.size.add(&other.size);
        self.turn = (self.turn.0.max(other.turn.0), self.turn.1.max(other.turn.1));
        self.may_go &= other.may_go;
        self.unsettled |= other.unsettled;
    }
}

/// What comes of another quota of a tenant if tasks are stopped for it; none if there is no such tenant.
/// Of one that is a limit nothing is stopped.
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
