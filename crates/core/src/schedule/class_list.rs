//! Classes of which their leaf sees one: the first in its order or, where users take turns, the one
//! whose turn it is.

use alloc::collections::BTreeSet;

use crate::id::QueueId;

use super::class::{ClassId, Head};
use super::fair_share::FairShareCandidates;
use super::min_tree::EntryId;
use super::placement_mode::Pass;
use super::tree::Tree;

/// A class with its place in the order of its leaf.
pub(super) type ClassPosition = (Head, ClassId);

/// Classes that are looked at alike.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassList {
    /// In the order of the leaf; empty where users take turns.
    all: BTreeSet<ClassPosition>,
    /// Those whose users take turns.
    pub(super) waiters: FairShareCandidates,
    /// The one that the leaf has in its list.
    shown: Option<ClassPosition>,
    /// Whether those that are open are known as such where users take turns.
    pub(super) is_listed: bool,
}

impl ClassList {
    /// Add a class; `shared` says whether the users of its leaf take turns. It has its seat then.
    pub(super) fn insert(&mut self, place: ClassPosition, shared: bool) -> EntryId {
        if shared {
            return self.waiters.insert(place);
        }
        self.all.insert(place);
        EntryId::default()
    }

    /// Take a class out, that this list may have.
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
        // It may be in another group at once, which has the same list.
        if self.shown.as_ref().is_some_and(|(_, shown)| *shown == place.1) {
            self.expose(tree, list, None);
        }
    }

    /// Give a class another place. It keeps its seat. Where users take turns, its leaf sees it where it
    /// was until somebody is put forward.
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

    /// All of them, in the order of the leaf.
    pub(super) fn iter(&self) -> impl Iterator<Item = &ClassPosition> {
        self.all.iter().chain(self.waiters.ranking.iter())
    }

    /// Have the leaf see the first of them in this list if they are open, and none otherwise.
    pub(super) fn show(&mut self, tree: &mut Tree, list: (QueueId, Pass), open: bool) {
        let first = self.all.first().filter(|_| open).cloned();
        self.expose(tree, list, first);
    }

    /// Have the leaf see this one, or none.
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
