//! Updates the indexes with reservations, gangs, and other special cases, and rebuilds them.

use alloc::vec::Vec;

use crate::books::{ApplicationState, Books, TaskGroup};
use crate::id::{AllocationId, NodeId, PartitionId, QueueId, ShapeId};
use crate::wait::Blocker;

use super::batch_list::BatchKey;
use super::before_event::BeforeEvent;
use super::placement_mode::PlacementMode;
use super::{Note, PendingCounts, Scheduler};

impl Scheduler {
    /// Rebuilds all indexes after a change of the rules.
    pub(super) fn rebuild(&mut self, books: &Books) {
        let (notes, pending_counts) = (self.notes.take(), self.pending_counts.take());
        let (now, judged, marking) = (self.now, self.judged, core::mem::take(&mut self.marking));
        let pending_counts = pending_counts.map(|_| PendingCounts::default());
        let lines = core::mem::take(&mut self.parked.lines).renewed();
        let waking_nodes = self.parked.waking_nodes.renewed();
        let waited = self.classes.take_waited();
        let hints = self.hints.renewed();
        *self = Self { notes, pending_counts, hints, judged, now, marking, ..Self::default() };
        self.parked.lines = lines;
        self.parked.waking_nodes = waking_nodes;
        self.note(Note::Renewed);
        self.build(books);
        self.classes.restore_waited(waited);
    }

    /// Returns whether the indexes are updated after an event. Otherwise, they are rebuilt before the next step.
    ///
    /// Also records the captured state that updates need.
    #[inline]
    pub(super) fn is_followed(&mut self, books: &Books, seen: &BeforeEvent) -> bool {
        self.stale |= self.labelled != books.types().labelled();
        if self.stale {
            return false;
        }
        self.charged |= !self.overdue.is_empty();
        self.note_seen(books, seen);
        true
    }

    /// Updates the sizes of siblings after a queue was removed.
    pub(super) fn follow_siblings(&mut self, books: &Books, seen: &BeforeEvent) {
        if let Some(parent) = seen.queue {
            self.follow_sizes(books, parent);
        }
    }

    pub(super) fn add_queue(&mut self, books: &Books, partition: PartitionId, path: &str) {
        let queue = books.partition(partition).queues.get(path);
        let queue = *queue.expect("the event added the queue");
        self.tree.add(books, queue);
        self.note_sparing(books.queue(queue));
        if let Some(parent) = books.queue(queue).parent {
            self.follow_sizes(books, parent);
        }
    }

    /// Updates a node that can have gained free capacity, or whose reservation changed.
    pub(super) fn node_changed(&mut self, books: &Books, node: NodeId) {
        self.update_node(books, node);
        self.node_opened(books, node);
    }

    /// Wakes asks for a node that can have become usable or larger, or that lost its reservation.
    pub(super) fn node_opened(&mut self, books: &Books, node: NodeId) {
        self.node_gave_way(books, node);
        self.open_candidates(books, node);
        let row = books.node(node);
        let suits = |(shape, _)| row.could_hold(books.shapes().on_node(shape));
        self.parked.open(&mut self.tree, Blocker::RequiredNodeSize(node), suits);
    }

    /// Wakes reservation candidates that a node could hold.
    pub(super) fn open_candidates(&mut self, books: &Books, node: NodeId) {
        let row = books.node(node);
        if row.is_open() {
            let suits =
                |shape| row.could_hold(books.shapes().on_node(shape)) && books.suits(shape, node);
            let shown = (&mut self.tree, &mut self.parked.turns);
            self.reservation_candidates.open(shown, row.partition, suits);
        }
    }

    /// Wakes asks that fit the free capacity of a node.
    pub(super) fn node_gave_way(&mut self, books: &Books, node: NodeId) {
        let row = books.node(node);
        let fits = |(shape, _): (ShapeId, u32)| row.available.fits(books.shapes().on_node(shape));
        if row.is_open() {
            // For asks that start together, this node can complete the required capacity.
            let suits = |wanted: (ShapeId, u32)| fits(wanted) && books.suits(wanted.0, node);
            self.parked.open(&mut self.tree, Blocker::Nodes(row.partition), suits);
            self.parked.node_gained(&mut self.tree, books, node);
            self.wake_gangs(row.partition, suits);
            self.lending.node_gave_way(&mut self.tree, books, node);
        }
        self.parked.open(&mut self.tree, Blocker::RequiredNode(node), fits);
        self.wake_pinned_members(books, node);
        if row.is_reserved() {
            self.wake_reserved(books, node);
        }
    }

