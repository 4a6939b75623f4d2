//! The ready classes that have asks of one application only: its leaf lists the first of them.
//!
//! In a leaf that goes by use, each placement gives its application another place. Its own classes
//! are ordered here without that place, so a placement moves one entry of the leaf, however many
//! sizes the application asks for.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::id::{ApplicationId, QueueId};

use super::Scheduler;
use super::class::{Class, ClassId, ClassKey, Head};
use super::class_list::ClassPosition;
use super::lending::LendKey;
use super::order::{ApplicationKey, AskKey};
use super::placement_mode::{Pass, PlacementMode};

/// The own classes of an application.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnClasses {
    /// In the order of their first asks.
    classes: BTreeSet<(AskKey, ClassId)>,
    /// The first of them, as the leaf lists it; its head has the place of the application.
    listed: Option<ClassPosition>,
}

impl OwnClasses {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }
}

impl Class {
    /// Whether nothing but the list of its leaf needs the place of its application: then its
    /// application may list it, while it is ready.
    fn may_be_own(&self) -> bool {
        self.batches.len() == 1
            && self.wait.is_none()
            && self.pass == Pass::Normal
            && !self.aging
            && self.key.may_be_own()
    }
}

impl ClassKey {
    /// Whether the asks of such a class are in the list of their leaf and in no other order.
    fn may_be_own(&self) -> bool {
        matches!(self.mode, PlacementMode::AnyNode | PlacementMode::MayPreempt(_))
            && self.backoff_application.is_none()
            && !self.shared
            && !self.in_head_of_line_queue
            && LendKey::of(*self).is_none()
    }
}

impl Scheduler {
    /// List a ready class where it stands: with its application if that alone has asks in it, and
    /// in its leaf otherwise.
    pub(super) fn list(&mut self, class: ClassId) {
        let row = &mut self.classes.rows[class];
        let head = row.head.clone().expect("a class has a batch");
        let (leaf, pass) = (row.key.leaf, row.pass);
        let (_, batch) = row.batches.first().expect("a class has a batch");
        let application = self.classes.batches[*batch].application;
        // Where there is one size, two lists are no better than one.
        let is_own = !self.hints.is_wanted()
            && row.may_be_own()
            && self.applications[application.index()].batches.len() > 1;
        row.is_own = is_own;
        if !is_own {
            self.tree.ready_mut(leaf, pass).insert((head, class));
            return self.tree.touch(leaf);
        }
        let own = &mut self.applications[application.index()].own;
        own.classes.insert((head.ask, class));
        // What is listed has the place of the application; the class is new there.
        let known = own.listed.as_ref().map(|(head, _)| head.application.clone());
        self.list_first(application, leaf, &known.unwrap_or(head.application));
    }

    /// Take a ready class out of the list that it stands in. Its head is as it should be then.
    pub(super) fn unlist(&mut self, class: ClassId) {
        let row = &mut self.classes.rows[class];
        let (leaf, pass) = (row.key.leaf, row.pass);
        if !core::mem::replace(&mut row.is_own, false) {
            let place = (row.head.clone().expect("a class has a batch"), class);
            self.tree.ready_mut(leaf, pass).remove(&place);
            return self.tree.touch(leaf);
        }
        let (before, id) = row.batches.pop_first().expect("a class has a batch");
        let batch = &mut self.classes.batches[id];
        let own = &mut self.applications[batch.application.index()].own;
        let (listed, _) = own.listed.as_ref().expect("one of the own classes is listed");
        let key = listed.application.clone();
        own.classes.remove(&(before.ask, class));
        let head = Head { application: key.clone(), ..before };
        batch.head = head.clone();
        row.head = Some(head.clone());
        row.batches.insert((head, id));
        let application = batch.application;
        self.list_first(application, leaf, &key);
    }

    /// Give an own class that was never held back another key, if there is no class of that key
    /// and it stays an own class. It costs less than a new class. Whether it has that key now.
    pub(super) fn rekey_own(&mut self, class: ClassId, key: ClassKey) -> bool {
        let row = &self.classes.rows[class];
        let is_new = row.waited.since.is_none() && row.tried.is_empty() && row.due.is_none();
        row.is_own && is_new && key.may_be_own() && self.classes.rekey(class, key)
    }

    /// Whether a class is listed with its application.
    pub(super) fn is_own(&self, class: ClassId) -> bool {
        self.classes.rows[class].is_own
    }

    /// An own class starts with another ask; [`Scheduler::list_first`] follows.
    pub(super) fn own_moved(&mut self, class: ClassId, (before, after): (AskKey, AskKey)) {
        let (_, batch) = self.classes.rows[class].batches.first().expect("a class has a batch");
        let application = self.classes.batches[*batch].application;
        let own = &mut self.applications[application.index()].own;
        own.classes.remove(&(before, class));
        own.classes.insert((after, class));
    }

    /// Have the leaf list the first own class of an application that has this place there.
    pub(super) fn list_first(
        &mut self,
        application: ApplicationId,
        leaf: QueueId,
        key: &ApplicationKey,
    ) {
        let own = &mut self.applications[application.index()].own;
        let after = own.classes.first().map(|(ask, class)| {
            let (application, ask) = (key.clone(), *ask);
            (Head { uncalled: true, beyond: None, application, elsewhere: false, ask }, *class)
        });
        if own.listed == after {
            return;
        }
        let before = core::mem::replace(&mut own.listed, after.clone());
        let ready = self.tree.ready_mut(leaf, Pass::Normal);
        if let Some(before) = before {
            ready.remove(&before);
        }
        ready.extend(after);
        self.tree.touch(leaf);
    }

    /// Have the leaves list all own classes themselves.
    pub(super) fn disown_all(&mut self) {
        let own = self.classes.rows.iter().filter(|(_, row)| row.is_own);
        let own: Vec<ClassId> = own.map(|(id, _)| id).collect();
        for class in own {
            self.unlist(class);
            self.list(class);
        }
    }
}
