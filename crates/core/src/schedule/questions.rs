//! Questions to the RM about nodes. Source: scheduling §6.5, §6.6; docs/decisions/0013-questions.md.
//!
//! If the RM of a partition answers questions, equal asks are one class until the RM is asked about one of them. That
//! ask is then a class of its own, because equal asks can get different answers. An ask uses the first node in order
//! that the RM accepted. Without such a node, the scheduler asks the RM about nodes without an answer. The ask waits for
//! the answer, while other asks continue.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Books, Question, QuestionMode, QuestionSubject};
use crate::event::{AskEvent, Event};
use crate::id::{AllocationId, NodeId, PartitionId, ShapeId};
use crate::resource::Resources;
use crate::wait::{Blocker, Wait};

use super::check_class::{Verdict, wait};
use super::class::ClassKey;
use super::nodes::NodeIndex;
use super::placement_mode::PlacementMode;
use super::reservation_candidates::CandidateKey;
use super::reserve;
use super::{Scheduler, Search};

/// Asks for which the RM rejected all nodes with enough free capacity, by partition and shape.
pub(super) type Refused = BTreeMap<(PartitionId, ShapeId), BTreeSet<AllocationId>>;

/// Returns whether an ask waits for an answer of the RM.
#[inline]
pub(super) fn awaits_rm(books: &Books, ask: AllocationId) -> bool {
    books.has_questions() && books.question_of(ask).is_some()
}

/// Sends a question to the RM. If it has too many open questions, sends nothing and ends the pass until it answers.
pub(super) fn put_question(
    books: &Books,
    ask: AllocationId,
    subject: QuestionSubject,
    events: &mut Vec<Event>,
) {
    let application = books.application(books.allocation(ask).application);
    if !books.has_asked_enough(application.partition) {
        events.push(Event::Ask(AskEvent::Asked { ask, subject }));
    }
}

/// Returns whether an ask that can run on any node found none.
pub(super) const fn found_no_node(blocker: Blocker) -> bool {
    matches!(blocker, Blocker::Nodes(_) | Blocker::NodeConstraint(_))
}

/// Returns whether the RM rejects a node for an ask, according to a valid answer.
fn refuses(books: &Books, ask: AllocationId, node: NodeId, mode: QuestionMode) -> bool {
    books.verdict_on(ask, node, mode).is_some_and(|verdict| verdict.refusal.is_some())
}

/// Returns the verdict for a node with enough free capacity: to place the ask if the RM accepts the node, or `refused`.
pub(super) fn on_node(
    books: &Books,
    ask: AllocationId,
    node: NodeId,
    refused: impl FnOnce() -> Verdict,
) -> Verdict {
    let partition = books.node(node).partition;
    if !books.asks_about_nodes(partition) {
        return Verdict::Place(node);
    }
    let mode = QuestionMode::Allocate;
    match books.verdict_on(ask, node, mode) {
        None => Verdict::Ask(ask, QuestionSubject::Nodes(mode, vec![node])),
        Some(verdict) if verdict.refusal.is_some() => refused(),
        Some(_) => Verdict::Place(node),
    }
}

/// Returns the verdict to place an ask on the first node in order with enough free capacity that the RM accepts.
///
/// Costs the answers of the RM for the ask, and a check of at most as many nodes as one question can have.
pub(super) fn on_any_node(
    books: &Books,
    nodes: &mut NodeIndex,
    (partition, ask): (PartitionId, AllocationId),
    wanted: &Resources,
) -> Verdict {
    if nodes.first_fit(books, books.allocation(ask).shape).is_none() {
        return wait(Blocker::Nodes(partition));
    }
    match first_that_suits(books, nodes, (ask, wanted), |_| true) {
        Some(Ok(node)) => Verdict::Place(node),
        Some(Err(nodes)) => {
            Verdict::Ask(ask, QuestionSubject::Nodes(QuestionMode::Allocate, nodes))
        }
        None => wait(Blocker::NodeConstraint(ask)),
    }
}

