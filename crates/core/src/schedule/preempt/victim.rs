//! What may be stopped for an ask: where it is looked for, and in which order it is taken.
//! Scheduling §11.3.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::{Allocation, Books, Queue};
use crate::config::{PreemptionPolicy, PriorityPolicy};
use crate::id::{AllocationId, NodeId, QueueId};
use crate::resource::Resources;
use crate::time::{Millis, Timestamp};

use super::ledger::{Ledger, Place};

/// In which order candidates are taken: those on a node that was lent first, then those that offer
/// themselves, then those that are not the first of their application, then the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    /// Whether its node is its own: it was not lent.
    pub(super) owns: bool,
    pub(super) reluctant: bool,
    pub(super) originator: bool,
    /// Under the law; elsewhere as the reference, without regard to it. No-starvation NS-40, NS-42.
    priority: i32,
    created: Reverse<Timestamp>,
    number: Reverse<u64>,
}

impl Turn {
    pub(super) fn of(books: &Books, row: &Allocation) -> Self {
        Self {
            owns: !books.is_lent(row),
            reluctant: !row.preemptable,
            originator: row.originator,
            priority: if is_lawful(books, row) { row.priority } else { 0 },
            created: Reverse(row.created),
            number: Reverse(row.number.unsigned_abs()),
        }
    }
}

/// Whether no queue of the partition of an allocation falls below its guarantee by preemption.
fn is_lawful(books: &Books, row: &Allocation) -> bool {
    let partition = books.application(row.application).partition;
    books.partition(partition).settings.preemption.strict_guarantee
}

/// Whether an allocation may be stopped for another ask at this time, whatever that calls on: it has run for long
/// enough, and a task of a tenant offers itself and is no part of what started together. No-starvation NS-42, NS-43.
fn may_be_stopped(books: &Books, row: &Allocation, now: Timestamp) -> bool {
    let application = books.application(row.application);
    let least = books.queue(application.queue).settings.preemption.least_run();
    let is_task = application.task.is_some();
    (least == Millis::ZERO || row.placed + least <= now)
        && (!is_task || row.preemptable && books.members_of(row.application) == 1)
}

/// An allocation that may be stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'books> {
    pub(super) id: AllocationId,
    pub(super) node: NodeId,
    /// Its leaf.
    pub(super) leaf: Place,
    /// What it counts as for queues and users.
    pub(super) size: &'books Resources,
    /// What its node has when it goes.
    pub(super) on_node: &'books Resources,
    pub(super) turn: Turn,
}

impl<'books> Candidate<'books> {
    /// An allocation of this leaf, or user, as a candidate for an ask that wants this; none where it may not be stopped
    /// for it at this time, whatever the ask calls on.
    fn of(
        books: &'books Books,
        (id, row): (AllocationId, &'books Allocation),
        leaf: Place,
        wanted: &Resources,
        now: Timestamp,
    ) -> Option<Self> {
        let (size, node) = (books.shapes().get(row.shape), row.node?);
        let may_go = row.is_eligible_victim(size, wanted) && may_be_stopped(books, row, now);
        let on_node = books.shapes().on_node(row.shape);
        may_go.then(|| Self { id, node, leaf, size, on_node, turn: Turn::of(books, row) })
    }
}

/// All that may be stopped for an ask, in their order.
///
/// Costs the queues below the fence of the ask that use anything, and the allocations of those
/// leaves among them that use more than their guarantee.
pub(super) fn candidates<'books>(
    books: &'books Books,
    ledger: &mut Ledger<'books>,
    ask: AllocationId,
    now: Timestamp,
) -> Vec<Candidate<'books>> {
    let leaf = books.application(books.allocation(ask).application).queue;
    let size = books.resources_of(ask);
    let (fence, path) = fence_of(books, leaf, size, books.allocation(ask).priority);
    let partition = books.partition(books.queue(leaf).partition);
    let strict = partition.settings.preemption.strict_guarantee;
    let called_on = strict.then(|| called_on(ledger, books, leaf, size)).flatten();
    let mut search =
        Search { books, ledger, leaf, called_on, size, now, path: &path, found: Vec::new() };
    let (_, priority) = path.last().expect("a path has its leaf");
    search.below(fence, *priority, false);
    let mut found = search.found;
    found.sort_by_key(|one| one.turn);
    found
}

/// The queue whose guarantee an ask calls on: the lowest on its path that has one of a type of
/// the ask. Those below share it, so that what one of them takes from another adds nothing to
/// what it was promised, and would be taken back.
fn called_on(
    ledger: &Ledger<'_>,
    books: &Books,
    leaf: QueueId,
    size: &Resources,
) -> Option<QueueId> {
    let promises = |id: QueueId| ledger.promise_to(id).is_some_and(|one| one.shares_type(size));
    books.up(leaf).find(|(id, _)| promises(*id)).map(|(id, _)| id)
}

