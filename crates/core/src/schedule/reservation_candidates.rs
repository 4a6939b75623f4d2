//! Reservation candidates: asks that found no node and are old enough for a reservation. Source: scheduling §6.5.
//!
//! Only asks of a certain age can get a reservation, and they are not always the first of their class. After a class
//! found no node, each of its batches tracks its first old ask, and the time at which that changes. The asks of one
//! priority are in the order of their age, so the first ask of each priority is sufficient.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Bound;

use crate::books::{Application, Books};
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId, ShapeId};
use crate::time::{Millis, Timestamp};

use super::Scheduler;
use super::class::{AskBatch, AskBatchId, ClassId, ClassKey, Head};
use super::class_list::{ClassList, ClassPosition};
use super::fair_share::FairShareIndex;
use super::min_tree::EntryId;
use super::order::AskKey;
use super::placement_mode::{Pass, PlacementMode};
use super::questions::found_no_node;
use super::tree::Tree;

/// Age from which an ask without a node reserves one. Source: scheduling §3.5.
pub const RESERVATION_DELAY: Millis = Millis::from_secs(2);

/// Smallest difference between two points in time.
pub(super) const INSTANT: Millis = Millis::new(1);

/// Effects of time on the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SchedulerTimer {
    /// An ask of a batch becomes old enough for a reservation.
    ReservationDue(AskBatchId),
    /// A reservation becomes so old that a lack of headroom ends it.
    ReservationExpired(AllocationId),
    /// A reservation is in vain, unless an allocation on its node was released since the timer was set.
    ReservationInVain(AllocationId),
    /// The back-off of an application ends.
    BackoffEnded(ApplicationId),
    /// A waiting application gains a step of priority.
    PriorityAged(ApplicationId),
}

/// Properties that classes share for which the same nodes can be reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CandidateKey {
    pub(super) shape: ShapeId,
    leaf: QueueId,
    /// Ask of the class, if the RM decides about it.
    asking: Option<AllocationId>,
    /// Whether they are placeholders of a gang that is placed as a whole, which cannot use the nodes of its own
    /// placeholders.
    in_gang: bool,
    /// Whether the leaf picks users by fair share.
    shared: bool,
}

impl CandidateKey {
    pub(super) const fn of(class: ClassKey) -> Self {
        let ClassKey { shape, leaf, mode, gang_part, shared, .. } = class;
        let asking = match mode {
            PlacementMode::NeedsVerdict(ask) => Some(ask),
            PlacementMode::AnyNode
            | PlacementMode::MayPreempt(_)
            | PlacementMode::AllOrNothing(_)
            | PlacementMode::RequiredNode(_)
            | PlacementMode::RequiredNodeAbsent(_)
            | PlacementMode::ReservedNode(_)
            | PlacementMode::ReplacePlaceholder(..)
            | PlacementMode::ReplacePlaceholderAlone(_) => None,
        };
        Self { shape, leaf, asking, in_gang: gang_part.is_placeholder(), shared }
    }

    /// Returns the list in which the leaf shows the group.
    pub(super) const fn list(self) -> (QueueId, Pass) {
        (self.leaf, Pass::ReserveNodes)
    }
}

/// Reservation candidates of one leaf and shape.
#[derive(Clone, Debug, Default)]
struct CandidateGroup {
    /// Classes, each at the position of its first old ask.
    members: ClassList,
    /// Whether no node could be reserved for this shape at the last attempt.
    refused: bool,
}

impl CandidateGroup {
    /// Shows the leaf the first class, unless no node can be reserved for the group. With fair share, the next check of
    /// the leaf picks the class.
    fn show(&mut self, tree: &mut Tree, turns: &mut FairShareIndex, key: CandidateKey) {
        let (list, open) = (key.list(), !self.refused && !self.members.is_empty());
        if key.shared {
            turns.candidates_changed(key, open, &mut self.members.is_listed);
            if !open {
                self.members.expose(tree, list, None);
            }
        } else {
            self.members.show(tree, list, open);
        }
    }
}

/// All reservation candidates.
#[derive(Clone, Debug, Default)]
pub(super) struct ReservationCandidates {
    groups: BTreeMap<CandidateKey, CandidateGroup>,
    /// Groups of a shape for which no node could be reserved.
    refused: BTreeMap<(PartitionId, ShapeId), BTreeSet<CandidateKey>>,
    /// Batches whose asks changed since their ages were last checked.
    changed: Vec<AskBatchId>,
}

