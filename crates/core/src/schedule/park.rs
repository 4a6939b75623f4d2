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

/// What the classes of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    pub(super) blocker: Blocker,
    pub(super) shape: ShapeId,
    pub(super) leaf: QueueId,
    pub(super) pass: Pass,
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
pub(super) struct Parked(BTreeMap<GroupKey, Group>);

impl Parked {
    /// Add a class that was just held back: its group is closed.
    pub(super) fn insert(&mut self, tree: &mut Tree, key: GroupKey, place: Place) {
        let group = self.0.entry(key).or_default();
        group.members.insert(place);
        group.open = false;
        group.show(tree, key);
    }

    /// Take a class out.
    pub(super) fn remove(&mut self, tree: &mut Tree, key: GroupKey, place: &Place) {
        let Some(group) = self.0.get_mut(&key) else { return };
        group.members.remove(place);
        group.show(tree, key);
        if group.members.is_empty() {
            self.0.remove(&key);
        }
    }

    /// Give a class another place in the order of its leaf.
    pub(super) fn replace(&mut self, tree: &mut Tree, key: GroupKey, before: &Place, after: Place) {
        let Some(group) = self.0.get_mut(&key) else { return };
        group.members.remove(before);
        group.members.insert(after);
        group.show(tree, key);
    }

    /// Close a group whose first class is held back again, and so all of it.
    pub(super) fn close(&mut self, tree: &mut Tree, key: GroupKey) {
        if let Some(group) = self.0.get_mut(&key) {
            group.open = false;
            group.show(tree, key);
        }
    }

    /// The classes from this group on, each with the key of its group.
    pub(super) fn classes_from(
        &self,
        first: GroupKey,
    ) -> impl Iterator<Item = (GroupKey, ClassId)> {
        let groups = self.0.range(first..);
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
        if self.0.is_empty() {
            return;
        }
        let first = |shape| GroupKey { blocker, shape, leaf: QueueId::FIRST, pass: Pass::Reserved };
        let mut from = Bound::Included(first(ShapeId::FIRST));
        while let Some((&key, group)) = self.0.range_mut((from, Bound::Unbounded)).next() {
            if key.blocker != blocker {
                return;
            }
            from = if fits(key.shape) {
                group.open = true;
                group.show(tree, key);
                Bound::Excluded(key)
            } else {
                Bound::Included(first(after(key.shape)))
            };
        }
    }
}

impl Group {
    /// Have the leaf see the member that comes first while the group is open, and none
    /// otherwise.
    fn show(&mut self, tree: &mut Tree, key: GroupKey) {
        let first = self.members.first().filter(|_| self.open);
        if self.shown.as_ref() == first {
            return;
        }
        let first = first.cloned();
        let ready = tree.ready_mut(key.leaf, key.pass);
        if let Some(before) = &self.shown {
            ready.remove(before);
        }
        if let Some(first) = &first {
            ready.insert(first.clone());
        }
        self.shown = first;
        tree.touch(key.leaf);
    }
}

/// The shape id right after this one.
fn after(shape: ShapeId) -> ShapeId {
    let slot = shape.slot();
    ShapeId::from_slot(match slot.generation().checked_add(1) {
        Some(generation) => Slot::new(slot.number(), generation),
        None => Slot::new(slot.number() + 1, 0),
    })
}
