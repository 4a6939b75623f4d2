//! Asks that found no node and are old enough to have one kept. Scheduling §6.5.
//!
//! Of the asks of a class only those above a certain age may have a node kept, and they need not
//! come first. So once a class found no node, each of its bundles knows its first old ask, and
//! when that changes with time alone. The asks of one priority stand in the order of their age:
//! the first of each priority says it all.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Bound;

use crate::books::Books;
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId, ShapeId};
use crate::time::{Millis, Timestamp};

use super::Scheduler;
use super::class::{Bundle, BundleId, ClassId, ClassKey, Head};
use super::lane::{Lane, Pass};
use super::members::{Members, Place};
use super::order::AskKey;
use super::questions::found_no_node;
use super::ranking::Seat;
use super::tree::Tree;
use super::turns::Turns;

/// Asks older than this have a node kept when none has room. Source: scheduling §3.5.
pub const RESERVATION_DELAY: Millis = Millis::from_secs(2);

/// The smallest span, by which something is older than another.
pub(super) const INSTANT: Millis = Millis::new(1);

/// What time alone changes for the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// An ask of a bundle is old enough to have a node kept.
    Ripe(BundleId),
    /// A node was kept for an ask for so long that a lack of headroom ends it.
    Overdue(AllocationId),
    /// An application that was left alone is looked at again.
    Awake(ApplicationId),
    /// An application has waited long enough to count as more urgent.
    Aged(ApplicationId),
}

/// What the classes have in common for which the same nodes can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeepKey {
    pub(super) shape: ShapeId,
    leaf: QueueId,
    /// The ask, where the RM is asked about it.
    asking: Option<AllocationId>,
    /// Whether the users of the leaf take turns.
    shared: bool,
}

impl KeepKey {
    pub(super) const fn of(class: ClassKey) -> Self {
        let ClassKey { shape, leaf, lane, shared, .. } = class;
        let asking = match lane {
            Lane::Asking(ask) => Some(ask),
            _ => None,
        };
        Self { shape, leaf, asking, shared }
    }

    /// The list in which its leaf has one of them.
    pub(super) const fn list(self) -> (QueueId, Pass) {
        (self.leaf, Pass::Keep)
    }
}

/// The classes for which a node is to be kept, of one leaf and shape.
#[derive(Clone, Debug, Default)]
struct Keepers {
    /// Each where its first old ask stands.
    members: Members,
    /// Whether no node could be kept for this shape when it was last tried.
    refused: bool,
}

