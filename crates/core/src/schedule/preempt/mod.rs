//! Preemption for an ask of a queue that uses less than its guarantee: selects the allocations to stop.
//!
//! The functions read the books and return a plan, or a question for the RM. They change nothing and do not depend on
//! the passage of time. Source: scheduling §11.2 to §11.4.
//!
//! With `strict_guarantee` ([`strict_guarantee`]), a plan is complete before the first victim is stopped. After all
//! victims end, the ask fits its node and its queues. No queue falls below its guarantee in a type that the ask needs,
//! and no victim is superfluous. So two queues never preempt each other in turn: a queue that released a type still has
//! its guarantee of that type, so no unused guarantee of it remains. Otherwise ([`yunikorn`]), the victims are those
//! that YuniKorn selects.

mod cost;
mod demand;
mod entitlement;
mod ledger;
mod node_batch;
pub(crate) mod required;
mod strict_guarantee;
pub(crate) mod victim;
mod yunikorn;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use crate::books::{Allocation, Books, Node, PreemptionTry, Queue, Removal};
use crate::id::{AllocationId, NodeId, PartitionId, QueueId};
use crate::ordered::OrderedMap;
use crate::resource::{Quantity, Resources};
use crate::time::{Millis, Timestamp};
use crate::wait::Blocker;

use super::preemption_attempts::is_for_room;
use super::questions::found_no_node;
use super::reservation_candidates::INSTANT;
use cost::{Cost, Scale};
use entitlement::Entitlement;
use ledger::Ledger;
use victim::{Candidate, Kind, candidates, candidates_below, candidates_within};

/// Largest number of attempts of one leaf in one cycle. Source: scheduling §11.2.
pub const TRIES_PER_CYCLE: u32 = 10;

/// Age from which a reservation yields to asks of a higher priority. Source: scheduling §11.3, decision D-17 for the
/// doubled hour, and K-28 for the start of the age.
const RESERVED_FOR: Millis = Millis::from_secs(2 * 60 * 60 + 2);

/// Allocations to stop for an ask, and the node to reserve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VictimPlan {
    /// Node to reserve for the ask.
    pub node: NodeId,
    /// Allocations that the RM must stop, at least one.
    pub victims: Vec<AllocationId>,
    /// Entitlement of the plan.
    pub basis: VictimBasis,
}

/// Entitlement on which a plan is based.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimBasis {
    /// The guarantee of the queue, or its ideal assignment.
    Guarantee,
    /// The fair share of the user: victims belong to users of the same leaf above their shares.
    Share,
    /// The priority: victims are in the same leaf and have a lower priority.
    Priority,
}

/// Action that an attempt found for an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Preempt these victims.
    Stop(VictimPlan),
    /// Ask the RM which victims would have to stop on these nodes.
    Ask(Vec<Removal>),
}

/// Result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Asks of lower priority that lose their old reservations.
    pub given_up: Vec<AllocationId>,
    /// Action, or the reason why there is none.
    pub outcome: Result<Outcome, Obstacle>,
}

impl Attempt {
    /// Returns whether this entitlement found nothing, so that another can be tried.
    const fn comes_to_nothing(&self) -> bool {
        use Obstacle::{GangTooLarge, NoGuarantee, NothingHelps, TooLittle};
        matches!(self.outcome, Err(NoGuarantee | NothingHelps | TooLittle | GangTooLarge))
    }
}

/// Reason why nothing is preempted for an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obstacle {
    /// The ask cannot preempt, requires a node, has already preempted, is too young, or had an attempt just before.
    TooEarly,
    /// The queue has no remaining guarantee that covers the ask.
    NoGuarantee,
    /// All possible victims together are not sufficient, or not on one node.
    NothingHelps,
    /// The RM accepts none of the nodes where preemption would help.
    Refused,
    /// There are victims, but together they are smaller than the ask.
    TooLittle,
    /// With all possible victims stopped, not all placeholders of the gang would fit.
    GangTooLarge,
    /// Allocations that are already being stopped free enough capacity.
    OnItsWay,
    /// As much of the queue as is allowed is already moving between users.
    EnoughAtOnce,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::TooEarly => {
                "nothing is preempted for the ask now: the ask cannot preempt, \
                               already preempted allocations, is younger than the preemption delay \
                               of its queue, or was tried less than 15 s ago"
            }
            Self::NoGuarantee => {
                "nothing is preempted for the ask: the unused guarantee of its \
                                  queue is smaller than the ask"
            }
            Self::NothingHelps => {
                "nothing is preempted for the ask: the usage of queues above \
                                   their guarantees, at the same or a lower priority, does not \
                                   free enough capacity on one node"
            }
            Self::Refused => {
                "nothing is preempted for the ask: predicates reject all nodes where \
                              preemption would free enough capacity"
            }
            Self::TooLittle => {
                "nothing is preempted for the ask: the allocations that could be \
                                preempted are smaller than the ask"
            }
            Self::GangTooLarge => {
                "nothing is preempted for the ask: preemption does not free enough capacity for \
                 all placeholders of its gang"
            }
            Self::EnoughAtOnce => {
                "nothing more is preempted for the ask now: a fifth of the \
                                   guarantee of its queue already moves between users"
            }
            Self::OnItsWay => {
                "nothing more is preempted for the ask: the allocations that are \
                               stopping free enough capacity"
            }
        })
    }
}

