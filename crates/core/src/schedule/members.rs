//! Classes of which their leaf sees one: the first in its order or, where users take turns, the one
//! whose turn it is.

use alloc::collections::BTreeSet;

use crate::id::QueueId;

use super::class::{ClassId, Head};
use super::lane::Pass;
use super::ranking::Ranking;
use super::tree::Tree;
use super::turns::Use;

/// A class with its place in the order of its leaf.
pub(super) type Place = (Head, ClassId);

/// Classes that are looked at alike.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// In the order of the leaf.
    all: BTreeSet<Place>,
    /// The same where users take turns, each with what its user has.
    pub(super) by_use: Ranking<Place, Use>,
    /// The one that the leaf has in its list.
    shown: Option<Place>,
}

impl Members {
    /// Add a class; `shared` says whether the users of its leaf take turns.
    pub(super) fn insert(&mut self, place: Place, shared: bool) {
        if shared {
            self.by_use.insert(place.clone(), Use::unknown());
        }
        self.all.insert(place);
    }

    /// Take a class out.
    pub(super) fn remove(&mut self, place: &Place, shared: bool) {
        if shared {
            self.by_use.remove(place);
        }
        self.all.remove(place);
    }

    /// Give a class another place.
    pub(super) fn replace(&mut self, before: &Place, after: Place, shared: bool) {
        if shared {
            self.by_use.rename(before, after.clone());
        }
        self.all.remove(before);
        self.all.insert(after);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All of them, in the order of the leaf.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Place> {
        self.all.iter()
    }

    /// Have the leaf see the first of them in this list if they are open, and none otherwise.
    pub(super) fn show(&mut self, tree: &mut Tree, list: (QueueId, Pass), open: bool) {
        let first = self.all.first().filter(|_| open).cloned();
        self.put_forward(tree, list, first);
    }

    /// Have the leaf see no more who is no member, and nobody if they are not open. Who is next is
    /// found out when the leaf is looked at.
    pub(super) fn keep_shown(&mut self, tree: &mut Tree, list: (QueueId, Pass), open: bool) {
        let stays = |shown: &Place| open && self.all.contains(&in_order(shown));
        if !self.shown.as_ref().is_none_or(stays) {
            self.put_forward(tree, list, None);
        }
    }

    /// Have the leaf see this one, or none.
    pub(super) fn put_forward(
        &mut self,
        tree: &mut Tree,
        (leaf, pass): (QueueId, Pass),
        one: Option<Place>,
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

/// A place in the order of the leaf, whoever else goes before.
fn in_order((head, class): &Place) -> Place {
    (Head { beyond: None, ..head.clone() }, *class)
}
