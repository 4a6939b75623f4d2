//! What may be stopped for an ask: where it is looked for, and in which order it is taken.
//! Scheduling §11.3.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use smallvec::{SmallVec, smallvec};

use crate::books::{Allocation, Books, Queue, StopRequest};
use crate::config::{PreemptionPolicy, PriorityPolicy};
use crate::id::{AllocationId, ApplicationId, NodeId, QueueId};
use crate::resource::Resources;
use crate::time::{Millis, Timestamp};

use super::cost::{Cost, Scale};
use super::ledger::{Ledger, Place};

/// How a candidate stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// By itself.
    Single,
    /// With all that its application has: it is a gang, or a task of several members.
    Whole,
    /// By itself, and its gang can do without it; the gang is another candidate.
    Surplus,
}

/// What may be stopped: one allocation, or all that a gang has.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'books> {
    pub(super) kind: Kind,
    pub(super) application: ApplicationId,
    /// The allocations, in their order.
    pub(super) members: SmallVec<[AllocationId; 1]>,
    /// What each node has more when it goes.
    nodes: SmallVec<[(NodeId, Cow<'books, Resources>); 1]>,
    /// Its leaf.
    pub(super) leaf: Place,
    /// What it counts as for queues and users.
    pub(super) size: Cow<'books, Resources>,
    /// What it costs to stop it alone, whatever is needed.
    pub(super) cost: Cost,
}

impl Candidate<'_> {
    /// What a node has more when it goes; none if it has nothing there.
    pub(super) fn on(&self, node: NodeId) -> Option<&Resources> {
        self.nodes.iter().find(|(id, _)| *id == node).map(|(_, size)| &**size)
    }

    /// The nodes that it has something on.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().map(|(id, _)| *id)
    }

    /// Whether one of both has all of the other.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.application == other.application
            && (self.kind == Kind::Whole) != (other.kind == Kind::Whole)
    }

    /// Another member of the same gang goes with it. Nobody is worse off than the dearest of them, but for what all lose.
    fn join(&mut self, other: Self) {
        self.members.extend(other.members);
        for (node, size) in other.nodes {
            match self.nodes.iter_mut().find(|(id, _)| *id == node) {
                Some((_, sum)) => sum.to_mut().add(&size),
                None => self.nodes.push((node, size)),
            }
        }
        self.size.to_mut().add(&other.size);
        self.cost = Cost { gang: true, count: 1, ..self.cost.with(other.cost) };
    }
}

/// Looks for what may be stopped for an ask.
struct Gatherer<'books> {
    books: &'books Books,
    scale: Scale<'books>,
    /// What the ask needs.
    wanted: &'books Resources,
    now: Timestamp,
    found: Vec<Candidate<'books>>,
}

impl<'books> Gatherer<'books> {
    fn of(books: &'books Books, ask: AllocationId, now: Timestamp) -> Self {
        let partition = books.application(books.allocation(ask).application).partition;
        let (scale, wanted) = (Scale::of(books, partition, now), books.resources_of(ask));
        Self { books, scale, wanted, now, found: Vec::new() }
    }

