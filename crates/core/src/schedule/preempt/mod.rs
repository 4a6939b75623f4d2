//! Room for an ask of a queue that has less than its guarantee: what others are asked to stop.
//!
//! Everything here reads the books and answers with a plan, or with what the RM is to be asked
//! first; nothing is changed, and no time passes. Scheduling §11.2 to §11.4.
//!
//! Under `strict_guarantee` ([`strict_guarantee`]) a plan is complete before the first victim is asked: with
//! them gone, the ask fits its node and its queues, no queue has fallen below its guarantee in a
//! type that the ask needs, and no victim could be left out. So two queues do not take from each
//! other in turn: who gave some of a type has its guarantee of that type still, so no guarantee
//! of it is left that an ask needing the type could call on. Otherwise ([`yunikorn`]) victims are
//! those that the reference takes.

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

/// How many tries one leaf has in one cycle. Source: scheduling §11.2.
pub const TRIES_PER_CYCLE: u32 = 10;

/// How long a node is reserved for an ask before it goes to one of higher priority. Source:
/// scheduling §11.3, decision D-17 for the doubled hour, and K-28 for whose age it is.
const RESERVED_FOR: Millis = Millis::from_secs(2 * 60 * 60 + 2);

/// What is to be stopped for an ask, and where it runs then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VictimPlan {
    /// The node that is to be reserved for the ask.
    pub node: NodeId,
    /// What the RM is to stop; at least one.
    pub victims: Vec<AllocationId>,
    /// For what they are stopped.
    pub basis: VictimBasis,
}

/// On what a plan is based.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimBasis {
    /// The guarantee of the queue, or its part of what there is.
    Guarantee,
    /// Victims are other users' of the same leaf, above their shares.
    Share,
    /// Victims are of the same leaf and of a lower priority.
    Priority,
}

/// What is to be done for an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Others are to be stopped.
    Stop(VictimPlan),
    /// The RM is to be asked who would have to go on these nodes.
    Ask(Vec<Removal>),
}

/// What a try found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Asks that lose their reservation: they had it for long, and are of lower priority.
    pub given_up: Vec<AllocationId>,
    /// What is to be stopped or asked, or why nothing is.
    pub outcome: Result<Outcome, Obstacle>,
}

impl Attempt {
    /// Whether this claim leads nowhere, so that another may be tried.
    const fn comes_to_nothing(&self) -> bool {
        use Obstacle::{GangTooLarge, NoGuarantee, NothingHelps, TooLittle};
        matches!(self.outcome, Err(NoGuarantee | NothingHelps | TooLittle | GangTooLarge))
    }
}

/// Why nothing is stopped for an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obstacle {
    /// It may not have others stopped, runs on one node only, had others stopped before, is
    /// young, or was tried a moment ago.
    TooEarly,
    /// Its queue has no guarantee left that covers it.
    NoGuarantee,
    /// Whatever may be stopped is not enough, or not on one node.
    NothingHelps,
    /// The RM accepts none of the nodes where it would help.
    Refused,
    /// There are victims, and together they are smaller than the ask.
    TooLittle,
    /// With all that may be stopped, there is no room for all placeholders of its gang.
    GangTooLarge,
    /// What is being stopped already makes room enough.
    OnItsWay,
    /// As much of its queue as may be is on its way from user to user.
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
                "nothing is preempted for the ask: the resource manager accepts none \
                              of the nodes where preemption would free enough capacity"
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

/// Whether an ask may ever have others stopped for it: that is not forbidden, and did not
/// happen yet.
pub(super) fn may_ask(ask: &Allocation) -> bool {
    ask.may_preempt && !ask.preemption_triggered && ask.required_node().is_none()
}

/// When the first try for an ask may come, by its age alone.
pub(crate) fn ripe_at(books: &Books, leaf: QueueId, ask: &Allocation) -> Timestamp {
    ask.created + books.queue(leaf).settings.values.preemption_delay
}

/// When the node that is reserved for an ask goes to one of higher priority; none if it never does.
pub(super) fn yields_at(ask: &Allocation) -> Option<Timestamp> {
    let reservation = ask.reservation()?;
    let yields = ask.required_node().is_none() && !ask.preemption_triggered;
    yields.then(|| reservation.since + RESERVED_FOR + INSTANT)
}

