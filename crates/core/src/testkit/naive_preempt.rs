//! Victims for an ask, directly from scheduling §11 and decisions D-3 and D-4. It copies all queues and recomputes
//! every sum.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::{Allocation, Books, NodeVerdict, Removal, StopRequest};
use crate::config::{PreemptionPolicy, PriorityPolicy};
use crate::id::{AllocationId, NodeId, QueueId};
use crate::resource::Resources;
use crate::time::{Millis, Timestamp};

use super::naive;
use super::naive_claim::{Basis, Who};
use super::naive_victims::{Unit, ids};

/// Use of each queue and user in an imagined state.
pub type Usage = BTreeMap<Who, Resources>;

/// Result of the search for an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Stop these victims, and reserve the node.
    Stop(NodeId, Vec<AllocationId>),
    /// Stop these victims of other users of the same leaf, and reserve the node.
    StopWithin(NodeId, Vec<AllocationId>),
    /// Stop these victims of a lower priority in the same leaf, and reserve the node.
    StopBelow(NodeId, Vec<AllocationId>),
    /// Ask the RM.
    Ask(Vec<Removal>),
    /// No change: the allocations that are being stopped already make enough capacity available.
    OnItsWay,
    /// No change: the RM accepts none of the removals.
    Refused,
    /// No victims found.
    Nothing,
}

/// A node, its candidates in order, and the minimum number that must be stopped.
pub(super) type Offer = (NodeId, Vec<AllocationId>, usize);

/// Question: which victims to stop for one ask.
#[derive(Clone, Copy, Debug)]
pub struct Question<'books> {
    pub(super) books: &'books Books,
    pub(super) ask: AllocationId,
    pub(super) leaf: QueueId,
    pub(super) size: &'books Resources,
    pub(super) on_node: &'books Resources,
    pub(super) basis: Basis,
    pub(super) now: Timestamp,
}

/// Returns the asks whose reserved node is given up, and the victims to stop.
pub fn plan(
    books: &Books,
    ask: AllocationId,
    now: Timestamp,
    nodes_tried: bool,
) -> (Vec<AllocationId>, Finding) {
    let of_queue = Question::of(books, ask, now);
    let (mut given_up, mut finding) = of_queue.answer(nodes_tried);
    if of_queue.basis == Basis::Split && finding == Finding::Nothing {
        let (given_up_too, found) = of_queue.by_guarantee().answer(nodes_tried);
        given_up = if given_up.is_empty() { given_up_too } else { given_up };
        finding = found;
    }
    if finding != Finding::Nothing {
        return (given_up, finding);
    }
    for question in [of_queue.within(), of_queue.by_priority()].into_iter().flatten() {
        match question.answer(nodes_tried) {
            (given_up_too, Finding::Nothing) if given_up.is_empty() => given_up = given_up_too,
            (_, Finding::Nothing) => {}
            found => return found,
        }
    }
    (given_up, finding)
}

impl Question<'_> {
    fn answer(&self, nodes_tried: bool) -> (Vec<AllocationId>, Finding) {
        let question = self;
        let books = self.books;
        let units = question.units();
        // The surplus of a gang is also a part of the gang.
        let candidates: Vec<AllocationId> = units
            .iter()
            .filter(|unit| !unit.is_surplus)
            .flat_map(|one| one.members.clone())
            .collect();
        let by_priority = self.basis == Basis::Priority;
        if !by_priority && !question.is_guaranteed(&candidates) {
            return (Vec::new(), Finding::Nothing);
        }
        if !question.completes_gang(&candidates) {
            return (Vec::new(), Finding::Nothing);
        }
        let given_up = question.given_up();
        let partition = books.partition(books.queue(question.leaf).partition);
        let within = self.basis == Basis::Share;
        let finding = if within || by_priority || partition.settings.preemption.strict_guarantee {
            question.cheapest(&units, &given_up, nodes_tried)
        } else {
            question.newest(&candidates, &given_up, nodes_tried)
        };
        let finding = match finding {
            Finding::Stop(_, victims) if within && !self.may_be_on_its_way(&victims) => {
                Finding::Nothing
            }
            Finding::Stop(node, victims) if within => Finding::StopWithin(node, victims),
            Finding::Stop(node, victims) if by_priority => Finding::StopBelow(node, victims),
            other => other,
        };
        (given_up, finding)
    }
}

