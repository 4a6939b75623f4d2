//! Candidates for preemption: the search for them, and their order. Source: scheduling §11.3.

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

/// Extent of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A single allocation.
    Single,
    /// All allocations of its application: a gang, or a task of several members.
    Whole,
    /// A single allocation that its gang does not need. The gang is a separate candidate.
    Surplus,
}

/// Candidate for preemption: one allocation, or all allocations of a gang.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'books> {
    pub(super) kind: Kind,
    pub(super) application: ApplicationId,
    /// Allocations in their order.
    pub(super) members: SmallVec<[AllocationId; 1]>,
    /// Amounts that become free on each node.
    nodes: SmallVec<[(NodeId, Cow<'books, Resources>); 1]>,
    /// Leaf of the candidate.
    pub(super) leaf: Place,
    /// Amounts for queues and users.
    pub(super) size: Cow<'books, Resources>,
    /// Cost of stopping only this candidate, regardless of the need.
    pub(super) cost: Cost,
}

impl Candidate<'_> {
    /// Returns the amounts that become free on a node. `None` if the candidate does not use it.
    pub(super) fn on(&self, node: NodeId) -> Option<&Resources> {
        self.nodes.iter().find(|(id, _)| *id == node).map(|(_, size)| &**size)
    }

    /// Returns the nodes that the candidate uses.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().map(|(id, _)| *id)
    }

    /// Returns whether one candidate contains the other.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.application == other.application
            && (self.kind == Kind::Whole) != (other.kind == Kind::Whole)
    }

    /// Adds another member of the same gang. The criteria of the gang are those of its most expensive member, except
    /// for amounts, which are added up.
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

/// Collects the candidates for an ask.
struct Gatherer<'books> {
    books: &'books Books,
    scale: Scale<'books>,
    /// Amounts that the ask needs.
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

    /// Adds the candidates of an application that satisfy `reached`. With `strict_guarantee`, a gang is one victim,
    /// apart from allocations that it does not need. Source: no-starvation NS-32.
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
        // For a gang with one needed allocation, the surplus allocations are the only other candidates.
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

    /// Returns an allocation as a candidate. `None` if it cannot be preempted now, regardless of the entitlement. A
    /// candidate must have run for the protected time, and a task of a tenant must be preemptable. Source:
    /// no-starvation NS-42, NS-43.
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

    /// Returns whether a candidate has a type that the ask needs.
    fn helps(&self, one: &Candidate<'_>) -> bool {
        one.size.shares_type(self.wanted)
    }

    /// Returns all candidates in the order of their cost.
    fn in_order(mut self) -> Vec<Candidate<'books>> {
        self.found.sort_by_key(|one| one.cost);
        self.found
    }
}

/// Returns all candidates for an ask, in order.
///
/// Costs the queues with usage in the subtree of the fence of the ask. Also costs the allocations of those leaves that
/// use more than their guarantee.
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

/// Returns the queue whose guarantee an ask uses: the lowest on its path with a guarantee in a type of the ask.
///
/// Its descendants share that guarantee. Preemption among them would add nothing to their promise, and would be
/// reversed.
fn called_on(
    ledger: &Ledger<'_>,
    books: &Books,
    leaf: QueueId,
    size: &Resources,
) -> Option<QueueId> {
    let promises = |id: QueueId| ledger.promise_to(id).is_some_and(|one| one.shares_type(size));
    books.up(leaf).find(|(id, _)| promises(*id)).map(|(id, _)| id)
}

/// Returns all candidates in the leaf of an ask for its user, in order: allocations of other users above their shares,
/// with at most the priority of the ask. Costs the allocations of the leaf.
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

/// Returns all candidates in the leaf of an ask with a lower priority, in order. Excludes the same application and
/// gangs. Costs the allocations of the leaf. Source: no-starvation NS-43.
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

/// Returns the highest queue of the search, and the priority of the ask as each queue up to there sees it. 64 bits, so
/// that offsets do not overflow.
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

/// Returns whether a queue would exceed its effective maximum. Then only capacity from its own subtree helps.
fn is_at_maximum(books: &Books, id: QueueId, queue: &Queue, size: &Resources) -> bool {
    let max = books.effective_max(id).unwrap_or_default();
    !max.is_at_least_existing(&queue.allocated.plus(size))
}

/// Search of the subtree of the fence.
struct Search<'books, 'walk> {
    books: &'books Books,
    ledger: &'walk mut Ledger<'books>,
    /// Leaf of the ask.
    leaf: QueueId,
    /// With `strict_guarantee`, the queue whose subtree is not searched.
    called_on: Option<QueueId>,
    path: &'walk [(QueueId, i64)],
    gatherer: Gatherer<'books>,
}

impl Search<'_, '_> {
    /// Searches the subtree of a queue that sees the ask with this priority. `fenced` is true if priorities no longer
    /// matter.
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
                // The subtree of a fence counts with the offset of the fence only.
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
        // The leaf is within its guarantee. Only lent nodes are not covered by the guarantee.
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
