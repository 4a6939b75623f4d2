//! Ready classes with asks of a single application. The leaf lists only the first of them.
//!
//! In a leaf that orders applications by usage, each placement changes the position of an application. The own classes
//! are ordered by their first asks, without that position. A placement therefore moves one entry of the leaf,
//! regardless of the number of sizes that the application requests.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::books::Books;
use crate::id::{ApplicationId, QueueId};

use super::ask_batches::{backoff_application, takes_turns};
use super::class::{AskBatch, AskBatchId, ChargeState, Class, ClassId, ClassKey, Head};
use super::class_list::ClassPosition;
use super::few::FewKeys;
use super::lending::LendKey;
use super::order::{ApplicationKey, AskKey};
use super::placement_mode::{Pass, PlacementMode};
use super::{Note, Scheduler};

/// Own classes of an application.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnClasses {
    /// Classes in the order of their first asks. Usually the first is removed and a new one is last, which is cheaper
    /// in a deque than in a tree.
    classes: VecDeque<(AskKey, ClassId)>,
    /// First class, as the leaf lists it. Its head has the position of the application.
    listed: Option<ClassPosition>,
}

impl OwnClasses {
    /// Returns the number of own classes.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    fn add(&mut self, place: (AskKey, ClassId)) {
        let is_last = self.classes.back().is_none_or(|last| *last < place);
        let at = if is_last { Err(self.classes.len()) } else { self.classes.binary_search(&place) };
        if let Err(at) = at {
            self.classes.insert(at, place);
        }
    }

    fn remove(&mut self, place: (AskKey, ClassId)) {
        let is_first = self.classes.front() == Some(&place);
        let at = if is_first { Ok(0) } else { self.classes.binary_search(&place) };
        if let Ok(at) = at {
            self.classes.remove(at);
        }
        if self.classes.is_empty() {
            self.classes = VecDeque::new(); // Many applications ask once and run for long.
        }
    }

    /// Returns whether the leaf lists the first class with its current first ask.
    fn lists_first(&self) -> bool {
        let listed = self.listed.as_ref().map(|(head, class)| (head.ask, *class));
        listed.as_ref() == self.classes.front()
    }
}

impl Class {
    /// Returns whether the class was never parked, so that no other index has its key.
    fn may_be_rekeyed(&self) -> bool {
        let is_new = self.waited.since.is_none() && self.tried.is_empty() && self.due.is_none();
        self.is_own && is_new
    }

    /// Returns whether only the list of the leaf needs the position of the application. Then the application can list
    /// the class while it is ready.
    fn may_be_own(&self) -> bool {
        self.batches.len() == 1
            && self.wait.is_none()
            && self.pass == Pass::Normal
            && !self.aging
            && self.key.may_be_own()
    }
}

impl ClassKey {
    /// Returns whether the asks of such a class are only in the list of their leaf.
    fn may_be_own(&self) -> bool {
        matches!(self.mode, PlacementMode::AnyNode | PlacementMode::MayPreempt(_))
            && self.backoff_application.is_none()
            && !self.shared
            && !self.in_head_of_line_queue
            && LendKey::of(*self).is_none()
    }
}

impl Scheduler {
    /// Lists a ready class: with its application if only that application has asks in it, and in its leaf otherwise.
    pub(super) fn list(&mut self, class: ClassId) {
        let row = &mut self.classes.rows[class];
        let head = row.head.clone().expect("a class has a batch");
        let (leaf, pass) = (row.key.leaf, row.pass);
        let (_, batch) = row.batches.first_key().expect("a class has a batch");
        let application = self.classes.batches[*batch].application;
        // With a single size, two lists have no advantage.
        let is_own = !self.hints.is_wanted()
            && row.may_be_own()
            && self.applications[application.index()].batches.len() > 1;
        row.is_own = is_own;
        if !is_own {
            self.tree.ready_mut(leaf, pass).insert((head, class));
            return self.tree.touch(leaf);
        }
        let own = &mut self.applications[application.index()].own;
        own.add((head.ask, class));
        if own.lists_first() {
            return;
        }
        // The listed class has the current position of the application. The new class does not.
        let known = own.listed.as_ref().map(|(head, _)| head.application.clone());
        self.list_first(application, leaf, &known.unwrap_or(head.application));
    }

    /// Removes a ready class from its list. Its head is up to date afterwards.
    pub(super) fn unlist(&mut self, class: ClassId) {
        let row = &mut self.classes.rows[class];
        let (leaf, pass) = (row.key.leaf, row.pass);
        if !core::mem::replace(&mut row.is_own, false) {
            let place = (row.head.clone().expect("a class has a batch"), class);
            self.tree.ready_mut(leaf, pass).remove(&place);
            return self.tree.touch(leaf);
        }
        let (before, id) = row.batches.take_one().expect("a class has a batch");
        let batch = &mut self.classes.batches[id];
        let own = &mut self.applications[batch.application.index()].own;
        let (listed, _) = own.listed.as_ref().expect("one of the own classes is listed");
        let key = listed.application.clone();
        own.remove((before.ask, class));
        let head = Head { application: key.clone(), ..before };
        batch.head = head.clone();
        row.head = Some(head.clone());
        row.batches.insert((head, id), ());
        let application = batch.application;
        self.list_first(application, leaf, &key);
    }

