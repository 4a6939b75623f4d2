//! Where classes wait, under what holds them back.
//!
//! Classes of one leaf that the same thing holds back and that want the same amounts form a
//! *group*: if it holds back one of them, it holds back all. When it may have given way, the
//! group opens, and shows its leaf only the class that comes first; when that one was placed,
//! the next to come first. The first that is held back again closes the group. So a wake-up
//! costs the distinct amounts and the leaves that it may help, however many users wait.

use alloc::collections::{BTreeMap, BTreeSet};
use core::ops::Bound;

use crate::id::{Id, QueueId, ShapeId, Slot};
use crate::wait::Blocker;

use super::class::{ClassId, Head};
use super::lane::Pass;
use super::tree::Tree;
use super::turns::Turns;

/// What the classes of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    /// What holds them back; none for those that wait for the turn of their user and no more.
    pub(super) blocker: Option<Blocker>,
    pub(super) shape: ShapeId,
    pub(super) leaf: QueueId,
    pub(super) pass: Pass,
    /// Whether the users of the leaf take turns: then the group shows who is next by his share.
    pub(super) shared: bool,
}

/// A class with its place in the order of its leaf.
pub(super) type Place = (Head, ClassId);

/// Classes that are held back alike.
#[derive(Debug, Default)]
struct Group {
    /// In the order of the leaf.
    members: BTreeSet<Place>,
    /// Whether what held them back may have given way.
    open: bool,
    /// The member that the leaf has as ready.
    shown: Option<Place>,
}

/// All groups.
#[derive(Debug, Default)]
pub(super) struct Parked {
    groups: BTreeMap<GroupKey, Group>,
    pub(super) turns: Turns,
}

impl Parked {
    /// Add a class that was just held back: its group is closed.
    pub(super) fn insert(&mut self, tree: &mut Tree, key: GroupKey, place: Place) {
        let group = self.groups.entry(key).or_default();
        group.members.insert(place);
        // Whoever waits for a turn and no more is held back by nothing that could hold back all.
        group.open = key.blocker.is_none();
        group.show(tree, &mut self.turns, key);
    }

    /// Take a class out.
    pub(super) fn remove(&mut self, tree: &mut Tree, key: GroupKey, place: &Place) {
        let Some(group) = self.groups.get_mut(&key) else { return };
        group.members.remove(place);
        group.show(tree, &mut self.turns, key);
        if group.members.is_empty() {
            self.groups.remove(&key);
        }
    }

    /// Give a class another place in the order of its leaf.
    pub(super) fn replace(&mut self, tree: &mut Tree, key: GroupKey, before: &Place, after: Place) {
        let Some(group) = self.groups.get_mut(&key) else { return };
        group.members.remove(before);
        group.members.insert(after);
        group.show(tree, &mut self.turns, key);
    }

    /// Close a group whose first class is held back again, and so all of it.
    pub(super) fn close(&mut self, tree: &mut Tree, key: GroupKey) {
        if let Some(group) = self.groups.get_mut(&key) {
            group.open = false;
            group.show(tree, &mut self.turns, key);
        }
    }

    /// The classes from this group on, each with the key of its group.
    pub(super) fn classes_from(
        &self,
        first: GroupKey,
    ) -> impl Iterator<Item = (GroupKey, ClassId)> {
        let groups = self.groups.range(first..);
        groups.flat_map(|(key, group)| group.members.iter().map(|(_, class)| (*key, *class)))
    }

    /// Open every group that `blocker` holds back and whose shape now fits.
    ///
    /// Costs a look-up per distinct shape, and per leaf with a group that opens.
    #[inline]
    pub(super) fn open(
        &mut self,
        tree: &mut Tree,
        blocker: Blocker,
        fits: impl Fn(ShapeId) -> bool,
    ) {
        if self.groups.is_empty() {
            return;
        }
        let blocker = Some(blocker);
        let (leaf, pass) = (QueueId::FIRST, Pass::Reserved);
        let first = |shape| GroupKey { blocker, shape, leaf, pass, shared: false };
        let mut from = Bound::Included(first(ShapeId::FIRST));
        while let Some((&key, group)) = self.groups.range_mut((from, Bound::Unbounded)).next() {
            if key.blocker != blocker {
                return;
            }
            from = if fits(key.shape) {
                group.open = true;
                group.show(tree, &mut self.turns, key);
                Bound::Excluded(key)
            } else {
                Bound::Included(first(after(key.shape)))
            };
        }
    }
}

impl Parked {
    /// Have the leaf see of an open group whose turn it is: the first member for whom `choose` says
    /// so, given all in the order of the leaf.
    pub(super) fn choose(
        &mut self,
        tree: &mut Tree,
        key: GroupKey,
        choose: impl FnOnce(&BTreeSet<Place>) -> Option<Place>,
    ) {
        if let Some(group) = self.groups.get_mut(&key) {
            let first = choose(&group.members);
            group.put_forward(tree, key, first);
        }
    }
}

impl Group {
    /// Have the leaf see the member that comes first while the group is open, and none otherwise.
    /// Where users take turns, who comes first is found out when the leaf is looked at next.
    fn show(&mut self, tree: &mut Tree, turns: &mut Turns, key: GroupKey) {
        let open = self.open && !self.members.is_empty();
        if key.shared {
            turns.changed(key, open);
            let stays = self
                .shown
                .as_ref()
                .is_none_or(|shown| open && self.members.contains(&unserved(shown)));
            if !stays {
                self.put_forward(tree, key, None);
            }
            return;
        }
        let first = self.members.first().filter(|_| self.open).cloned();
        self.put_forward(tree, key, first);
    }

    fn put_forward(&mut self, tree: &mut Tree, key: GroupKey, first: Option<Place>) {
        if self.shown == first {
            return;
        }
        let ready = tree.ready_mut(key.leaf, key.pass);
        if let Some(before) = &self.shown {
            ready.remove(before);
        }
        ready.extend(first.clone());
        self.shown = first;
        tree.touch(key.leaf);
    }
}

/// A place as its group has it, whoever else comes before.
pub(super) fn unserved((head, class): &Place) -> Place {
    (Head { beyond: None, ..head.clone() }, *class)
}

/// The shape id right after this one.
fn after(shape: ShapeId) -> ShapeId {
    let slot = shape.slot();
    ShapeId::from_slot(match slot.generation().checked_add(1) {
        Some(generation) => Slot::new(slot.number(), generation),
        None => Slot::new(slot.number() + 1, 0),
    })
}