/// Returns the first node in order with enough free capacity that the RM accepts for an ask and that satisfies
/// `may_have`. Without such a node, returns the nodes for the next question. `None` if the RM rejected all of them.
fn first_that_suits(
    books: &Books,
    nodes: &NodeIndex,
    (ask, wanted): (AllocationId, &Resources),
    may_have: impl Fn(NodeId) -> bool,
) -> Option<Result<NodeId, Vec<NodeId>>> {
    let mode = QuestionMode::Allocate;
    let may_have = |node| books.may_run_on(ask, node) && may_have(node);
    let accepted = books.verdicts_of(ask, mode).filter(|(id, verdict)| {
        let node = books.node(*id);
        let free = node.is_open() && node.available.fits(wanted);
        verdict.refusal.is_none() && free && may_have(*id)
    });
    if let Some(node) = nodes.first_of(accepted.map(|(node, _)| node)) {
        return Some(Ok(node));
    }
    let unknown = |node| may_have(node) && books.verdict_on(ask, node, mode).is_none();
    let nodes = nodes.with_room(books, wanted, unknown, books.nodes_to_ask_about(ask));
    (!nodes.is_empty()).then_some(Err(nodes))
}

/// Returns a node for a member that can use no node of a placeholder, or the nodes for the next question. `None` if the
/// RM rejected all of them.
///
/// The node must be usable, not reserved, and have enough free capacity. Both the member and the placeholder count
/// until the RM has stopped the placeholder. A node that the RM rejects regardless of capacity is not used.
pub(super) fn elsewhere(
    books: &Books,
    nodes: &NodeIndex,
    member: AllocationId,
) -> Option<Result<NodeId, Vec<NodeId>>> {
    let may_have = |node: NodeId| !refuses(books, member, node, QuestionMode::Reserve);
    first_that_suits(books, nodes, (member, books.node_request(member)), may_have)
}

/// Returns whether the RM rejected any node for an ask, or the required node.
pub(super) fn is_refused(books: &Books, ask: AllocationId) -> bool {
    let required = books.allocation(ask).required_node();
    let modes = [QuestionMode::Allocate, QuestionMode::Reserve].into_iter();
    modes.flat_map(|mode| books.verdicts_of(ask, mode)).any(|(node, verdict)| {
        let named = required.is_none_or(|name| *name == books.node(node).name);
        named && verdict.refusal.is_some()
    })
}

/// Returns the node to reserve for an ask, or the nodes for the next question. `None` if the RM rejected all of them, or
/// if the limits of reservations allow none.
///
/// A node with enough free capacity that the RM rejects is not reserved, because the reservation would not help. For the
/// same reason, a placeholder reserves no node on which its own gang leaves too little. Costs the nodes that can be
/// reserved, and their logarithm, and for a placeholder the allocations of its gang.
pub(super) fn to_keep(
    books: &Books,
    nodes: &NodeIndex,
    ask: AllocationId,
) -> Option<Result<NodeId, Vec<NodeId>>> {
    if !books.may_reserve(ask) {
        return None;
    }
    let shape = books.allocation(ask).shape;
    let own = books.placed_of_gang(ask);
    let beside_gang = |node: NodeId| {
        let own = own.get(&node);
        own.is_none_or(|own| books.node(node).could_hold_beside(own, books.shapes().on_node(shape)))
    };
    let partition = books.application(books.allocation(ask).application).partition;
    if !books.asks_about_nodes(partition) {
        return nodes.best_to_keep(books, shape, beside_gang).map(Ok);
    }
    let mode = QuestionMode::Reserve;
    let mut left = nodes.to_keep(books, shape, |id| {
        beside_gang(id) && !refuses(books, ask, id, mode) && !has_refused_room(books, ask, id)
    });
    // The remaining nodes have no rejection.
    if let Some(node) = left.iter().find(|node| books.verdict_on(ask, **node, mode).is_some()) {
        return Some(Ok(*node));
    }
    left.truncate(Question::NODES_MAX);
    (!left.is_empty()).then_some(Err(left))
}

