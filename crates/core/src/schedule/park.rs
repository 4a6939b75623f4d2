//! Where classes wait, under what holds them back.
//!
//! Classes of one leaf that the same thing holds back and that want the same amounts form a
//! *group*: if it holds back one of them, it holds back all. When it may have given way, the
//! group opens, and shows its leaf only the class that comes first; when that one was placed,
//! the next to come first. The first that is held back again closes the group. So a wake-up
//! costs the distinct amounts and the leaves that it may help, however many users wait.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Bound;

use crate::id::{ApplicationId, Id, QueueId, ShapeId, Slot};
use crate::wait::Blocker;

use super::class::ClassId;
use super::class_list::{ClassList, ClassPosition};
use super::fair_share::FairShareIndex;
use super::head_of_line::HeadsOfLine;
use super::min_tree::EntryId;
use super::placement_mode::Pass;
use super::tree::Tree;

/// What the classes of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    /// What holds them back; none for those that wait for the turn of their user and no more.
    pub(super) blocker: Option<Blocker>,
    pub(super) shape: ShapeId,
    /// How many of that start together; 0 for a gang whose placeholders differ in size.
    pub(super) members: u32,
    /// The application of that gang, which is judged by itself.
    pub(super) mixed_gang: Option<ApplicationId>,
    pub(super) leaf: QueueId,
    pub(super) pass: Pass,
    /// Whether the users of the leaf take turns: then the group shows who is next by fair share.
    pub(super) shared: bool,
    /// Whether the first of them stands in the line of the leaf while they are held back.
    pub(super) lined: bool,
}

impl GroupKey {
    /// Before every group that this holds back and that wants this or what comes behind it.
    pub(super) const fn first(blocker: Blocker, shape: ShapeId) -> Self {
        Self::first_of(blocker, (shape, 0))
    }

    /// The same from so many of this on.
    const fn first_of(blocker: Blocker, (shape, members): (ShapeId, u32)) -> Self {
        let (leaf, pass, shared, lined) = (QueueId::FIRST, Pass::Reserved, false, false);
        let mixed_gang = None;
        Self { blocker: Some(blocker), shape, members, mixed_gang, leaf, pass, shared, lined }
    }
}

/// Classes that are held back alike.
#[derive(Clone, Debug, Default)]
struct Group {
    members: ClassList,
    /// Whether what held them back may have given way.
    open: bool,
    /// The one of them that stands in the line of the leaf.
    in_line: Option<ClassPosition>,
}

/// All groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Parked {
    groups: BTreeMap<GroupKey, Group>,
    pub(super) turns: FairShareIndex,
    pub(super) lines: HeadsOfLine,
}

impl Parked {
    /// Add a class that was just held back: its group is closed. Where it sits in the group.
    pub(super) fn insert(
        &mut self,
        tree: &mut Tree,
        key: GroupKey,
        place: ClassPosition,
    ) -> EntryId {
        let group = self.groups.entry(key).or_default();
        let seat = group.members.insert(place, key.shared);
        // A group that waits for a turn only has no blocker that could hold back all its members.
        group.open = key.blocker.is_none();
        group.show(tree, (&mut self.turns, &mut self.lines), key);
        seat
    }

    /// Take a class out.
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
        }
    }

    /// Give a class another place in the order of its leaf.
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
    }

    /// Close a group whose first class is held back again, and so all of it.
    pub(super) fn close(&mut self, tree: &mut Tree, key: GroupKey) {
        if let Some(group) = self.groups.get_mut(&key) {
            group.open = false;
            group.show(tree, (&mut self.turns, &mut self.lines), key);
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

    /// The groups behind this one that are closed, each with the class that comes first.
    pub(super) fn closed_from(
        &self,
        from: Bound<GroupKey>,
    ) -> impl Iterator<Item = (GroupKey, ClassId)> {
        let groups = self.groups.range((from, Bound::Unbounded));
        let closed = groups.filter(|(key, group)| !group.open && key.blocker.is_some());
        closed.filter_map(|(key, group)| Some((*key, group.members.iter().next()?.1)))
    }

    /// Where something is to be judged, and in which pass: the leaves of groups that are open.
    pub(super) fn open_leaves(&self) -> impl Iterator<Item = (QueueId, Pass)> {
        let open = self.groups.iter().filter(|(_, group)| group.open && !group.members.is_empty());
        open.map(|(key, _)| (key.leaf, key.pass))
    }

    /// Close all that something holds back, whether it gave way or not.
    #[cfg(feature = "testkit")]
    pub(super) fn close_all(&mut self, tree: &mut Tree) {
        for (key, group) in &mut self.groups {
            if group.open && key.blocker.is_some() {
                group.open = false;
                group.show(tree, (&mut self.turns, &mut self.lines), *key);
            }
        }
    }

    /// The distinct shapes of those who stay behind the head of the line of a leaf, and how many of each
    /// start together, sorted.
    pub(super) fn shapes_behind(&self, leaf: QueueId) -> Vec<(ShapeId, u32)> {
        let blocker = Blocker::BehindHead(leaf, None);
        let from = self.groups.range(GroupKey::first(blocker, ShapeId::FIRST)..);
        let mine = from.take_while(|(key, _)| key.blocker == Some(blocker));
        let mut shapes: Vec<_> = mine.map(|(key, _)| (key.shape, key.members)).collect();
        shapes.dedup();
        shapes
    }

    /// Check the first of a group again, whatever holds the group back.
    pub(super) fn open_group(&mut self, tree: &mut Tree, key: GroupKey) {
        if let Some(group) = self.groups.get_mut(&key) {
            group.open = true;
            group.show(tree, (&mut self.turns, &mut self.lines), key);
        }
    }

    /// The members of a group.
    pub(super) fn members_mut(&mut self, key: GroupKey) -> Option<&mut ClassList> {
        self.groups.get_mut(&key).map(|group| &mut group.members)
    }

    /// Open every group that `blocker` holds back and of whose shape so many now fit.
    ///
    /// Costs a look-up per distinct shape and number, and per leaf with a group that opens.
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
            if key.blocker != Some(blocker) {
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
    /// Have the leaf see the member that comes first while the group is open, and none otherwise.
    /// Where users take turns, who comes first is found out when the leaf is looked at next.
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

/// What comes right after so many of this shape.
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