/// Returns whether an ask can ever preempt: it is allowed to, and has not done so.
pub(super) fn may_ask(ask: &Allocation) -> bool {
    ask.may_preempt && !ask.preemption_triggered && ask.required_node().is_none()
}

/// Returns the earliest time of the first attempt for an ask, based on its age.
pub(crate) fn ripe_at(books: &Books, leaf: QueueId, ask: &Allocation) -> Timestamp {
    ask.created + books.queue(leaf).settings.values.preemption_delay
}

/// Returns the time from which the reserved node of an ask yields to asks of a higher priority. `None` if it never
/// does.
pub(super) fn yields_at(ask: &Allocation) -> Option<Timestamp> {
    let reservation = ask.reservation()?;
    let yields = ask.required_node().is_none() && !ask.preemption_triggered;
    yields.then(|| reservation.since + RESERVED_FOR + INSTANT)
}

/// Returns whether preemption is possible for an ask without a required node after its delay: the partition enables
/// preemption, and a queue on its path has a guarantee.
pub(crate) fn can_preempt(books: &Books, ask: &Allocation) -> bool {
    let application = books.application(ask.application);
    let is_on = books.partition(application.partition).settings.preemption.enabled;
    may_ask(ask) && is_on && has_claim(books, application.queue)
}

/// Returns whether asks of a leaf can be entitled to what others use: a queue on the path of the leaf has a guarantee, or
/// the leaf preempts by priority.
pub(crate) fn has_claim(books: &Books, leaf: QueueId) -> bool {
    let has_guarantee =
        |queue: &Queue| queue.guaranteed.as_ref().is_some_and(|one| !one.is_empty());
    entitlement::goes_by_priority(books, leaf)
        || books.up(leaf).any(|(_, queue)| has_guarantee(queue))
}

/// Returns whether preemption can remove this blocker: the ask waits for free amounts in its queues or on a node.
pub(crate) const fn helps_against(blocker: Blocker) -> bool {
    is_for_room(blocker) || matches!(blocker, Blocker::ReservedNodeFull(_))
}

/// Returns whether an ask with this blocker was already tried on nodes.
pub(crate) const fn is_for_nodes(blocker: Blocker) -> bool {
    found_no_node(blocker) || matches!(blocker, Blocker::ReservedNodeFull(_))
}

/// Attempts preemption for a waiting ask. If `nodes_tried`, the ask lacks a node; otherwise, a queue is full.
///
/// Costs the queues with usage in the subtree of the fence of the ask. If a queue is full or nodes are reserved, also
/// costs the nodes of the partition. For leaves above their guarantee, costs their allocations, times the logarithm of
/// their number and the depth of the tree.
pub fn attempt(books: &Books, ask: AllocationId, now: Timestamp, nodes_tried: bool) -> Attempt {
    let row = books.allocation(ask);
    let leaf = books.application(row.application).queue;
    let tried = books.last_try(ask).is_some_and(|tried| now < tried.at + PreemptionTry::PAUSE);
    if !row.is_pending() || !may_ask(row) || now < ripe_at(books, leaf, row) || tried {
        return Attempt { given_up: Vec::new(), outcome: Err(Obstacle::TooEarly) };
    }
    plan(books, ask, now, nodes_tried)
}

/// Returns the result of [`attempt`] without its preconditions.
pub(crate) fn plan(books: &Books, ask: AllocationId, now: Timestamp, nodes_tried: bool) -> Attempt {
    let claim = entitlement::of_queue(books, ask);
    let is_split = matches!(claim, Entitlement::IdealAssignment(_));
    let mut of_queue = plan_with(books, ask, claim, now, nodes_tried);
    if is_split && of_queue.comes_to_nothing() {
        // By ideal assignment, a victim queue retains its own. By guarantee, a victim queue retains only its guarantee.
        let by_guarantee = plan_with(books, ask, Entitlement::Guarantee, now, nodes_tried);
        if !by_guarantee.comes_to_nothing() || of_queue.outcome == Err(Obstacle::NoGuarantee) {
            of_queue = by_guarantee;
        }
    }
    let of_leaf = or_within(of_queue, entitlement::of_user(books, ask), |claim| {
        plan_with(books, ask, claim, now, nodes_tried)
    });
    or_within(of_leaf, entitlement::by_priority(books, ask), |claim| {
        plan_with(books, ask, claim, now, nodes_tried)
    })
}