/// Whether others may be stopped for an ask that may run anywhere, when its time comes: its
/// partition has that, and some queue on its path a guarantee.
pub(crate) fn can_preempt(books: &Books, ask: &Allocation) -> bool {
    let application = books.application(ask.application);
    let is_on = books.partition(application.partition).settings.preemption.enabled;
    let mut queues = books.up(application.queue);
    let has_guarantee =
        |queue: &Queue| queue.guaranteed.as_ref().is_some_and(|one| !one.is_empty());
    let by_priority = entitlement::goes_by_priority(books, application.queue);
    may_ask(ask) && is_on && (by_priority || queues.any(|(_, queue)| has_guarantee(queue)))
}

/// Whether an ask that is held back for this reason may have others stopped: it waits for free amounts in its queues, or
/// on a node.
pub(crate) const fn helps_against(blocker: Blocker) -> bool {
    is_for_room(blocker) || matches!(blocker, Blocker::ReservedNodeFull(_))
}

/// Whether an ask that is held back for this reason was tried on nodes.
pub(crate) const fn is_for_nodes(blocker: Blocker) -> bool {
    found_no_node(blocker) || matches!(blocker, Blocker::ReservedNodeFull(_))
}

/// Look for something to stop for an ask, which waits: for want of a node if `nodes_tried`, and
/// otherwise because a queue is full.
///
/// Costs the queues below the fence of the ask that use anything. Costs the nodes of the partition,
/// too, if a queue is full or nodes are reserved. For those queues that are leaves above their
/// guarantee, it costs their allocations, times the logarithm of their number and the tree depth.
pub fn attempt(books: &Books, ask: AllocationId, now: Timestamp, nodes_tried: bool) -> Attempt {
    let row = books.allocation(ask);
    let leaf = books.application(row.application).queue;
    let tried = books.last_try(ask).is_some_and(|tried| now < tried.at + PreemptionTry::PAUSE);
    if !row.is_pending() || !may_ask(row) || now < ripe_at(books, leaf, row) || tried {
        return Attempt { given_up: Vec::new(), outcome: Err(Obstacle::TooEarly) };
    }
    plan(books, ask, now, nodes_tried)
}