    /// Changes the key of an own class that was never parked, if no class has that key and the class stays an own
    /// class. Cheaper than a new class. Returns whether the key changed.
    pub(super) fn rekey_own(
        &mut self,
        (class, application): (ClassId, ApplicationId),
        key: ClassKey,
    ) -> bool {
        self.classes.rows[class].may_be_rekeyed()
            && key.may_be_own()
            && self.classes.rekey(&self.applications, (class, application), key)
    }

    /// Changes the charge state of all classes of an application at once.
    ///
    /// Returns whether that was possible: the application has only own classes, and no other application has the old or
    /// the new charge state.
    pub(super) fn recharge_own(
        &mut self,
        books: &Books,
        application: ApplicationId,
        charge: ChargeState,
    ) -> bool {
        let leaf = books.application(application).queue;
        // With fair-share picks or back-off, more than the charge state of the key changes.
        if takes_turns(books, leaf, charge, PlacementMode::AnyNode)
            || backoff_application(books, application).is_some()
            || self.applications[application.index()].batches.of_gang().next().is_some()
        {
            return false;
        }
        let waiting = &self.applications[application.index()];
        let batches = &waiting.batches;
        if waiting.own.len() != batches.len() {
            return false;
        }
        let class_of = |batch: AskBatchId| self.classes.batches[batch].class;
        let Some(first) = batches.iter().next() else { return false };
        let before = self.classes.rows[class_of(first)].key.charge;
        let may_follow = |batch| {
            let row = &self.classes.rows[class_of(batch)];
            row.key.charge == before
                && row.may_be_rekeyed()
                && (ClassKey { charge, ..row.key }).may_be_own()
        };
        let all = batches.iter().all(may_follow);
        if !all || !self.classes.recharge((application, leaf), (before, charge), batches.len()) {
            return false;
        }
        let batches = &self.applications[application.index()].batches;
        let batches = batches.iter().collect::<SmallVec<[_; 16]>>();
        for batch in batches {
            let class = self.classes.batches[batch].class;
            self.classes.rows[class].key.charge = charge;
            self.note(Note::Joined { application, class });
        }
        true
    }

    /// Removes an own class with its last ask. The caller then calls [`Scheduler::reorder`], which lists the next class
    /// at the new position of the application.
    pub(super) fn remove_own(&mut self, books: &Books, batch: AskBatchId) {
        let AskBatch { application, class, head, .. } =
            self.classes.batches.remove(batch).expect("the batch is there");
        let own = &mut self.applications[application.index()].own;
        own.remove((head.ask, class));
        let row = &mut self.classes.rows[class];
        if let Some(listed) = own.listed.take_if(|(_, listed)| *listed == class) {
            self.tree.ready_mut(row.key.leaf, Pass::Normal).remove(&listed);
            self.tree.touch(row.key.leaf);
        }
        row.batches = FewKeys::default();
        self.attempts.forget(row, class);
        self.recount(books, class);
        self.classes.forget(class);
        self.holds.note(class);
    }

    /// Returns whether a class is listed with its application.
    pub(super) fn is_own(&self, class: ClassId) -> bool {
        self.classes.rows[class].is_own
    }

    /// Updates an own class after its first ask changed. The caller then calls [`Scheduler::list_first`].
    pub(super) fn own_moved(&mut self, class: ClassId, (before, after): (AskKey, AskKey)) {
        let (_, batch) = self.classes.rows[class].batches.first_key().expect("a class has a batch");
        let application = self.classes.batches[*batch].application;
        let own = &mut self.applications[application.index()].own;
        own.remove((before, class));
        own.add((after, class));
    }

    /// Makes the leaf list the first own class of an application at this position.
    pub(super) fn list_first(
        &mut self,
        application: ApplicationId,
        leaf: QueueId,
        key: &ApplicationKey,
    ) {
        let own = &mut self.applications[application.index()].own;
        if own.lists_first() && own.listed.as_ref().is_none_or(|(head, _)| head.application == *key)
        {
            return;
        }
        let after = own.classes.front().map(|(ask, class)| {
            let (application, ask) = (key.clone(), *ask);
            (Head { uncalled: true, beyond: None, application, elsewhere: false, ask }, *class)
        });
        let before = core::mem::replace(&mut own.listed, after.clone());
        let ready = self.tree.ready_mut(leaf, Pass::Normal);
        if let Some(before) = before {
            ready.remove(&before);
        }
        ready.extend(after);
        self.tree.touch(leaf);
    }

    /// Moves all own classes to the lists of their leaves.
    pub(super) fn disown_all(&mut self) {
        let own = self.classes.rows.iter().filter(|(_, row)| row.is_own);
        let own: Vec<ClassId> = own.map(|(id, _)| id).collect();
        for class in own {
            self.unlist(class);
            self.list(class);
        }
    }
}