/// Returns `first`, or the result of `plan` within the leaf if `first` found nothing.
fn or_within(
    first: Attempt,
    claim: Option<Entitlement>,
    plan: impl FnOnce(Entitlement) -> Attempt,
) -> Attempt {
    let claim = match first.outcome {
        // Capacity that is already becoming free has precedence. The answers of the RM are valid for one set of victims
        // on each node.
        Ok(_) | Err(Obstacle::TooEarly | Obstacle::OnItsWay | Obstacle::Refused) => None,
        Err(_) => claim,
    };
    let Some(claim) = claim else { return first };
    let within = plan(claim);
    match &within.outcome {
        // Reservations are given up only once, by the attempt that finds something.
        Err(_) if !first.given_up.is_empty() => first,
        Err(Obstacle::NoGuarantee) => first,
        _ => within,
    }
}

/// Attempts preemption with one entitlement.
fn plan_with(
    books: &Books,
    ask: AllocationId,
    claim: Entitlement,
    now: Timestamp,
    nodes_tried: bool,
) -> Attempt {
    let mut scene = match PreemptionContext::of(books, ask, claim, now) {
        Ok(scene) => scene,
        Err(obstacle) => return Attempt { given_up: Vec::new(), outcome: Err(obstacle) },
    };
    if !scene.completes_gang() {
        return Attempt { given_up: Vec::new(), outcome: Err(Obstacle::GangTooLarge) };
    }
    let given_up = scene.give_up_nodes(now);
    let mut outcome = if scene.scale.is_strict() || scene.basis == VictimBasis::Priority {
        strict_guarantee::choose(&mut scene, &given_up, nodes_tried)
    } else {
        yunikorn::choose(&mut scene, &given_up, nodes_tried)
    };
    if scene.basis == VictimBasis::Share
        && let Ok(Outcome::Stop(plan)) = &outcome
    {
        let leaf = books.application(books.allocation(ask).application).queue;
        if !entitlement::may_be_on_its_way(books, leaf, &plan.victims, scene.size) {
            outcome = Err(Obstacle::EnoughAtOnce);
        }
    }
    Attempt { given_up, outcome }
}

/// One ask and the candidates for preemption.
#[derive(Debug)]
struct PreemptionContext<'books> {
    books: &'books Books,
    partition: PartitionId,
    ask: AllocationId,
    /// Amounts of the ask for queues and users.
    size: &'books Resources,
    /// Amounts of the ask for nodes.
    on_node: &'books Resources,
    ledger: Ledger<'books>,
    /// Candidates in the order in which they are selected.
    candidates: Vec<Candidate<'books>>,
    /// Whether the ask can exceed the promise once by a part of itself. Then the promise before the ask can be smaller
    /// than the ask.
    whole: bool,
    /// Entitlement of the plan.
    basis: VictimBasis,
    /// Scale that measures victims. It also stores whether no queue can fall below its guarantee.
    scale: Scale<'books>,
    /// Amounts that the queues of the ask lack. Empty if that is not checked.
    short: Resources,
}

impl<'books> PreemptionContext<'books> {
    /// Finds the candidates. Returns an obstacle if no guarantee covers the ask, regardless of the victims.
    fn of(
        books: &'books Books,
        ask: AllocationId,
        claim: Entitlement,
        now: Timestamp,
    ) -> Result<Self, Obstacle> {
        let application = books.application(books.allocation(ask).application);
        let (leaf, partition) = (application.queue, application.partition);
        let basis = match claim {
            Entitlement::Guarantee | Entitlement::IdealAssignment(_) => VictimBasis::Guarantee,
            Entitlement::Share(_) => VictimBasis::Share,
            Entitlement::Priority => VictimBasis::Priority,
        };
        let scale = Scale::of(books, partition, now);
        let balances = matches!(claim, Entitlement::IdealAssignment(_));
        let whole = basis == VictimBasis::Share
            || balances
            || scale.is_strict() && books.users_of(leaf).is_some();
        let mut ledger = Ledger::of(books, leaf, claim);
        let candidates = match basis {
            VictimBasis::Guarantee => candidates(books, &mut ledger, ask, now),
            VictimBasis::Share => candidates_within(books, &ledger, ask, now),
            VictimBasis::Priority => candidates_below(books, &mut ledger, ask, now),
        };
        let (size, on_node) = (books.resources_of(ask), books.node_request(ask));
        let short = Resources::new();
        let mut scene = Self {
            books,
            partition,
            ask,
            size,
            on_node,
            ledger,
            candidates,
            whole,
            basis,
            scale,
            short,
        };
        if scene.is_guaranteed() { Ok(scene) } else { Err(Obstacle::NoGuarantee) }
    }