    /// What may be stopped of an application for which `reached` is so. Under the law a gang is one victim, apart from
    /// what it can do without. No-starvation NS-32.
    fn look(
        &mut self,
        application: ApplicationId,
        leaf: Place,
        reached: impl Fn(&Allocation) -> bool,
        suits: impl Fn(&Candidate<'books>) -> bool,
    ) {
        let books = self.books;
        let is_whole = books.stops_whole(application);
        if !is_whole || !self.scale.is_strict() {
            if books.members_of(application) > 1 {
                return; // One member would end all of them.
            }
            let all = books.allocations_of(application).filter(|(_, row)| reached(row));
            let all = all.filter_map(|(id, row)| self.candidate(id, row, leaf, Kind::Single));
            let found: Vec<_> = all.filter(|one| self.helps(one) && suits(one)).collect();
            return self.found.extend(found);
        }
        let live = || {
            let all = books.allocations_of(application);
            all.filter(|(_, row)| row.is_allocated() && row.mark == StopRequest::None)
        };
        if books.allocations_of(application).any(|(_, row)| row.partner().is_some()) {
            return; // A member is about to take a place of it.
        }
        let mut whole: Option<Candidate<'books>> = None;
        let mut goes = true;
        for (id, row) in live() {
            let member = self.candidate(id, row, leaf, Kind::Whole).filter(|_| reached(row));
            match (&mut whole, member) {
                (_, None) => goes = false,
                (Some(whole), Some(member)) => whole.join(member),
                (None, Some(member)) => whole = Some(member),
            }
        }
        let whole = whole.filter(|one| goes && self.helps(one) && suits(one));
        let kind = if whole.is_some() { Kind::Surplus } else { Kind::Single };
        // Of a gang of one that it can do without there is nothing else to stop.
        let is_one = whole.as_ref().is_some_and(|one| one.members.len() == 1);
        if !is_one {
            for id in books.beyond_gang(application) {
                let row = books.allocation(id);
                let one = self.candidate(id, row, leaf, kind).filter(|_| reached(row));
                self.found.extend(one.filter(|one| self.helps(one) && suits(one)));
            }
        }
        self.found.extend(whole);
    }

    /// An allocation as a candidate; none where it may not be stopped for another ask at this time, whatever that calls
    /// on: it has run for long enough, and a task of a tenant offers itself. No-starvation NS-42, NS-43.
    fn candidate(
        &self,
        id: AllocationId,
        row: &'books Allocation,
        leaf: Place,
        kind: Kind,
    ) -> Option<Candidate<'books>> {
        let (books, application) = (self.books, self.books.application(row.application));
        let least = books.queue(application.queue).settings.preemption.least_run();
        let may_go = row.may_be_victim()
            && (least == Millis::ZERO || row.placed + least <= self.now)
            && (application.task.is_none() || row.preemptable);
        let node = row.node.filter(|_| may_go)?;
        let on_node = Cow::Borrowed(books.shapes().on_node(row.shape));
        Some(Candidate {
            kind,
            application: row.application,
            members: smallvec![id],
            nodes: smallvec![(node, on_node)],
            leaf,
            size: Cow::Borrowed(books.shapes().get(row.shape)),
            cost: self.scale.cost_of(row),
        })
    }

    /// Whether a candidate has something of a type that the ask needs.
    fn helps(&self, one: &Candidate<'_>) -> bool {
        one.size.shares_type(self.wanted)
    }

    /// All that was found, who goes first in front.
    fn in_order(mut self) -> Vec<Candidate<'books>> {
        self.found.sort_by_key(|one| one.cost);
        self.found
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
    let gatherer = Gatherer::of(books, ask, now);
    let strict = gatherer.scale.is_strict();
    let called_on = strict.then(|| called_on(ledger, books, leaf, size)).flatten();
    let mut search = Search { books, ledger, leaf, called_on, path: &path, gatherer };
    let (_, priority) = path.last().expect("a path has its leaf");
    search.below(fence, *priority, false);
    search.gatherer.in_order()
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
    let mut gatherer = Gatherer::of(books, ask, now);
    for (id, application) in books.applications_in(books.application(row.application).queue) {
        let Some(link) = application.link else { continue };
        let Some(user) = ledger.place_of_user(link.user) else { continue };
        if user == ledger.asking || !ledger.exceeds_guarantee(user, wanted) {
            continue;
        }
        gatherer.look(id, user, |one| one.priority <= row.priority, |_| true);
    }
    gatherer.in_order()
}

/// All that may be stopped in the leaf of an ask because its priority is lower, in their order: nothing of the same
/// application, and nothing of a gang. Costs the allocations of the leaf. No-starvation NS-43.
pub(super) fn candidates_below<'books>(
    books: &'books Books,
    ledger: &mut Ledger<'books>,
    ask: AllocationId,
    now: Timestamp,
) -> Vec<Candidate<'books>> {
    let row = books.allocation(ask);
    let queue = books.application(row.application).queue;
    let leaf = ledger.place_of(queue);
    let mut gatherer = Gatherer::of(books, ask, now);
    for (application, of) in books.applications_in(queue) {
        if application == row.application || of.gang.is_some() || books.members_of(application) > 1
        {
            continue;
        }
        gatherer.look(application, leaf, |one| one.priority < row.priority, |_| true);
    }
    gatherer.in_order()
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
    path: &'walk [(QueueId, i64)],
    gatherer: Gatherer<'books>,
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
            self.gatherer.look(application, leaf, reached, |one| !(within && one.cost.owns));
        }
    }
}