impl<'books> Question<'books> {
    /// Returns the question for an ask.
    pub fn of(books: &'books Books, ask: AllocationId, now: Timestamp) -> Self {
        let leaf = books.application(books.allocation(ask).application).queue;
        let basis = Self::basis_of_queue(books, leaf);
        let (size, on_node) = (books.resources_of(ask), books.node_request(ask));
        Self { books, ask, leaf, size, on_node, basis, now }
    }

    /// Returns the same question with only the guarantee of the queue as promise.
    #[must_use]
    pub fn by_guarantee(&self) -> Self {
        Self { basis: Basis::Guarantee, ..*self }
    }

    pub(super) fn row(&self, id: AllocationId) -> &'books Allocation {
        self.books.allocation(id)
    }

    pub(super) fn leaf_of(&self, id: AllocationId) -> QueueId {
        self.books.application(self.row(id).application).queue
    }

    pub(super) fn size_of(&self, id: AllocationId) -> &'books Resources {
        self.books.resources_of(id)
    }

    /// Returns the use without these allocations.
    pub fn without(&self, usage: &Usage, gone: &[AllocationId]) -> Usage {
        let mut usage = usage.clone();
        for id in gone {
            for who in self.up(self.who_has(*id)) {
                usage.get_mut(&who).expect("all are there").subtract(self.size_of(*id));
            }
        }
        usage
    }

    /// Returns the use with this additional amount in a leaf or for a user.
    pub fn with(&self, usage: &Usage, at: Who, size: &Resources) -> Usage {
        let mut usage = usage.clone();
        for who in self.up(at) {
            usage.entry(who).or_default().add(size);
        }
        usage
    }

    /// Returns `rem` of scheduling §11: the remaining promise.
    pub fn remaining(&self, usage: &Usage, who: Who) -> Option<Resources> {
        let above = self.up(who).get(1).and_then(|one| self.remaining(usage, *one));
        let own = self.promised_to(who).map(|one| one.minus_existing(&usage[&who]));
        if own.is_none() && above.as_ref().is_none_or(Resources::is_empty) {
            return None;
        }
        let on_path = self.up(self.asking()).contains(&who);
        match own {
            Some(own) if who == self.asking() => {
                Some(own.merge_missing(&above.unwrap_or_default()))
            }
            Some(_) if on_path && self.promised_to(self.asking()).is_some() => None,
            own => Resources::min_of(own.as_ref(), above.as_ref()),
        }
    }

    fn lacks(&self, left: &Resources) -> bool {
        self.size.iter().any(|(resource, _)| left.get_or_zero(resource).get() < 0)
    }

    /// Whether the leaf of a victim exceeds its guarantee before the victim is stopped.
    pub fn is_above(&self, usage: &Usage, victim: AllocationId) -> bool {
        let left = self.remaining(usage, self.who_has(victim));
        left.is_none_or(|left| self.lacks(&left))
    }

    /// Whether the guarantee covers the ask, which is already counted in the use.
    pub fn is_covered(&self, usage: &Usage) -> bool {
        if self.basis == Basis::Priority {
            return true;
        }
        self.remaining(usage, self.asking()).is_some_and(|left| {
            if !self.is_whole() {
                return !self.lacks(&left);
            }
            // Before the ask, a part of each promised and requested type was unused.
            let before = left.plus_existing(self.size);
            let wanted = self.size.iter().filter(|(_, amount)| amount.get() > 0);
            let mut wanted = wanted.filter_map(|(resource, _)| before.get(resource));
            wanted.all(|amount| amount.get() > 0)
        })
    }

    fn is_guaranteed(&self, candidates: &[AllocationId]) -> bool {
        let usage = self.usage();
        let left = self.remaining(&usage, self.asking());
        if left.is_some_and(|left| left.allows_actual(self.size)) {
            return true;
        }
        let all = self.without(&self.with(&usage, self.asking(), self.size), candidates);
        self.is_covered(&all)
    }

    /// Returns the candidates for victims, as far as this does not depend on other victims, with any types.
    pub(super) fn eligible(&self) -> Vec<AllocationId> {
        match self.basis {
            Basis::Share => return self.eligible_within(),
            Basis::Priority => return self.eligible_below(),
            Basis::Guarantee | Basis::Split => {}
        }
        let mut priority = i64::from(self.row(self.ask).priority);
        let (mut seen, mut fence) = (BTreeMap::new(), self.leaf);
        for (id, queue) in self.books.up(self.leaf) {
            let values = &queue.settings.values;
            let offset = i64::from(values.priority_offset);
            let fenced = values.priority_policy == PriorityPolicy::Fence;
            priority = if fenced { offset } else { priority + offset };
            seen.insert(id, priority);
            fence = id;
            let max = self.books.effective_max(id).unwrap_or_default();
            if values.preemption_policy == PreemptionPolicy::Fence
                || !max.is_at_least_existing(&queue.allocated.plus(self.size))
            {
                break;
            }
        }
        let mut found = Vec::new();
        self.below(fence, seen[&fence], false, &seen, &mut found);
        found
    }

    /// Whether no queue can fall below its guarantee.
    pub(super) fn is_strict(&self) -> bool {
        let partition = self.books.partition(self.books.queue(self.leaf).partition);
        partition.settings.preemption.strict_guarantee
    }

    fn below(
        &self,
        at: QueueId,
        priority: i64,
        fenced: bool,
        seen: &BTreeMap<QueueId, i64>,
        found: &mut Vec<AllocationId>,
    ) {
        let queue = self.books.queue(at);
        let partition = self.books.partition(queue.partition);
        let shared = partition.settings.preemption.strict_guarantee && self.is_called_on(at);
        if at == self.leaf || shared {
            return;
        }
        for (id, child) in self.books.children(at) {
            let values = &child.settings.values;
            let offset = i64::from(values.priority_offset);
            let fence = values.priority_policy == PriorityPolicy::Fence;
            match seen.get(&id) {
                Some(priority) => self.below(id, *priority, fenced, seen, found),
                None if fence && offset > priority => {}
                None if fence => self.below(id, priority, true, seen, found),
                None => self.below(id, priority - offset, fenced, seen, found),
            }
        }
        let left = self.remaining(&self.usage(), Who::Queue(at));
        let within = left.is_some_and(|left| !left.has_negative());
        if !queue.leaf || queue.is_preemption_disabled() {
            return;
        }
        for (id, row) in self.books.allocations().iter() {
            if row.is_allocated()
                && self.leaf_of(id) == at
                && row.required_node().is_none()
                && row.mark == StopRequest::None
                && (fenced || i64::from(row.priority) <= priority)
                && (!within || self.is_lent(id))
                && self.may_be_stopped(id)
            {
                found.push(id);
            }
        }
    }

    /// Whether the ask uses the guarantee of this queue: no queue nearer to its leaf has one.
    fn is_called_on(&self, queue: QueueId) -> bool {
        let promises = |id: &QueueId| {
            let promised = self.promised_to(Who::Queue(*id));
            promised.is_some_and(|one| one.shares_type(self.size))
        };
        self.books.path_of(self.leaf).into_iter().rfind(promises) == Some(queue)
    }

    fn given_up(&self) -> Vec<AllocationId> {
        let nodes = &self.books.partition(self.books.queue(self.leaf).partition).nodes;
        let reserved = nodes.iter().flat_map(|(_, node)| self.books.node(*node).reservations());
        let long = Millis::from_secs(3_600 + 3_600 + 2);
        reserved
            .copied()
            .filter(|id| {
                let row = self.row(*id);
                *id != self.ask
                    && row.required_node().is_none()
                    && !row.preemption_triggered
                    && row.priority < self.row(self.ask).priority
                    && row
                        .reservation()
                        .is_some_and(|reservation| self.now > reservation.since + long)
            })
            .collect()
    }

    /// Returns the nodes that the ask can use, by name.
    pub(super) fn nodes(&self, given_up: &[AllocationId]) -> Vec<NodeId> {
        let nodes = &self.books.partition(self.books.queue(self.leaf).partition).nodes;
        let suits = |id: &NodeId| {
            let node = self.books.node(*id);
            let mine = |one: &AllocationId| *one == self.ask || given_up.contains(one);
            let required = self.row(self.ask).required_node().is_some();
            node.schedulable
                && (required || naive::suits(self.books, self.ask, node))
                && naive::is_large_enough(node, self.on_node)
                && node.reservations().iter().all(mine)
        };
        nodes.iter().map(|(_, id)| *id).filter(suits).collect()
    }

    pub(super) fn on(&self, node: NodeId, candidates: &[AllocationId]) -> Vec<AllocationId> {
        candidates.iter().copied().filter(|id| self.row(*id).node == Some(node)).collect()
    }

    /// Finds victims by scheduling §11.4, in the way of YuniKorn.
    fn newest(
        &self,
        candidates: &[AllocationId],
        given_up: &[AllocationId],
        nodes_tried: bool,
    ) -> Finding {
        let (mut offers, mut free): (Vec<Offer>, usize) = (Vec::new(), 0);
        for node in self.nodes(given_up) {
            if self.books.node(node).available.fits(self.on_node) {
                if !nodes_tried && free < 10 {
                    offers.push((node, Vec::new(), 0));
                    free += 1;
                }
            } else if let Some((order, least)) = self.newest_on(node, &self.on(node, candidates)) {
                offers.push((node, order, least));
            }
        }
        offers.sort_by_key(|(_, _, least)| *least);
        if !self.asks_rm() {
            let first = offers.into_iter().next();
            let full = first.and_then(|(node, order, least)| {
                self.newest_from(candidates, node, (order[..least].to_vec(), 0))
            });
            return full.map_or(Finding::Nothing, |(node, victims)| Finding::Stop(node, victims));
        }
        let offered = |(node, order, least): Offer| {
            let units = order.iter().map(|id| Unit::of(*id)).collect();
            (Removal { node, victims: order, least }, units)
        };
        let offers: Vec<(Removal, Vec<Unit>)> = offers.into_iter().map(offered).collect();
        let taken = |node, victims: &[Unit]| Some((node, victims.to_vec()));
        match self.ask_in_batches(&offers, taken) {
            Err(removals) => Finding::Ask(removals),
            Ok(chosen) => {
                let full = chosen.and_then(|(node, on_node)| {
                    let on_node = ids(&on_node);
                    let firm = on_node.len();
                    self.newest_from(candidates, node, (on_node, firm))
                });
                full.map_or(Finding::Nothing, |(node, victims)| Finding::Stop(node, victims))
            }
        }
    }

    /// Whether the RM chooses the victims on a node.
    pub(super) fn asks_rm(&self) -> bool {
        let partition = self.books.partition(self.books.queue(self.leaf).partition);
        partition.questions.is_some_and(|one| one.victims)
    }

    /// Returns the cheapest removal that the RM accepted. The search ends at the first batch with a removal that stops
    /// neither a non-preemptable allocation nor an originator. If the RM must be asked before, returns the removals of
    /// the question as an error. `offers` has the removals, each with the candidates on its node in order.
    pub(super) fn ask_in_batches(
        &self,
        offers: &[(Removal, Vec<Unit>)],
        full: impl Fn(NodeId, &[Unit]) -> Option<(NodeId, Vec<Unit>)>,
    ) -> Result<Option<(NodeId, Vec<Unit>)>, Vec<Removal>> {
        let verdict = |one: &Removal| self.books.removal_verdict(self.ask, one);
        let mut found: Vec<(NodeId, Vec<Unit>)> = Vec::new();
        for batch in offers.chunks(10).take(10) {
            let unknown = batch.iter().map(|(one, _)| one).filter(|one| verdict(one).is_none());
            let unknown: Vec<Removal> = unknown.cloned().collect();
            if !unknown.is_empty() {
                return Err(unknown);
            }
            for (removal, order) in batch {
                if let Some(NodeVerdict::SuitsWithout(count)) = verdict(removal) {
                    let gone = &removal.victims[..*count];
                    let goes = |unit: &&Unit| unit.members.iter().any(|id| gone.contains(id));
                    let mine: Vec<Unit> = order.iter().filter(goes).cloned().collect();
                    found.extend(full(removal.node, &mine));
                }
            }
            // The best removal decides, not any of them.
            let best = found.iter().map(|(node, victims)| self.cost(*node, victims)).min();
            if best.is_some_and(|cost| !cost.reluctant && !cost.originator) {
                break;
            }
        }
        Ok(found.into_iter().min_by_key(|(node, victims)| self.cost(*node, victims)))
    }

    /// Returns all victims, with those on the node first. The RM requires the first `firm` of them.
    fn newest_from(
        &self,
        candidates: &[AllocationId],
        node: NodeId,
        (mut victims, firm): (Vec<AllocationId>, usize),
    ) -> Option<(NodeId, Vec<AllocationId>)> {
        victims.extend(self.additional(candidates, &victims)?);
        let free = &self.books.node(node).available;
        if !free.fits(self.on_node) {
            victims.retain(|id| self.row(*id).node == Some(node));
        }
        let all = |of: &dyn Fn(AllocationId) -> &'books Resources, some: &[AllocationId]| {
            some.iter().fold(Resources::new(), |sum, id| sum.plus(of(*id)))
        };
        let sum = |some: &[AllocationId]| all(&|id| self.size_of(id), some);
        let on_node = |some: &[AllocationId]| all(&|id| self.books.node_request(id), some);
        let enough = |count: &usize| {
            let sum = sum(&victims[..*count]);
            !self.size.exceeds_existing(&sum)
                && free.plus(&on_node(&victims[..*count])).fits(self.on_node)
        };
        let count = (0..=victims.len()).find(enough).unwrap_or(victims.len());
        let short = self.size.exceeds_existing(&sum(&victims[..count]));
        victims.truncate(count.max(firm));
        (!victims.is_empty() && !short).then_some((node, victims))
    }

    fn newest_on(
        &self,
        node: NodeId,
        candidates: &[AllocationId],
    ) -> Option<(Vec<AllocationId>, usize)> {
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        let (mut usage, mut free) = (self.usage(), self.books.node(node).available.clone());
        for &id in candidates {
            if !self.may_lose(&usage, id) {
                continue;
            }
            let after = self.without(&usage, &[id]);
            let left = self.remaining(&after, self.asking());
            if !left.is_some_and(|left| left.allows_actual(self.size_of(id))) {
                continue;
            }
            let more = free.plus(self.books.node_request(id));
            let short = |free: &Resources| self.on_node.minus_floored(free);
            if Resources::equals_or_empty(Some(&short(&free)), Some(&short(&more))) {
                tail.push(id);
            } else {
                head.push(id);
                free = more;
                usage = self.with(&after, self.asking(), self.size_of(id));
            }
        }
        head.extend(tail);
        let (mut usage, mut free) = (self.usage(), self.books.node(node).available.clone());
        let (mut order, mut least) = (Vec::new(), None);
        for id in head {
            if self.may_lose(&usage, id) {
                usage = self.without(&usage, &[id]);
                free.add(self.books.node_request(id));
                order.push(id);
                if free.fits(self.on_node) {
                    least = least.or(Some(order.len()));
                }
            }
        }
        Some((order, least?))
    }

    fn additional(
        &self,
        candidates: &[AllocationId],
        on_node: &[AllocationId],
    ) -> Option<Vec<AllocationId>> {
        let (mut usage, mut chosen) = (self.without(&self.usage(), on_node), Vec::new());
        for &id in candidates.iter().filter(|id| !on_node.contains(id)) {
            if !self.may_lose(&usage, id) {
                continue;
            }
            let gone = self.without(&usage, &[id]);
            let before = self.remaining(&gone, self.asking());
            if !before.as_ref().is_some_and(|left| left.allows_actual(self.size_of(id))) {
                continue;
            }
            let with = self.with(&gone, self.asking(), self.size_of(id));
            let after = self.remaining(&with, self.asking());
            if !Resources::equal_objects(before.as_ref(), after.as_ref()) {
                chosen.push(id);
                usage = with;
            }
        }
        let fails = self.remaining(&usage, self.asking()).is_some_and(|left| self.lacks(&left));
        (chosen.is_empty() || !fails).then_some(chosen)
    }
}
