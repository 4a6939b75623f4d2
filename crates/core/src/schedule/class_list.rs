//! List of classes of which the leaf shows one: the first in order, or the class of the fair-share pick.

use alloc::collections::BTreeSet;

use crate::id::QueueId;

use super::class::{ClassId, Head};
use super::fair_share::FairShareCandidates;
use super::min_tree::EntryId;
use super::placement_mode::Pass;
use super::tree::Tree;

/// A class with its position in the order of its leaf.
pub(super) type ClassPosition = (Head, ClassId);

/// Classes that are handled alike.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassList {
    /// Classes in the order of the leaf. Empty if the leaf picks users by fair share.
    all: BTreeSet<ClassPosition>,
    /// Classes whose users are picked by fair share.
    pub(super) waiters: FairShareCandidates,
    /// Class that is in the list of the leaf.
    shown: Option<ClassPosition>,
    /// Whether the fair-share index lists these classes as open.
    pub(super) is_listed: bool,
}

impl ClassList {
    /// Adds a class. `shared` is true if the leaf picks users by fair share. Returns the entry of the class.
    pub(super) fn insert(&mut self, place: ClassPosition, shared: bool) -> EntryId {
        if shared {
            return self.waiters.insert(place);
        }
        self.all.insert(place);
        EntryId::default()
    }

    /// Removes a class, if this list has it.
    pub(super) fn remove(
        &mut self,
        (tree, list): (&mut Tree, (QueueId, Pass)),
        (place, seat): (&ClassPosition, EntryId),
        shared: bool,
    ) {
        if !shared {
            self.all.remove(place);
            return;
        }
        self.waiters.ranking.remove_at(seat);
        // A class can be in two groups for a moment. Both groups share one list of the leaf.
        if self.shown.as_ref().is_some_and(|(_, shown)| *shown == place.1) {
            self.expose(tree, list, None);
        }
    }

    /// Changes the position of a class. The class keeps its entry. With fair share, the leaf shows the old position
    /// until the next pick.
    pub(super) fn replace(
        &mut self,
        before: &ClassPosition,
        after: ClassPosition,
        seat: EntryId,
        shared: bool,
    ) {
        if shared {
            self.waiters.ranking.rename_at(seat, after);
        } else {
            self.all.remove(before);
            self.all.insert(after);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty() && self.waiters.ranking.is_empty()
    }

    /// Returns all classes in the order of the leaf.
    pub(super) fn iter(&self) -> impl Iterator<Item = &ClassPosition> {
        self.all.iter().chain(self.waiters.ranking.iter())
    }

    /// Shows the leaf the first class if `open` is true, and none otherwise.
    pub(super) fn show(&mut self, tree: &mut Tree, list: (QueueId, Pass), open: bool) {
        let first = self.all.first().filter(|_| open).cloned();
        self.expose(tree, list, first);
    }

    /// Shows the leaf this class, or none.
    pub(super) fn expose(
        &mut self,
        tree: &mut Tree,
        (leaf, pass): (QueueId, Pass),
        one: Option<ClassPosition>,
    ) {
        if self.shown == one {
            return;
        }
        let ready = tree.ready_mut(leaf, pass);
        if let Some(before) = &self.shown {
            ready.remove(before);
        }
        ready.extend(one.clone());
        self.shown = one;
        tree.touch(leaf);
    }
}
