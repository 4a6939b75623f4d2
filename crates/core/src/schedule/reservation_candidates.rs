//! Asks that found no node and are old enough for a reservation. Scheduling §6.5.
//!
//! Of the asks of a class only those above a certain age may get a reservation, and they need not
//! come first. So once a class found no node, each of its batches knows its first old ask, and when
//! that changes with time alone. The asks of one priority stand in the order of their age, so the
//! first of each priority is enough.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Bound;

use crate::books::Books;
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

/// Asks older than this reserve a node when none has room. Source: scheduling §3.5.
pub const RESERVATION_DELAY: Millis = Millis::from_secs(2);

/// The smallest span, by which something is older than another.
pub(super) const INSTANT: Millis = Millis::new(1);

/// What time alone changes for the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SchedulerTimer {
    /// An ask of a batch is old enough for a reservation.
    ReservationDue(AskBatchId),
    /// A node was reserved for an ask for so long that a lack of headroom ends it.
    ReservationExpired(AllocationId),
    /// An application that was left alone is looked at again.
    BackoffEnded(ApplicationId),
    /// An application has waited long enough to count as more urgent.
    PriorityAged(ApplicationId),
}

/// What the classes have in common for which the same nodes can be reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CandidateKey {
    pub(super) shape: ShapeId,
    leaf: QueueId,
    /// The ask, where the RM is asked about it.
    asking: Option<AllocationId>,
    /// Whether the users of the leaf take turns.
    shared: bool,
}

impl CandidateKey {
    pub(super) const fn of(class: ClassKey) -> Self {
        let ClassKey { shape, leaf, mode, shared, .. } = class;
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
        Self { shape, leaf, asking, shared }
    }

    /// The list in which its leaf has one of them.
    pub(super) const fn list(self) -> (QueueId, Pass) {
        (self.leaf, Pass::ReserveNodes)
    }
}

/// The classes that wait for a reservation, of one leaf and shape.
#[derive(Clone, Debug, Default)]
struct CandidateGroup {
    /// Each where its first old ask stands.
    members: ClassList,
    /// Whether no node could be reserved for this shape at the last try.
    refused: bool,
}

impl CandidateGroup {
    /// Show the leaf the first of them, unless no node can be reserved for them. Where users take
    /// turns, who is first is found out when the leaf is looked at next.
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

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct ReservationCandidates {
    groups: BTreeMap<CandidateKey, CandidateGroup>,
    /// Those of a shape that were refused.
    refused: BTreeMap<(PartitionId, ShapeId), BTreeSet<CandidateKey>>,
    /// Batches whose asks have changed since their ages were looked at.
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

    /// The members of a group.
    pub(super) fn members_mut(&mut self, key: CandidateKey) -> Option<&mut ClassList> {
        self.groups.get_mut(&key).map(|group| &mut group.members)
    }

    /// No node can be reserved for asks of this shape.
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

    /// A node that suits these shapes can be reserved from now on.
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
    /// A batch has other asks, or stands elsewhere: look at their ages before the next step.
    #[inline]
    pub(super) fn note_age(&mut self, batch: AskBatchId) {
        if self.classes.rows[self.classes.batches[batch].class].aging {
            self.reservation_candidates.changed.push(batch);
        }
    }

    /// A class has found no node: follow the ages of its asks from now on.
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

    /// Bring the ages of changed batches up to date.
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
        let (first, ripens) = first_old(batch, now);
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

    /// Forget the ages of a batch that leaves its class.
    pub(super) fn forget_age(&mut self, id: AskBatchId) {
        let batch = &mut self.classes.batches[id];
        if let Some(before) = batch.ripens.take() {
            self.timers.remove(&(before, SchedulerTimer::ReservationDue(id)));
        }
        if let Some(before) = batch.old.take() {
            self.classes.rows[batch.class].old.remove(&(*before, id));
        }
    }

    /// Give a class its place among those that wait for a reservation, or take it out.
    pub(super) fn list_candidate(&mut self, books: &Books, class: ClassId) {
        let row = &mut self.classes.rows[class];
        let waits = row.wait.is_some_and(|wait| found_no_node(wait.blocker));
        let mut after = row.old.first().filter(|_| waits).map(|(head, _)| head);
        if row.key.in_head_of_line_queue {
            // In a line that is for the head alone, and for what comes first of it.
            let is_head = self.parked.lines.is_head(row.key.leaf, class);
            after = after.filter(|old| is_head && row.head.as_ref() == Some(*old));
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

    /// The first ask of a class that is old enough for a reservation.
    pub(super) fn first_old(&self, class: ClassId) -> AllocationId {
        let first = self.classes.rows[class].old.first();
        let (head, batch) = first.expect("a reservation candidate has an old ask");
        self.classes.batches[*batch].ask(head.ask)
    }
}

/// When an ask that was made at this time may get a reservation.
fn ripe_at(created: Timestamp) -> Timestamp {
    created + RESERVATION_DELAY + INSTANT
}

/// Whether an ask that was made at this time may get a reservation.
pub(super) fn is_old(created: Timestamp, now: Timestamp) -> bool {
    ripe_at(created) <= now
}

/// The first ask of a batch that is old enough by now, and when another is that stands before
/// it. Costs a look-up for each distinct priority.
fn first_old(batch: &AskBatch, now: Timestamp) -> (Option<AskKey>, Option<Timestamp>) {
    let (mut ripens, mut from) = (None, Bound::Unbounded);
    while let Some((ask, _)) = batch.asks.first_from(from) {
        let ripe = ripe_at(ask.created());
        if ripe <= now {
            return (Some(*ask), ripens);
        }
        ripens = Some(ripens.map_or(ripe, |before: Timestamp| before.min(ripe)));
        from = Bound::Excluded(ask.last_of_priority());
    }
    (None, ripens)
}