    /// Wakes reserved asks of the node of an allocation that will stop. Another victim there can now be chosen for asks
    /// that require this node.
    pub(super) fn marked(&mut self, books: &Books, allocation: AllocationId) {
        let node = books.allocation(allocation).node;
        if let Some(node) = node.filter(|node| books.node(*node).is_reserved()) {
            self.wake_reserved(books, node);
        }
    }

    /// Updates the node that an event freed from a reservation.
    pub(super) fn freed(&mut self, books: &Books, seen: &BeforeEvent) {
        if let Some(node) = seen.freed {
            self.node_changed(books, node);
            if let Some(application) = seen.application {
                self.follow_reservation(books, application);
            }
        }
    }

    /// Updates the placement mode of members after a placeholder was added or removed.
    pub(super) fn group_changed(&mut self, books: &Books, seen: &BeforeEvent) {
        let (Some(application), Some((group, had_places))) = (seen.application, seen.group) else {
            return;
        };
        let row = books.applications().get(application);
        let gang = row.and_then(|row| row.gang.as_ref());
        let has_places = gang
            .and_then(|gang| gang.groups.get(group))
            .map(TaskGroup::has_replaceable_placeholders);
        if has_places.is_some_and(|has| has != had_places) {
            self.change_mode_of_members(books, application, (group, had_places));
        }
    }

    /// Updates the gang of an ask that was placed. A placed placeholder can be replaced.
    pub(super) fn special_placed(&mut self, books: &Books, ask: AllocationId) {
        let row = books.allocation(ask);
        if row.placeholder {
            let application = row.application;
            self.place_opened(books, ask);
            if books.application(application).state == ApplicationState::Accepted {
                self.restand(books, application);
            }
        }
    }

    /// Updates the class of an ask after a question or an answer. The first question separates an ask from its equals.
    /// If no valid verdict is left after an answer, the ask rejoins them.
    pub(super) fn follow_question(
        &mut self,
        books: &Books,
        ask: AllocationId,
        before: PlacementMode,
    ) {
        let row = books.allocation(ask);
        if PlacementMode::of(books, ask, row) == before {
            return self.wake(books, ask);
        }
        let batch = self.applications[row.application.index()]
            .batch(BatchKey::of(books, ask, before))
            .expect("a waiting ask is in a batch");
        let class = self.classes.batches[batch].class;
        self.take_marks(class);
        self.change_mode(books, ask, before);
        self.give_marks(books, ask);
    }

    /// Adds asks that require this node to the index of the node, after it was registered.
    pub(super) fn pin(&mut self, books: &Books, node: NodeId) {
        let row = books.node(node);
        let key = (row.partition, row.name.clone());
        for ask in self.required.get(&key).cloned().unwrap_or_default() {
            let asking = matches!(
                PlacementMode::of(books, ask, books.allocation(ask)),
                PlacementMode::NeedsVerdict(_)
            );
            if asking || self.is_single_member(books, ask) {
                self.wake(books, ask);
            } else {
                self.change_mode(books, ask, PlacementMode::RequiredNodeAbsent(ask));
            }
        }
    }

    /// Removes asks that require this node, until the node is removed from the books.
    pub(super) fn unpin(&mut self, books: &Books, node: NodeId) {
        let row = books.node(node);
        let key = (row.partition, row.name.clone());
        let asks = self.required.get(&key).cloned().unwrap_or_default();
        self.take_out(books, asks);
        self.forget_place(node);
    }

    /// Removes the asks of a leaf that is about to gain its first guarantee or lose its last one. A guarantee enables
    /// preemption, and classes depend on that.
    pub(super) fn take_out_leaf(&mut self, books: &Books, leaf: QueueId) {
        let asks = books.applications_in(leaf).flat_map(|(id, _)| books.allocations_of(id));
        let waiting = asks.filter(|(_, row)| row.is_pending()).map(|(id, _)| id);
        self.take_out(books, waiting.collect::<Vec<_>>());
    }

    fn take_out(&mut self, books: &Books, asks: impl IntoIterator<Item = AllocationId>) {
        for ask in asks {
            let left = self.remove_ask(books, ask);
            self.reorder(books, books.allocation(ask).application, left);
            self.taken_out.push(ask);
        }
    }

    /// Adds the removed asks again after the event.
    pub(super) fn put_back(&mut self, books: &Books) {
        for ask in core::mem::take(&mut self.taken_out) {
            self.add_ask(books, ask);
        }
    }
}