/// All that may be stopped in the leaf of an ask for its user, in their order: what others have
/// there above their shares, of its priority or below. Costs the allocations of the leaf.
pub(super) fn candidates_within<'books>(
    books: &'books Books,
    ledger: &Ledger<'books>,
    ask: AllocationId,
    now: Timestamp,
) -> Vec<Candidate<'books>> {
    let (row, wanted) = (books.allocation(ask), books.resources_of(ask));
    let mut found = Vec::new();
    for (id, application) in books.applications_in(books.application(row.application).queue) {
        let Some(link) = application.link else { continue };
        let Some(user) = ledger.place_of_user(link.user) else { continue };
        if user == ledger.asking || !ledger.exceeds_guarantee(user, wanted) {
            continue;
        }
        let low = books.allocations_of(id).filter(|(_, one)| one.priority <= row.priority);
        found.extend(low.filter_map(|one| Candidate::of(books, one, user, wanted, now)));
    }
    found.sort_by_key(|one| one.turn);
    found
}

/// All that may be stopped in the leaf of an ask because its priority is lower, in their order: nothing of the same
/// application, and nothing of a gang. Costs the allocations of the leaf. No-starvation NS-43.
pub(super) fn candidates_below<'books>(
    books: &'books Books,
    ledger: &mut Ledger<'books>,
    ask: AllocationId,
    now: Timestamp,
) -> Vec<Candidate<'books>> {
    let (row, wanted) = (books.allocation(ask), books.resources_of(ask));
    let queue = books.application(row.application).queue;
    let leaf = ledger.place_of(queue);
    let mut found = Vec::new();
    for (application, of) in books.applications_in(queue) {
        if application == row.application || of.gang.is_some() {
            continue;
        }
        let low = books.allocations_of(application).filter(|(_, one)| one.priority < row.priority);
        found.extend(low.filter_map(|one| Candidate::of(books, one, leaf, wanted, now)));
    }
    found.sort_by_key(|one| one.turn);
    found
}

/// The queue above which nothing is looked for, and the priority of the ask as each queue up to
/// there sees it. 64 bits, so that no offset overflows.
fn fence_of(
    books: &Books,
    leaf: QueueId,
    size: &Resources,
    priority: i32,
) -> (QueueId, Vec<(QueueId, i64)>) {
    let (mut path, mut seen) = (Vec::new(), i64::from(priority));
    for (id, queue) in books.up(leaf) {
        let values = &queue.settings.values;
        let offset = i64::from(values.priority_offset);
        seen = match values.priority_policy {
            PriorityPolicy::Fence => offset,
            PriorityPolicy::Default => seen + offset,
        };
        path.push((id, seen));
        let is_fence = values.preemption_policy == PreemptionPolicy::Fence;
        if queue.parent.is_none() || is_fence || is_at_maximum(books, id, queue, size) {
            return (id, path);
        }
    }
    unreachable!("the root ends every path")
}

/// Whether a queue would exceed what is in force as its maximum: then only room from below it
/// helps.
fn is_at_maximum(books: &Books, id: QueueId, queue: &Queue, size: &Resources) -> bool {
    let max = books.effective_max(id).unwrap_or_default();
    !max.is_at_least_existing(&queue.allocated.plus(size))
}

/// The walk down from the fence.
struct Search<'books, 'walk> {
    books: &'books Books,
    ledger: &'walk mut Ledger<'books>,
    /// The leaf that asks.
    leaf: QueueId,
    /// Under the law, the queue below which nothing is looked for.
    called_on: Option<QueueId>,
    size: &'walk Resources,
    now: Timestamp,
    path: &'walk [(QueueId, i64)],
    found: Vec<Candidate<'books>>,
}

impl Search<'_, '_> {
    /// Look below a queue that sees the ask with this priority; `fenced` if priorities do not
    /// count any more.
    fn below(&mut self, at: QueueId, priority: i64, fenced: bool) {
        let books = self.books;
        let queue = books.queue(at);
        if at == self.leaf || Some(at) == self.called_on || queue.allocated.is_empty() {
            return;
        }
        if queue.leaf {
            return self.in_leaf(at, priority, fenced);
        }
        for (id, child) in books.children(at) {
            let on_path = self.path.iter().find(|(one, _)| *one == id);
            let values = &child.settings.values;
            let offset = i64::from(values.priority_offset);
            match (on_path, values.priority_policy) {
                (Some((_, seen)), _) => self.below(id, *seen, fenced),
                (None, PriorityPolicy::Default) => self.below(id, priority - offset, fenced),
                // What is behind it counts as much as its offset says, and no more.
                (None, PriorityPolicy::Fence) if offset <= priority => {
                    self.below(id, priority, true);
                }
                (None, PriorityPolicy::Fence) => {}
            }
        }
    }

    fn in_leaf(&mut self, at: QueueId, priority: i64, fenced: bool) {
        let books = self.books;
        if books.queue(at).is_preemption_disabled() {
            return;
        }
        let leaf = self.ledger.place_of(at);
        // It uses no more than its guarantee; but what it was lent it was not promised.
        let within = self.ledger.remaining(leaf).is_some_and(|left| !left.has_negative());
        if within && !books.has_lending(books.queue(at).partition) {
            return;
        }
        for (application, _) in books.applications_in(at) {
            let reached = |row: &Allocation| fenced || i64::from(row.priority) <= priority;
            let all = books.allocations_of(application).filter(|(_, row)| reached(row));
            let all = all.filter_map(|one| Candidate::of(books, one, leaf, self.size, self.now));
            self.found.extend(all.filter(|one| !(within && one.turn.owns)));
        }
    }
}