/// Returns whether a node has enough free capacity for an ask, but the RM rejects it.
fn has_refused_room(books: &Books, ask: AllocationId, node: NodeId) -> bool {
    refuses(books, ask, node, QuestionMode::Allocate)
        && books.node(node).available.fits(books.node_request(ask))
}

/// Checks an ask that the RM decides about and that has no reserved node.
pub(super) fn judge(
    books: &Books,
    nodes: &mut NodeIndex,
    (partition, ask): (PartitionId, AllocationId),
    wanted: &Resources,
) -> Verdict {
    let Some(name) = books.allocation(ask).required_node() else {
        return on_any_node(books, nodes, (partition, ask), wanted);
    };
    let Some(node) = books.partition(partition).nodes.get(&**name).copied() else {
        return wait(Blocker::NodeAbsent(partition));
    };
    match reserve::on_required_node(books, node, wanted) {
        // A node that the RM rejects is not reserved.
        Verdict::Place(node) => on_node(books, ask, node, || wait(Blocker::NodeConstraint(ask))),
        // The reservation would end immediately, because the free node is rejected.
        Verdict::Reserve(node) if has_refused_room(books, ask, node) => {
            wait(Blocker::NodeConstraint(ask))
        }
        Verdict::Reserve(node) => {
            let mode = QuestionMode::Reserve;
            match books.verdict_on(ask, node, mode) {
                None => Verdict::Ask(ask, QuestionSubject::Nodes(mode, vec![node])),
                Some(verdict) if verdict.refusal.is_some() => wait(Blocker::NodeConstraint(ask)),
                Some(_) => Verdict::Reserve(node),
            }
        }
        other @ (Verdict::Link
        | Verdict::PlaceWhole
        | Verdict::Ask(..)
        | Verdict::ReplacePlaceholder
        | Verdict::Unreserve(_)
        | Verdict::Elsewhere
        | Verdict::Early(_)
        | Verdict::Wait(_)) => other,
    }
}

impl Scheduler {
    /// Reserves a node for an ask that found none, or asks the RM first.
    pub(super) fn reserve_for(
        &mut self,
        books: &Books,
        (partition, key): (PartitionId, ClassKey),
        ask: AllocationId,
        events: &mut Vec<Event>,
    ) -> Search {
        match to_keep(books, &self.nodes[&partition], ask) {
            Some(Ok(node)) => events.push(Event::Ask(AskEvent::Reserved { ask, node })),
            Some(Err(nodes)) => {
                let subject = QuestionSubject::Nodes(QuestionMode::Reserve, nodes);
                put_question(books, ask, subject, events);
            }
            None => {
                let shown = (&mut self.tree, &mut self.parked.turns);
                self.reservation_candidates.refuse(shown, (partition, CandidateKey::of(key)));
                return Search::GoesOn;
            }
        }
        Search::Over
    }

    /// Updates a changed node in the order, and wakes asks for which the RM rejected it.
    #[inline]
    pub(super) fn update_node(&mut self, books: &Books, node: NodeId) {
        let partition = books.node(node).partition;
        self.nodes_of(partition).update(books, node);
        self.parked.waking_nodes.node_changed(partition, node);
        self.room_of_heads_changed(books, partition, node);
        self.node_versioned(books, node);
    }

    /// Wakes asks for a new or changed node, about which the RM can change its answers.
    #[inline]
    pub(super) fn node_versioned(&mut self, books: &Books, node: NodeId) {
        if books.has_questions() {
            self.wake_refused(books, node);
            self.open_candidates(books, node);
        }
    }

