//! Parked classes, grouped by the bound that blocks them.
//!
//! Classes of one leaf with the same blocker and the same amounts form a *group*: the blocker blocks all of them or
//! none. When the blocker can have changed, the group opens and shows its leaf only its first class. After that class
//! is placed, it shows the next one. The first class that is blocked again closes the group. So a wake-up costs the
//! distinct amounts and the leaves that it can help, regardless of the number of waiting users. Groups that wait for a
//! node open one by one, see [`waking_nodes`](super::waking_nodes).

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;
use core::ops::Bound;

use crate::books::Books;
use crate::id::{ApplicationId, Id, QueueId, ShapeId, Slot};
use crate::wait::Blocker;

use super::class::ClassId;
use super::class_list::{ClassList, ClassPosition};
use super::fair_share::FairShareIndex;
use super::head_of_line::HeadsOfLine;
use super::min_tree::EntryId;
use super::placement_mode::Pass;
use super::tree::Tree;
use super::waking_nodes::WakingNodes;

/// Properties that the classes of a group share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    /// Blocker of the classes. `None` if they wait only for the fair-share pick of their user.
    pub(super) blocker: Option<Blocker>,
    /// Pass of a group that waits for a node and opens when its leaf is next. `None` if the group opens as soon as its
    /// blocker can have changed. Before the shape, so that the groups of one pass and size are neighbors.
    pub(super) opens_in_turn: Option<Pass>,
    pub(super) shape: ShapeId,
    /// Number of asks that start together. 0 for a gang whose placeholders differ in size.
    pub(super) members: u32,
    /// Application of such a gang, which is checked by itself.
    pub(super) mixed_gang: Option<ApplicationId>,
    pub(super) leaf: QueueId,
    pub(super) pass: Pass,
    /// Whether the leaf picks users by fair share. Then the group shows the picked user.
    pub(super) shared: bool,
    /// Whether the first class of the group can be the head of line while they are parked.
    pub(super) lined: bool,
}

impl GroupKey {
    /// Returns the lower bound of all groups with this blocker and this or a greater shape. Groups that open in turn
    /// come after all others.
    pub(super) const fn first(blocker: Blocker, shape: ShapeId) -> Self {
        Self::first_of(blocker, (shape, 0))
    }

    /// Returns the lower bound of all groups with this blocker, shape, and this or a greater number.
    const fn first_of(blocker: Blocker, (shape, members): (ShapeId, u32)) -> Self {
        let (leaf, pass, shared, lined) = (QueueId::FIRST, Pass::Reserved, false, false);
        let (blocker, opens_in_turn, mixed_gang) = (Some(blocker), None, None);
        Self { blocker, opens_in_turn, shape, members, mixed_gang, leaf, pass, shared, lined }
    }
}

/// Classes that share a blocker.
#[derive(Clone, Debug, Default)]
struct Group {
    members: ClassList,
    /// Whether the blocker can have changed.
    open: bool,
    /// Class of the group that is in the line of the leaf.
    in_line: Option<ClassPosition>,
}

/// All groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Parked {
    groups: BTreeMap<GroupKey, Group>,
    pub(super) turns: FairShareIndex,
    pub(super) lines: HeadsOfLine,
    pub(super) waking_nodes: WakingNodes,
}