/// [`attempt`] for an ask that may have one.
pub(crate) fn plan(books: &Books, ask: AllocationId, now: Timestamp, nodes_tried: bool) -> Attempt {
    let claim = entitlement::of_queue(books, ask);
    let is_split = matches!(claim, Entitlement::IdealAssignment(_));
    let mut of_queue = plan_with(books, ask, claim, now, nodes_tried);
    if is_split && of_queue.comes_to_nothing() {
        // A giver retains its part of what there is. To a guarantee it gives what is beyond its own
        // guarantee.
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

/// An attempt, or what is found within the leaf where it comes to nothing.
fn or_within(
    first: Attempt,
    claim: Option<Entitlement>,
    plan: impl FnOnce(Entitlement) -> Attempt,
) -> Attempt {
    let claim = match first.outcome {
        // What makes room already comes first, and the RM's answers are stored for one set of
        // victims on each node.
        Ok(_) | Err(Obstacle::TooEarly | Obstacle::OnItsWay | Obstacle::Refused) => None,
        Err(_) => claim,
    };
    let Some(claim) = claim else { return first };
    let within = plan(claim);
    match &within.outcome {
        // Nodes are given up once, for whichever comes to something.
        Err(_) if !first.given_up.is_empty() => first,
        Err(Obstacle::NoGuarantee) => first,
        _ => within,
    }
}

/// What may be stopped for what an ask calls on.
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

/// One ask, and what may be stopped for it.
#[derive(Debug)]
struct PreemptionContext<'books> {
    books: &'books Books,
    partition: PartitionId,
    ask: AllocationId,
    /// What it counts as for queues and users.
    size: &'books Resources,
    /// What a node must have for it.
    on_node: &'books Resources,
    ledger: Ledger<'books>,
    /// In the order in which they are taken.
    candidates: Vec<Candidate<'books>>,
    /// Whether the ask may go beyond what is promised, once, by a part of itself: what there is of
    /// the promise before it need not cover all of it.
    whole: bool,
    /// On what a plan is based.
    basis: VictimBasis,
    /// Measures what goes; also knows whether no queue may fall below its guarantee.
    scale: Scale<'books>,
    /// What the queues of the ask lack for it; none where that is not looked at.
    short: Resources,
}

impl<'books> PreemptionContext<'books> {
    /// Look for candidates; refused if no guarantee covers the ask, whatever goes.
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

    /// Whether guarantees matter: by priority, what one ask of a leaf loses another of it gets.
    fn compares_guarantees(&self) -> bool {
        self.basis != VictimBasis::Priority
    }

    /// Whether what is left of the guarantee covers the ask, or would if all candidates went:
    /// those of queues that share a guarantee above count.
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

    /// All candidates that may go together, none of which has a part of another.
    fn all_at_once(&self) -> impl Iterator<Item = usize> {
        let all = self.candidates.iter().enumerate();
        all.filter(|(_, one)| one.kind != Kind::Surplus).map(|(position, _)| position)
    }

    /// Whether the leaf that asks, the ask counted, is within its guarantee in the types of the
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

    /// Whether all placeholders of the gang of the ask that wait may find room: in what is free or is becoming free, by
    /// what may be stopped, and as far as a guarantee is called on, within that but for what is free. Compares sums:
    /// whether the nodes hold them is seen one by one. Without the law a plan covers one placeholder, as the
    /// reference's. No-starvation NS-31.
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

    /// The asks that lose their reservation for the sake of this one.
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

    /// The nodes of the partition that are reserved for some ask, in the order of their names.
    fn reserved_nodes(&self) -> impl Iterator<Item = (NodeId, &'books Node)> {
        let partition = self.books.partition(self.partition);
        let some = (partition.reservation_count > 0).then_some(&partition.nodes);
        let books = self.books;
        let nodes = some.into_iter().flat_map(OrderedMap::iter);
        nodes.map(|(_, id)| (*id, books.node(*id))).filter(|(_, node)| node.is_reserved())
    }

    /// Whether the ask may have a node once `given_up` have it no more.
    fn is_usable(&self, id: NodeId, given_up: &[AllocationId]) -> bool {
        let node = self.books.node(id);
        let mut others = node.reservations().iter().filter(|one| **one != self.ask);
        node.schedulable
            && self.books.may_run_on(self.ask, id)
            && node.could_hold(self.on_node)
            && others.all(|one| given_up.contains(one))
    }

    /// The candidates on each node that the ask may have, by their positions, in their order.
    fn by_node(&self, given_up: &[AllocationId]) -> Vec<(NodeId, Vec<usize>)> {
        let mut nodes: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (position, one) in self.candidates.iter().enumerate() {
            for node in one.nodes() {
                nodes.entry(node).or_default().push(position);
            }
        }
        nodes.into_iter().filter(|(node, _)| self.is_usable(*node, given_up)).collect()
    }

    /// All nodes that the ask may have, in the order of their names.
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

    /// Whether a candidate may be taken from its leaf: that uses more than its guarantee of some type of
    /// the ask, or what it would lose was lent to it.
    fn may_lose(&self, position: usize) -> bool {
        let one = &self.candidates[position];
        !self.compares_guarantees()
            || !one.cost.owns
            || self.ledger.exceeds_guarantee(one.leaf, self.size)
    }

    /// Whether the RM says who has to go on a node.
    fn asks(&self) -> bool {
        self.books.asks_about_victims(self.partition)
    }

    /// The cost of stopping these where the ask lacks `need`. Without the law sets are compared as far as the reference
    /// compares them.
    fn cost_of(&self, positions: &[usize], need: &Resources) -> Cost {
        let all = positions.iter().map(|position| &self.candidates[*position]);
        let cost = all.clone().fold(Cost::NOTHING, |sum, one| sum.with(one.cost));
        if !self.scale.is_strict() {
            return Cost { age: Cost::NOTHING.age, ..cost };
        }
        let given = all.fold(Resources::new(), |sum, one| sum.plus(&one.size));
        Cost { surplus: self.scale.surplus(&given, need), ..cost }
    }

    /// What a node has more when a candidate goes.
    fn on(&self, position: usize, node: NodeId) -> &Resources {
        const NOTHING: &Resources = &Resources::new();
        self.candidates[position].on(node).unwrap_or(NOTHING)
    }

    /// Whether a candidate has, or is, a part of one of these.
    fn overlaps(&self, victims: &[usize], position: usize) -> bool {
        let one = &self.candidates[position];
        one.kind != Kind::Single
            && victims.iter().any(|victim| self.candidates[*victim].overlaps(one))
    }

    fn ids(&self, positions: &[usize]) -> Vec<AllocationId> {
        let all = positions.iter().flat_map(|position| &self.candidates[*position].members);
        all.copied().collect()
    }

    /// Those of a candidate that are on a node.
    fn ids_on(&self, node: NodeId, position: usize) -> impl Iterator<Item = AllocationId> {
        let members = self.candidates[position].members.iter().copied();
        members.filter(move |id| self.books.allocation(*id).node == Some(node))
    }
}