    /// Wakes asks that fit a node, because the answers of the RM about it are no longer valid.
    ///
    /// Costs a lookup for each distinct rejected shape, and one question for each ask that is checked again.
    fn wake_refused(&mut self, books: &Books, node: NodeId) {
        let row = books.node(node);
        let first = (row.partition, ShapeId::FIRST);
        let mine = self.refused.range(first..).take_while(|((id, _), _)| *id == row.partition);
        let fits =
            |shape: ShapeId| row.is_open() && row.available.fits(books.shapes().on_node(shape));
        let mine = mine.filter(|((_, shape), _)| fits(*shape));
        let mut asks: Vec<AllocationId> = mine.flat_map(|(_, asks)| asks).copied().collect();
        let required = self.required.get(&(row.partition, row.name.clone()));
        asks.extend(required.into_iter().flatten());
        asks.extend(self.forget_place(node));
        asks.extend(row.reservations());
        for ask in asks {
            self.wake(books, ask);
        }
    }

    /// Removes the rejections of the node of a placeholder, because the node changed or is about to be removed. Returns
    /// the asks.
    pub(super) fn forget_place(&mut self, node: NodeId) -> Vec<AllocationId> {
        let places = self.refused_places.range((node, AllocationId::FIRST)..);
        let places: Vec<(NodeId, AllocationId)> =
            places.take_while(|(on, _)| *on == node).copied().collect();
        for place in &places {
            self.refused_places.remove(place);
        }
        places.into_iter().map(|(_, ask)| ask).collect()
    }

    /// Records that the RM rejected all nodes with enough free capacity for an ask.
    pub(super) fn note_refused(&mut self, books: &Books, wait: Wait) {
        if let Blocker::NodeConstraint(ask) = wait.blocker {
            let row = books.allocation(ask);
            let partition = books.application(row.application).partition;
            self.refused.entry((partition, row.shape)).or_default().insert(ask);
            if let PlacementMode::ReplacePlaceholderAlone(_) = PlacementMode::of(books, ask, row) {
                let nodes = books.verdicts_of(ask, QuestionMode::Reserve);
                self.refused_places.extend(nodes.map(|(node, _)| (node, ask)));
            }
        }
    }

    /// Returns the current wait of an ask that can run on any node: the RM rejected the nodes with enough free
    /// capacity, or no node has enough.
    pub(super) fn as_refused(&self, books: &Books, key: ClassKey, wait: Wait) -> Wait {
        let (PlacementMode::NeedsVerdict(ask) | PlacementMode::ReservedNode(ask)) = key.mode else {
            return wait;
        };
        let (row, partition) = (books.allocation(ask), books.queue(key.leaf).partition);
        let any = found_no_node(wait.blocker) && row.required_node().is_none();
        if !any || !books.asks_about_nodes(partition) {
            return wait;
        }
        let wanted = books.node_request(ask);
        let suits = |node| books.suits(row.shape, node);
        let reserved = row.reservation().map(|reservation| books.node(reservation.node));
        let has_room = reserved.is_some_and(|node| node.available.fits(wanted))
            || !self.nodes[&partition].with_room(books, wanted, suits, 1).is_empty();
        let nodes = Blocker::Nodes(partition);
        Wait { blocker: if has_room { Blocker::NodeConstraint(ask) } else { nodes }, ..wait }
    }

    /// Removes all recorded rejections of an ask.
    pub(super) fn forget_refused(&mut self, books: &Books, ask: AllocationId) {
        if self.refused.is_empty() {
            return;
        }
        let row = books.allocation(ask);
        let key = (books.application(row.application).partition, row.shape);
        if !self.refused_places.is_empty() {
            // Rejections of changed nodes were already removed.
            for (node, _) in books.verdicts_of(ask, QuestionMode::Reserve) {
                self.refused_places.remove(&(node, ask));
            }
        }
        if let Some(asks) = self.refused.get_mut(&key) {
            asks.remove(&ask);
            if asks.is_empty() {
                self.refused.remove(&key);
            }
        }
    }
}