impl ReservationCandidates {
    fn replace(
        &mut self,
        (tree, turns): (&mut Tree, &mut FairShareIndex),
        (partition, key): (PartitionId, CandidateKey),
        (before, after): (Option<&ClassPosition>, Option<ClassPosition>),
        seat: &mut EntryId,
    ) {
        let group = self.groups.entry(key).or_default();
        match (before, after) {
            (Some(before), Some(after)) => group.members.replace(before, after, *seat, key.shared),
            (Some(before), None) => {
                group.members.remove((&mut *tree, key.list()), (before, *seat), key.shared);
            }
            (None, Some(after)) => *seat = group.members.insert(after, key.shared),
            (None, None) => {}
        }
        group.show(tree, turns, key);
        if group.members.is_empty() {
            self.groups.remove(&key);
            if let Some(groups) = self.refused.get_mut(&(partition, key.shape)) {
                groups.remove(&key);
                if groups.is_empty() {
                    self.refused.remove(&(partition, key.shape));
                }
            }
        }
    }

    /// Returns the classes of a group.
    pub(super) fn members_mut(&mut self, key: CandidateKey) -> Option<&mut ClassList> {
        self.groups.get_mut(&key).map(|group| &mut group.members)
    }

    /// Records that no node can be reserved for asks of this shape.
    pub(super) fn refuse(
        &mut self,
        (tree, turns): (&mut Tree, &mut FairShareIndex),
        (partition, key): (PartitionId, CandidateKey),
    ) {
        let Some(group) = self.groups.get_mut(&key) else { return };
        group.refused = true;
        group.show(tree, turns, key);
        self.refused.entry((partition, key.shape)).or_default().insert(key);
    }

    /// Makes groups available again whose shapes can use a node that can now be reserved.
    pub(super) fn open(
        &mut self,
        (tree, turns): (&mut Tree, &mut FairShareIndex),
        partition: PartitionId,
        suits: impl Fn(ShapeId) -> bool,
    ) {
        if self.refused.is_empty() {
            return;
        }
        let first = (partition, ShapeId::FIRST);
        let mine = self.refused.range(first..).take_while(|((id, _), _)| *id == partition);
        let shapes: Vec<ShapeId> =
            mine.map(|((_, shape), _)| *shape).filter(|shape| suits(*shape)).collect();
        for shape in shapes {
            for key in self.refused.remove(&(partition, shape)).into_iter().flatten() {
                if let Some(group) = self.groups.get_mut(&key) {
                    group.refused = false;
                    group.show(tree, turns, key);
                }
            }
        }
    }
}

impl Scheduler {
    /// Records that the asks or the position of a batch changed, so that their ages are checked before the next step.
    #[inline]
    pub(super) fn note_age(&mut self, batch: AskBatchId) {
        if self.classes.rows[self.classes.batches[batch].class].aging {
            self.reservation_candidates.changed.push(batch);
        }
    }

    /// Begins to track the ages of the asks of a class that found no node.
    pub(super) fn follow_ages(&mut self, books: &Books, class: ClassId, now: Timestamp) {
        let row = &mut self.classes.rows[class];
        let open = match row.key.mode {
            PlacementMode::AnyNode | PlacementMode::MayPreempt(_) => true,
            PlacementMode::NeedsVerdict(ask) => books.allocation(ask).required_node().is_none(),
            PlacementMode::AllOrNothing(_)
            | PlacementMode::RequiredNode(_)
            | PlacementMode::RequiredNodeAbsent(_)
            | PlacementMode::ReservedNode(_)
            | PlacementMode::ReplacePlaceholder(..)
            | PlacementMode::ReplacePlaceholderAlone(_) => false,
        };
        if open && !core::mem::replace(&mut row.aging, true) {
            self.reservation_candidates.changed.extend(row.batches.keys().map(|(_, batch)| *batch));
        }
        self.look_at_ages(books, now);
    }

    /// Checks the ages of the asks of all changed batches.
    pub(super) fn look_at_ages(&mut self, books: &Books, now: Timestamp) {
        while let Some(batch) = self.reservation_candidates.changed.pop() {
            self.look_at_age(books, batch, now);
        }
    }