    /// Returns whether guarantees matter. They do not for preemption by priority, which moves usage within one leaf.
    fn compares_guarantees(&self) -> bool {
        self.basis != VictimBasis::Priority
    }

    /// Returns whether the remaining guarantee covers the ask, or would if all candidates stopped. The latter matters
    /// for queues that share the guarantee of an ancestor.
    fn is_guaranteed(&mut self) -> bool {
        if !self.compares_guarantees() {
            return true;
        }
        let asking = self.ledger.asking;
        let left = self.ledger.remaining(asking);
        if left.is_some_and(|left| left.allows_actual(self.size)) {
            return true;
        }
        self.ledger.add(asking, self.size);
        let all: Vec<usize> = self.all_at_once().collect();
        self.take_all(&all);
        let covered = self.covers();
        self.put_back_all(&all);
        self.ledger.take(asking, self.size);
        covered
    }

    /// Returns all candidates that can stop together without overlap.
    fn all_at_once(&self) -> impl Iterator<Item = usize> {
        let all = self.candidates.iter().enumerate();
        all.filter(|(_, one)| one.kind != Kind::Surplus).map(|(position, _)| position)
    }

    /// Returns whether the leaf of the ask is within its guarantee in the types of the ask. The usage must include the
    /// ask.
    fn covers(&self) -> bool {
        if !self.compares_guarantees() {
            return true;
        }
        let left = self.ledger.remaining(self.ledger.asking);
        left.is_some_and(|left| {
            if self.whole {
                ledger::was_positive_before(&left, self.size)
            } else {
                !ledger::has_negative_of(&left, self.size)
            }
        })
    }

    /// Returns whether all waiting placeholders of the gang of the ask could fit: in free capacity, in capacity that is
    /// becoming free, and in that of possible victims.
    ///
    /// With a guarantee, the part beyond the free capacity must be within the guarantee. Compares sums only, because
    /// each placement checks the nodes. Without `strict_guarantee`, a plan covers one placeholder, as in YuniKorn.
    /// Source: no-starvation NS-31.
    fn completes_gang(&self) -> bool {
        let row = self.books.allocation(self.ask);
        if !row.placeholder || !self.scale.is_strict() {
            return true;
        }
        let all = self.books.allocations_of(row.application);
        let placeholders = all.filter(|(_, one)| one.placeholder && one.is_pending());
        let missing = placeholders.fold(Resources::new(), |mut sum, (_, one)| {
            sum.add(self.books.shapes().get(one.shape));
            sum
        });
        let root = self.books.queue(self.books.partition(self.partition).root);
        let free = root.left.as_ref().map(|left| left.plus_existing(&root.preempting));
        let mut victims = Resources::new();
        for one in self.all_at_once() {
            victims.add(&self.candidates[one].size);
        }
        let promised = (self.compares_guarantees() && !self.whole)
            .then(|| self.ledger.remaining(self.ledger.asking))
            .flatten();
        self.size.iter().filter(|(_, amount)| *amount > Quantity::ZERO).all(|(resource, _)| {
            let missing = missing.get_or_zero(resource);
            let free = free.as_ref().map_or(Quantity::ZERO, |free| free.get_or_zero(resource));
            let free = free.max(Quantity::ZERO);
            let by_guarantee = promised.as_ref().and_then(|left| left.get(resource));
            let stays_within =
                by_guarantee.is_none_or(|left| missing.minus(left.max(Quantity::ZERO)) <= free);
            missing <= free.plus(victims.get_or_zero(resource)) && stays_within
        })
    }

    /// Returns the asks that lose their reservation in favor of this ask.
    fn give_up_nodes(&self, now: Timestamp) -> Vec<AllocationId> {
        let mine = self.books.allocation(self.ask);
        let gives_up = |id: &AllocationId| {
            let row = self.books.allocation(*id);
            *id != self.ask
                && row.priority < mine.priority
                && yields_at(row).is_some_and(|at| at <= now)
        };
        self.reserved_nodes()
            .flat_map(|(_, node)| node.reservations())
            .copied()
            .filter(gives_up)
            .collect()
    }