impl Parked {
    /// Adds a class that was just blocked, and closes its group. Returns the entry of the class.
    pub(super) fn insert(
        &mut self,
        tree: &mut Tree,
        key: GroupKey,
        place: ClassPosition,
    ) -> EntryId {
        let group = match self.groups.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                self.waking_nodes.insert(tree, key);
                new.insert(Group::default())
            }
        };
        let seat = group.members.insert(place, key.shared);
        // A group without a blocker waits only for the pick of its users, so no blocker can close it.
        group.open = key.blocker.is_none();
        group.show(tree, (&mut self.turns, &mut self.lines), key);
        self.waking_nodes.found_none(key);
        self.waking_nodes.changed(tree, key);
        seat
    }

    /// Removes a class.
    pub(super) fn remove(
        &mut self,
        tree: &mut Tree,
        key: GroupKey,
        place: &ClassPosition,
        seat: EntryId,
    ) {
        let Some(group) = self.groups.get_mut(&key) else { return };
        let shown = (&mut *tree, (key.leaf, key.pass));
        group.members.remove(shown, (place, seat), key.shared);
        group.show(tree, (&mut self.turns, &mut self.lines), key);
        if group.members.is_empty() {
            self.groups.remove(&key);
            self.waking_nodes.remove(tree, key);
        }
        self.waking_nodes.changed(tree, key);
    }

    /// Changes the position of a class in the order of its leaf.
    pub(super) fn replace(
        &mut self,
        tree: &mut Tree,
        key: GroupKey,
        (before, after): (&ClassPosition, ClassPosition),
        seat: EntryId,
    ) {
        let Some(group) = self.groups.get_mut(&key) else { return };
        group.members.replace(before, after, seat, key.shared);
        group.show(tree, (&mut self.turns, &mut self.lines), key);
        self.waking_nodes.changed(tree, key);
    }

    /// Closes a group whose first class is blocked again, because the blocker then blocks all classes.
    pub(super) fn close(&mut self, tree: &mut Tree, key: GroupKey) {
        if let Some(group) = self.groups.get_mut(&key) {
            group.open = false;
            group.show(tree, (&mut self.turns, &mut self.lines), key);
            self.waking_nodes.found_none(key);
            self.waking_nodes.changed(tree, key);
        }
    }

    /// Returns the classes from this group on, each with the key of its group.
    pub(super) fn classes_from(
        &self,
        first: GroupKey,
    ) -> impl Iterator<Item = (GroupKey, ClassId)> {
        let groups = self.groups.range(first..);
        groups.flat_map(|(key, group)| group.members.iter().map(|(_, class)| (*key, *class)))
    }

    /// Returns the closed groups from this bound, each with its first class.
    pub(super) fn closed_from(
        &self,
        from: Bound<GroupKey>,
    ) -> impl Iterator<Item = (GroupKey, ClassId)> {
        let groups = self.groups.range((from, Bound::Unbounded));
        let closed = groups.filter(|(key, group)| !group.open && key.blocker.is_some());
        closed.filter_map(|(key, group)| Some((*key, group.members.iter().next()?.1)))
    }

    /// Returns the leaves and passes of open groups, and of groups that open in turn for a node that gained capacity.
    pub(super) fn open_leaves(&self, books: &Books) -> impl Iterator<Item = (QueueId, Pass)> {
        let open = self.groups.iter().filter(|(_, group)| group.open && !group.members.is_empty());
        let open = open.map(|(key, _)| (key.leaf, key.pass));
        open.chain(self.waking_nodes.to_be_visited(books))
    }

    /// Closes all groups with a blocker, whether the blocker changed or not.
    #[cfg(feature = "testkit")]
    pub(super) fn close_all(&mut self, tree: &mut Tree) {
        self.waking_nodes.end_all(tree);
        for (key, group) in &mut self.groups {
            if group.open && key.blocker.is_some() {
                group.open = false;
                group.show(tree, (&mut self.turns, &mut self.lines), *key);
            }
        }
    }

    /// Returns the distinct shapes of classes behind the head of line of a leaf, each with the number of asks that
    /// start together. Sorted.
    pub(super) fn shapes_behind(&self, leaf: QueueId) -> Vec<(ShapeId, u32)> {
        let blocker = Blocker::BehindHead(leaf, None);
        let from = self.groups.range(GroupKey::first(blocker, ShapeId::FIRST)..);
        let mine = from.take_while(|(key, _)| key.blocker == Some(blocker));
        let mut shapes: Vec<_> = mine.map(|(key, _)| (key.shape, key.members)).collect();
        shapes.dedup();
        shapes
    }

    /// Opens a group so that its first class is checked again, regardless of its blocker.
    pub(super) fn open_group(&mut self, tree: &mut Tree, key: GroupKey) {
        if let Some(group) = self.groups.get_mut(&key) {
            group.open = true;
            group.show(tree, (&mut self.turns, &mut self.lines), key);
        }
    }

    /// Returns the classes of a group.
    pub(super) fn members_mut(&mut self, key: GroupKey) -> Option<&mut ClassList> {
        self.groups.get_mut(&key).map(|group| &mut group.members)
    }

    /// Opens the groups of one size and pass that would open in turn.
    pub(super) fn open_size(
        &mut self,
        tree: &mut Tree,
        blocker: Blocker,
        (shape, pass): (ShapeId, Pass),
    ) {
        let from = GroupKey { opens_in_turn: Some(pass), ..GroupKey::first(blocker, shape) };
        let size = (from.blocker, from.opens_in_turn, shape);
        for (key, group) in self.groups.range_mut(from..) {
            if (key.blocker, key.opens_in_turn, key.shape) != size {
                return;
            }
            group.open = true;
            group.show(tree, (&mut self.turns, &mut self.lines), *key);
            self.waking_nodes.changed(tree, *key);
        }
    }

    /// Returns the group whose first class is the first in the order of the leaf.
    pub(super) fn first_group(&self, keys: Vec<GroupKey>) -> Option<GroupKey> {
        let firsts = keys.into_iter().filter_map(|key| {
            let first = self.groups.get(&key)?.members.iter().next()?;
            Some((first, key))
        });
        firsts.min().map(|(_, key)| key)
    }

    /// Opens every group with this blocker whose shape and number satisfy `fits`, except those that open in turn.
    ///
    /// Costs a lookup for each distinct shape and number, and for each leaf with a group that opens.
    #[inline]
    pub(super) fn open(
        &mut self,
        tree: &mut Tree,
        blocker: Blocker,
        fits: impl Fn((ShapeId, u32)) -> bool,
    ) {
        if self.groups.is_empty() {
            return;
        }
        let mut from = Bound::Included(GroupKey::first(blocker, ShapeId::FIRST));
        while let Some((&key, group)) = self.groups.range_mut((from, Bound::Unbounded)).next() {
            if key.blocker != Some(blocker) || key.opens_in_turn.is_some() {
                return;
            }
            let wanted = (key.shape, key.members);
            from = if fits(wanted) {
                group.open = true;
                group.show(tree, (&mut self.turns, &mut self.lines), key);
                Bound::Excluded(key)
            } else {
                Bound::Included(GroupKey::first_of(blocker, after(wanted)))
            };
        }
    }
}

impl Group {
    /// Shows the leaf the first class of an open group, and none of a closed group. With fair share, the next check of
    /// the leaf picks the class.
    fn show(
        &mut self,
        tree: &mut Tree,
        (turns, lines): (&mut FairShareIndex, &mut HeadsOfLine),
        key: GroupKey,
    ) {
        if key.lined {
            let first = self.members.iter().next().filter(|_| !self.open);
            lines.replace(key.leaf, &mut self.in_line, first);
        }
        let (list, open) = ((key.leaf, key.pass), self.open && !self.members.is_empty());
        if key.shared {
            turns.changed(key, open, &mut self.members.is_listed);
            if !open {
                self.members.expose(tree, list, None);
            }
        } else {
            self.members.show(tree, list, open);
        }
    }
}

/// Returns the next pair of shape and number in order.
fn after((shape, members): (ShapeId, u32)) -> (ShapeId, u32) {
    if let Some(more) = members.checked_add(1) {
        return (shape, more);
    }
    let slot = shape.slot();
    let next = match slot.generation().checked_add(1) {
        Some(generation) => Slot::new(slot.number(), generation),
        None => Slot::new(slot.number() + 1, 0),
    };
    (ShapeId::from_slot(next), 0)
}