impl Keepers {
    /// Have the leaf see the first of them, unless no node can be kept for them. Where users take
    /// turns, who is first is found out when the leaf is looked at next.
    fn show(&mut self, tree: &mut Tree, turns: &mut Turns, key: KeepKey) {
        let (list, open) = (key.list(), !self.refused && !self.members.is_empty());
        if key.shared {
            turns.keeping_changed(key, open, &mut self.members.is_listed);
            if !open {
                self.members.put_forward(tree, list, None);
            }
        } else {
            self.members.show(tree, list, open);
        }
    }
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Keeping {
    groups: BTreeMap<KeepKey, Keepers>,
    /// Those of a shape that were refused.
    refused: BTreeMap<(PartitionId, ShapeId), BTreeSet<KeepKey>>,
    /// Bundles whose asks have changed since their ages were looked at.
    changed: Vec<BundleId>,
}

impl Keeping {
    fn replace(
        &mut self,
        (tree, turns): (&mut Tree, &mut Turns),
        (partition, key): (PartitionId, KeepKey),
        (before, after): (Option<&Place>, Option<Place>),
        seat: &mut Seat,
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
    pub(super) fn members_mut(&mut self, key: KeepKey) -> Option<&mut Members> {
        self.groups.get_mut(&key).map(|group| &mut group.members)
    }

    /// No node can be kept for asks of this shape.
    pub(super) fn refuse(
        &mut self,
        (tree, turns): (&mut Tree, &mut Turns),
        (partition, key): (PartitionId, KeepKey),
    ) {
        let Some(group) = self.groups.get_mut(&key) else { return };
        group.refused = true;
        group.show(tree, turns, key);
        self.refused.entry((partition, key.shape)).or_default().insert(key);
    }

    /// A node that suits these shapes can be kept from now on.
    pub(super) fn open(
        &mut self,
        (tree, turns): (&mut Tree, &mut Turns),
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
    /// A bundle has other asks, or stands elsewhere: look at their ages before the next step.
    #[inline]
    pub(super) fn note_age(&mut self, bundle: BundleId) {
        if self.classes.rows[self.classes.bundles[bundle].class].aging {
            self.keeping.changed.push(bundle);
        }
    }

    /// A class has found no node: follow the ages of its asks from now on.
    pub(super) fn follow_ages(&mut self, books: &Books, class: ClassId, now: Timestamp) {
        let row = &mut self.classes.rows[class];
        let open = match row.key.lane {
            Lane::Open | Lane::Calling(_) => true,
            Lane::Asking(ask) => books.allocation(ask).required_node().is_none(),
            _ => false,
        };
        if open && !core::mem::replace(&mut row.aging, true) {
            self.keeping.changed.extend(row.bundles.iter().map(|(_, bundle)| *bundle));
        }
        self.look_at_ages(books, now);
    }

    /// Bring the ages of changed bundles up to date.
    pub(super) fn look_at_ages(&mut self, books: &Books, now: Timestamp) {
        while let Some(bundle) = self.keeping.changed.pop() {
            self.look_at_age(books, bundle, now);
        }
    }

    pub(super) fn look_at_age(&mut self, books: &Books, id: BundleId, now: Timestamp) {
        let Some(bundle) = self.classes.bundles.get_mut(id) else { return };
        let class = bundle.class;
        let row = &mut self.classes.rows[class];
        if !row.aging {
            return;
        }
        let (first, ripens) = first_old(bundle, now);
        let old = first.map(|ask| Head { ask, ..bundle.head.clone() });
        if bundle.ripens != ripens {
            if let Some(before) = bundle.ripens {
                self.dues.remove(&(before, Due::Ripe(id)));
            }
            self.dues.extend(ripens.map(|at| (at, Due::Ripe(id))));
            bundle.ripens = ripens;
        }
        if bundle.old != old {
            if let Some(before) = bundle.old.take() {
                row.old.remove(&(before, id));
            }
            row.old.extend(old.clone().map(|head| (head, id)));
            bundle.old = old;
            self.stand(books, class);
        }
    }

    /// Forget the ages of a bundle that leaves its class.
    pub(super) fn forget_age(&mut self, id: BundleId) {
        let bundle = &mut self.classes.bundles[id];
        if let Some(before) = bundle.ripens.take() {
            self.dues.remove(&(before, Due::Ripe(id)));
        }
        if let Some(before) = bundle.old.take() {
            self.classes.rows[bundle.class].old.remove(&(before, id));
        }
    }

    /// Give a class its place among those for which a node is to be kept, or take it out.
    pub(super) fn stand(&mut self, books: &Books, class: ClassId) {
        let row = &mut self.classes.rows[class];
        let waits = row.wait.is_some_and(|wait| found_no_node(wait.blocker));
        let mut after = row.old.first().filter(|_| waits).map(|(head, _)| head);
        if row.key.lined {
            // In a line that is for the head alone, and for what comes first of it.
            let is_head = self.parked.lines.is_head(row.key.leaf, class);
            after = after.filter(|old| is_head && row.head.as_ref() == Some(*old));
        }
        if row.keeps.as_ref() == after {
            return;
        }
        let after = after.cloned();
        let before = core::mem::replace(&mut row.keeps, after.clone());
        let before = before.map(|head| (head, class));
        let after = after.map(|head| (head, class));
        let key = (books.queue(row.key.leaf).partition, KeepKey::of(row.key));
        let shown = (&mut self.tree, &mut self.parked.turns);
        self.keeping.replace(shown, key, (before.as_ref(), after), &mut row.kept_seat);
    }

    /// The first ask of a class that is old enough to have a node kept.
    pub(super) fn first_old(&self, class: ClassId) -> AllocationId {
        let first = self.classes.rows[class].old.first();
        let (head, bundle) = first.expect("a class that is to have a node kept has an old ask");
        self.classes.bundles[*bundle].asks[&head.ask]
    }
}

/// When an ask that was made at this time may have a node kept.
fn ripe_at(created: Timestamp) -> Timestamp {
    created + RESERVATION_DELAY + INSTANT
}

/// Whether an ask that was made at this time may have a node kept.
pub(super) fn is_old(created: Timestamp, now: Timestamp) -> bool {
    ripe_at(created) <= now
}

/// The first ask of a bundle that is old enough by now, and when another is that stands before
/// it. Costs a look-up for each distinct priority.
fn first_old(bundle: &Bundle, now: Timestamp) -> (Option<AskKey>, Option<Timestamp>) {
    let (mut ripens, mut from) = (None, Bound::Unbounded);
    while let Some((ask, _)) = bundle.asks.range((from, Bound::Unbounded)).next() {
        let ripe = ripe_at(ask.created());
        if ripe <= now {
            return (Some(*ask), ripens);
        }
        ripens = Some(ripens.map_or(ripe, |before: Timestamp| before.min(ripe)));
        from = Bound::Excluded(ask.last_of_priority());
    }
    (None, ripens)
}