    pub(super) fn look_at_age(&mut self, books: &Books, id: AskBatchId, now: Timestamp) {
        let Some(batch) = self.classes.batches.get_mut(id) else { return };
        let class = batch.class;
        let row = &mut self.classes.rows[class];
        if !row.aging {
            return;
        }
        let application = books.application(batch.application);
        let limited = books.reservations_max(application.partition).is_some();
        let (first, ripens) = if limited && application.reservation_count > 0 {
            (None, None) // It has its only reservation.
        } else {
            first_old(batch, now, application)
        };
        let old = first.map(|ask| Box::new(Head { ask, ..batch.head.clone() }));
        if batch.ripens != ripens {
            if let Some(before) = batch.ripens {
                self.timers.remove(&(before, SchedulerTimer::ReservationDue(id)));
            }
            self.timers.extend(ripens.map(|at| (at, SchedulerTimer::ReservationDue(id))));
            batch.ripens = ripens;
        }
        if batch.old != old {
            if let Some(before) = batch.old.take() {
                row.old.remove(&(*before, id));
            }
            row.old.extend(old.clone().map(|head| (*head, id)));
            batch.old = old;
            self.list_candidate(books, class);
        }
    }

    /// Follows a reservation of an application that began or ended, in a partition that limits reservations. An
    /// application has one at most.
    pub(super) fn follow_reservation(&mut self, books: &Books, application: ApplicationId) {
        let partition = books.application(application).partition;
        if books.reservations_max(partition).is_none() {
            return;
        }
        let waiting = self.applications.get(application.index());
        let batches: Vec<_> = waiting.into_iter().flat_map(|one| one.batches.iter()).collect();
        for batch in batches {
            self.note_age(batch);
        }
    }

    /// Stops tracking a batch that leaves its class.
    pub(super) fn forget_age(&mut self, id: AskBatchId) {
        let batch = &mut self.classes.batches[id];
        if let Some(before) = batch.ripens.take() {
            self.timers.remove(&(before, SchedulerTimer::ReservationDue(id)));
        }
        if let Some(before) = batch.old.take() {
            self.classes.rows[batch.class].old.remove(&(*before, id));
        }
    }

    /// Updates the position of a class among the reservation candidates, or removes it.
    pub(super) fn list_candidate(&mut self, books: &Books, class: ClassId) {
        let row = &mut self.classes.rows[class];
        let waits = row.wait.is_some_and(|wait| found_no_node(wait.blocker));
        let mut after = row.old.first().filter(|_| waits).map(|(head, _)| head);
        if row.key.in_head_of_line_queue {
            // In a leaf with a line, only the head can reserve, and only its first ask.
            let is_head = self.parked.lines.is_head(row.key.leaf, class);
            let is_first = |old: &&Head| is_head && row.head.as_ref() == Some(*old);
            after = after.filter(|old| row.key.passes_head() || is_first(old));
        }
        if row.keeps.as_deref() == after {
            return;
        }
        let after = after.cloned();
        let before = core::mem::replace(&mut row.keeps, after.clone().map(Box::new));
        let before = before.map(|head| (*head, class));
        let after = after.map(|head| (head, class));
        let key = (books.queue(row.key.leaf).partition, CandidateKey::of(row.key));
        let shown = (&mut self.tree, &mut self.parked.turns);
        self.reservation_candidates.replace(
            shown,
            key,
            (before.as_ref(), after),
            &mut row.candidate_seat,
        );
    }

    /// Returns the first ask of a class that is old enough for a reservation.
    pub(super) fn first_old(&self, class: ClassId) -> AllocationId {
        let first = self.classes.rows[class].old.first();
        let (head, batch) = first.expect("a reservation candidate has an old ask");
        self.classes.batches[*batch].ask(head.ask)
    }
}

/// Returns the time from which an ask of this application that was created at this time can get a reservation.
fn ripe_at(application: &Application, created: Timestamp) -> Timestamp {
    let ended = application.reservation_ended;
    ended.map_or(created, |ended| ended.max(created)) + RESERVATION_DELAY + INSTANT
}

/// Returns whether an ask is old enough for a reservation.
pub(super) fn is_old(books: &Books, ask: AllocationId, now: Timestamp) -> bool {
    let row = books.allocation(ask);
    ripe_at(books.application(row.application), row.created) <= now
}

/// Returns the first ask of a batch that is old enough now, and the time at which an ask before it will be. Costs a
/// lookup for each distinct priority.
fn first_old(
    batch: &AskBatch,
    now: Timestamp,
    application: &Application,
) -> (Option<AskKey>, Option<Timestamp>) {
    let (mut ripens, mut from) = (None, Bound::Unbounded);
    while let Some((ask, _)) = batch.asks.first_from(from) {
        let ripe = ripe_at(application, ask.created());
        if ripe <= now {
            return (Some(*ask), ripens);
        }
        ripens = Some(ripens.map_or(ripe, |before: Timestamp| before.min(ripe)));
        from = Bound::Excluded(ask.last_of_priority());
    }
    (None, ripens)
}