    /// Returns the reserved nodes of the partition, in the order of their names.
    fn reserved_nodes(&self) -> impl Iterator<Item = (NodeId, &'books Node)> {
        let partition = self.books.partition(self.partition);
        let some = (partition.reservation_count > 0).then_some(&partition.nodes);
        let books = self.books;
        let nodes = some.into_iter().flat_map(OrderedMap::iter);
        nodes.map(|(_, id)| (*id, books.node(*id))).filter(|(_, node)| node.is_reserved())
    }

    /// Returns whether the ask can use a node after `given_up` lose their reservations.
    fn is_usable(&self, id: NodeId, given_up: &[AllocationId]) -> bool {
        let node = self.books.node(id);
        let mut others = node.reservations().iter().filter(|one| **one != self.ask);
        node.schedulable
            && self.books.may_run_on(self.ask, id)
            && node.could_hold(self.on_node)
            && others.all(|one| given_up.contains(one))
    }

    /// Returns the positions of the candidates on each usable node, in their order.
    fn by_node(&self, given_up: &[AllocationId]) -> Vec<(NodeId, Vec<usize>)> {
        let mut nodes: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (position, one) in self.candidates.iter().enumerate() {
            for node in one.nodes() {
                nodes.entry(node).or_default().push(position);
            }
        }
        nodes.into_iter().filter(|(node, _)| self.is_usable(*node, given_up)).collect()
    }

    /// Returns all usable nodes, in the order of their names.
    fn usable_nodes(&self, given_up: &[AllocationId]) -> impl Iterator<Item = NodeId> {
        let partition = self.books.partition(self.partition);
        let nodes = partition.nodes.iter().map(|(_, id)| *id);
        nodes.filter(move |node| self.is_usable(*node, given_up))
    }

    fn take(&mut self, position: usize) {
        let one = &self.candidates[position];
        self.ledger.take(one.leaf, &one.size);
    }

    fn put_back(&mut self, position: usize) {
        let one = &self.candidates[position];
        self.ledger.add(one.leaf, &one.size);
    }

    fn take_all(&mut self, positions: &[usize]) {
        for position in positions {
            self.take(*position);
        }
    }

    fn put_back_all(&mut self, positions: &[usize]) {
        for position in positions {
            self.put_back(*position);
        }
    }

    /// Returns whether a candidate can be taken from its leaf: the leaf uses more than its guarantee in a type of the
    /// ask, or the node was lent.
    fn may_lose(&self, position: usize) -> bool {
        let one = &self.candidates[position];
        !self.compares_guarantees()
            || !one.cost.owns
            || self.ledger.exceeds_guarantee(one.leaf, self.size)
    }

    /// Returns whether the RM decides which victims must stop on a node.
    fn asks(&self) -> bool {
        self.books.asks_about_victims(self.partition)
    }

    /// Returns the cost of stopping these candidates for an ask that lacks `need`. Without `strict_guarantee`, sets are
    /// compared only by the criteria of YuniKorn.
    fn cost_of(&self, positions: &[usize], need: &Resources) -> Cost {
        let all = positions.iter().map(|position| &self.candidates[*position]);
        let cost = all.clone().fold(Cost::NOTHING, |sum, one| sum.with(one.cost));
        if !self.scale.is_strict() {
            return Cost { age: Cost::NOTHING.age, ..cost };
        }
        let given = all.fold(Resources::new(), |sum, one| sum.plus(&one.size));
        Cost { surplus: self.scale.surplus(&given, need), ..cost }
    }

    /// Returns the amounts that become free on a node when a candidate stops.
    fn on(&self, position: usize, node: NodeId) -> &Resources {
        const NOTHING: &Resources = &Resources::new();
        self.candidates[position].on(node).unwrap_or(NOTHING)
    }

    /// Returns whether a candidate overlaps one of these.
    fn overlaps(&self, victims: &[usize], position: usize) -> bool {
        let one = &self.candidates[position];
        one.kind != Kind::Single
            && victims.iter().any(|victim| self.candidates[*victim].overlaps(one))
    }

    fn ids(&self, positions: &[usize]) -> Vec<AllocationId> {
        let all = positions.iter().flat_map(|position| &self.candidates[*position].members);
        all.copied().collect()
    }

    /// Returns the allocations of a candidate on a node.
    fn ids_on(&self, node: NodeId, position: usize) -> impl Iterator<Item = AllocationId> {
        let members = self.candidates[position].members.iter().copied();
        members.filter(move |id| self.books.allocation(*id).node == Some(node))
    }
}
