//! Groups asks into batches and batches into classes, and maintains the order of both.

use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::books::{Books, GangSize};
use crate::config::ApplicationOrder;
use crate::id::{AllocationId, ApplicationId, QueueId};
use crate::time::Timestamp;
use crate::wait::Blocker;

use super::batch_list::{BatchKey, BatchList};
use super::class::{AskBatch, AskBatchId, ChargeState, ClassId, ClassKey, GangPart, Head};
use super::few::Few;
use super::hints::Heard;
use super::lending::{self, LendKey};
use super::order::{ApplicationKey, AskKey};
use super::own_classes::OwnClasses;
use super::placement_mode::{Pass, PlacementMode};
use super::{Note, Scheduler, whole_gangs};

/// State of one application in the indexes.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingApplication {
    /// Position in its leaf. `None` while it has no waiting ask.
    pub(super) key: Option<ApplicationKey>,
    /// Steps of priority that it gained by waiting. Zero if waiting does not affect its priority.
    pub(super) aged: u32,
    /// Time of the next gained step.
    pub(super) ages_at: Option<Timestamp>,
    /// Batches of waiting asks.
    pub(super) batches: BatchList,
    /// Ready classes that the application lists itself.
    pub(super) own: OwnClasses,
}

impl PendingApplication {
    /// Returns the batch with this key.
    pub(super) fn batch(&self, key: BatchKey) -> Option<AskBatchId> {
        self.batches.get(key)
    }
}

impl Scheduler {
    pub(super) fn add_ask(&mut self, books: &Books, ask: AllocationId) {
        let row = books.allocation(ask);
        let application = row.application;
        let key = AskKey::of(row);
        let mode = PlacementMode::of(books, ask, row);
        let batch_key = BatchKey::of(books, ask, mode);
        let batch = if let Some(known) = self.waiting(application).batch(batch_key) {
            self.classes.batches[known].asks.insert(key, ask);
            known
        } else {
            self.add_batch(books, ask, mode)
        };
        if batch_key.in_gang {
            self.gang_arrived(application);
        }
        self.hint_joins(books, ask, batch);
        self.note_waits(books, ask, true);
        self.waits_to_start(books, ask, row);
        let class = self.classes.batches[batch].class;
        self.classes.rows[class].asks += 1;
        self.recount(books, class);
        self.note_age(batch);
        if let PlacementMode::ReservedNode(ask) = mode {
            self.watch_reservation(books, ask);
        }
        if let Some(name) = row.required_node() {
            let key = (books.application(application).partition, name.clone());
            self.required.entry(key).or_default().insert(ask);
        }
        if let PlacementMode::ReplacePlaceholderAlone(_) = mode {
            self.note_pinned_member(books, (ask, mode), true);
        }
        self.reorder(books, application, Some(batch));
        let class = self.classes.batches[batch].class;
        if self.classes.rows[class].key.backoff_application.is_some() {
            self.visit_again(books, application);
        }
        self.joins_attempts(books, ask, batch);
    }

    /// Returns the state of an application, and creates it if it is missing.
    fn waiting(&mut self, application: ApplicationId) -> &mut PendingApplication {
        if self.applications.len() <= application.index() {
            self.applications.resize_with(application.index() + 1, PendingApplication::default);
        }
        &mut self.applications[application.index()]
    }

    fn add_batch(&mut self, books: &Books, ask: AllocationId, mode: PlacementMode) -> AskBatchId {
        let row = books.allocation(ask);
        let application = row.application;
        let leaf = books.application(application).queue;
        let ask_key = AskKey::of(row);
        let aged = self.waiting(application).aged;
        let application_key = ApplicationKey::of(
            books.application(application),
            books.queue(leaf),
            ask_key.priority(),
            aged,
        );
        let charge = ChargeState::of(books, application);
        let alone = backoff_application(books, application).filter(|_| !charge.waits());
        let shared = takes_turns(books, leaf, charge, mode);
        let lined = books.has_line(leaf);
        let batch_key = BatchKey::of(books, ask, mode);
        let key = ClassKey {
            leaf,
            charge,
            shape: row.shape,
            mode,
            gang: books.gang_of(ask),
            gang_part: GangPart::of(
                batch_key.in_gang,
                batch_key.in_gang && whole_gangs::gathers(books, application),
            ),
            has_hold: batch_key.has_hold,
            backoff_application: alone,
            shared,
            in_head_of_line_queue: lined,
        };
        let class = self.classes.class(&self.applications, (key, application));
        let is_reserved = matches!(mode, PlacementMode::ReservedNode(_));
        let called = is_reserved && row.preemption_triggered && books.users_of(leaf).is_some();
        let head = Head {
            uncalled: !called,
            beyond: None,
            application: application_key,
            elsewhere: false,
            ask: ask_key,
        };
        let batch = self.classes.batches.insert(AskBatch {
            application,
            class,
            head: head.clone(),
            asks: Few::One(ask_key, ask),
            old: None,
            ripens: None,
            heard: Heard::default(),
        });
        self.join(class, head, batch);
        self.waiting(application).batches.insert(batch_key, batch);
        if !matches!(mode, PlacementMode::ReservedNode(_)) {
            self.note(Note::Joined { application, class });
        }
        self.place(class);
        batch
    }

    /// Adds a batch to a class. The caller then calls [`Scheduler::place`].
    fn join(&mut self, class: ClassId, head: Head, batch: AskBatchId) {
        let was_own = self.is_own(class);
        if was_own {
            self.unlist(class);
        }
        self.classes.rows[class].insert(head, batch);
        if was_own {
            self.list(class);
        }
    }

    /// Removes an ask. The caller then calls [`Scheduler::reorder`] after the books have changed.
    ///
    /// Returns the batch of the ask if the batch still exists.
    pub(super) fn remove_ask(&mut self, books: &Books, ask: AllocationId) -> Option<AskBatchId> {
        let mode = PlacementMode::of(books, ask, books.allocation(ask));
        self.remove_ask_of(books, ask, mode)
    }

    /// Removes an ask with its former placement mode.
    fn remove_ask_of(
        &mut self,
        books: &Books,
        ask: AllocationId,
        mode: PlacementMode,
    ) -> Option<AskBatchId> {
        let row = books.allocation(ask);
        if let Some(name) = row.required_node() {
            let key = (books.application(row.application).partition, name.clone());
            if let Some(asks) = self.required.get_mut(&key) {
                asks.remove(&ask);
                if asks.is_empty() {
                    self.required.remove(&key);
                }
            }
        }
        if let PlacementMode::ReservedNode(ask) = mode {
            self.forget_reservation(books, ask);
        }
        if let PlacementMode::ReplacePlaceholderAlone(_) = mode {
            self.note_pinned_member(books, (ask, mode), false);
        }
        self.forget_refused(books, ask);
        self.waits_no_more(books, ask, row);
        let batch_key = BatchKey::of(books, ask, mode);
        let batches = &self.waiting(row.application).batches;
        let batch = batches.get(batch_key).expect("a waiting ask is in a batch");
        let class = self.classes.batches[batch].class;
        if self.classes.rows[class].tried.remove(&ask) {
            self.arm(books, class); // The others may have their try now.
        }
        self.hint_leaves(books, ask, batch);
        let asks = &mut self.classes.batches[batch].asks;
        asks.remove(&AskKey::of(row));
        let more = !asks.is_empty();
        self.note_waits(books, ask, false);
        self.classes.rows[class].asks -= 1;
        if more {
            self.recount(books, class);
            self.note_age(batch);
            return Some(batch);
        }
        self.waiting(row.application).batches.remove(batch_key);
        if self.is_own(class) {
            self.remove_own(books, batch);
        } else {
            self.leave_class(books, batch);
            self.classes.batches.remove(batch);
        }
        None
    }

    /// Updates the position of an application and of its batches.
    ///
    /// If the position of the application changed, updates all batches. Otherwise, updates only the batch whose asks
    /// changed.
    pub(super) fn reorder(
        &mut self,
        books: &Books,
        application: ApplicationId,
        changed: Option<AskBatchId>,
    ) {
        let row = books.application(application);
        let leaf = books.queue(row.queue);
        let waiting = self.waiting(application);
        if waiting.key.is_none() {
            waiting.aged = 0; // How long it has waited is looked at before the next step.
        }
        let aged = waiting.aged;
        let key = row.priority().map(|priority| ApplicationKey::of(row, leaf, priority, aged));
        let moved = waiting.key != key;
        let repairs =
            |key: &Option<ApplicationKey>| key.as_ref().is_some_and(|key| !key.is_whole());
        let has_turned = repairs(&waiting.key) != repairs(&key);
        waiting.key.clone_from(&key);
        if leaf.settings.values.application_order == ApplicationOrder::Priority {
            self.follow_waiting(books, application);
        }
        self.tree.touch(row.queue);
        self.turns_moved(books, application);
        if has_turned {
            // It gets a hold at once, or no longer does.
            let batches = self.waiting(application).batches.iter().collect::<Vec<_>>();
            for batch in batches {
                self.holds.note(self.classes.batches[batch].class);
            }
        }
        let Some(key) = key else { return };
        let waiting = self.waiting(application);
        let (lists, lists_all) =
            (waiting.own.len() > 0, waiting.own.len() == waiting.batches.len());
        if moved && !lists_all {
            let batches: SmallVec<[_; 16]> = waiting.batches.iter().collect();
            for batch in batches {
                self.rehead(batch, &key);
            }
        } else if let Some(batch) = changed {
            self.rehead(batch, &key);
        }
        if lists {
            self.list_first(application, row.queue, &key);
        }
    }

    /// Updates the position of a batch in its class.
    fn rehead(&mut self, batch: AskBatchId, application: &ApplicationKey) {
        let row = &mut self.classes.batches[batch];
        let Some((ask, _)) = row.asks.first() else {
            return;
        };
        let is_own = self.classes.rows[row.class].is_own;
        if row.head.ask == *ask && (is_own || row.head.application == *application) {
            return;
        }
        let head = Head { application: application.clone(), ask: *ask, ..row.head };
        let before = core::mem::replace(&mut row.head, head.clone());
        let class = row.class;
        let row = &mut self.classes.rows[class];
        if is_own {
            row.head = Some(head.clone());
        }
        let asks = (before.ask, head.ask);
        row.rename(before, head, batch);
        self.note_age(batch);
        self.show_unreported(batch);
        if is_own {
            self.own_moved(class, asks);
        } else {
            self.place(class);
        }
    }

    /// Updates the position of a class to that of its first batch. A ready class has its position in its leaf, a parked
    /// class in its group.
    pub(super) fn place(&mut self, class: ClassId) {
        let row = &mut self.classes.rows[class];
        let first = row.batches.first_key().map(|(head, _)| head);
        if row.head.as_ref() == first {
            return;
        }
        let first = first.cloned();
        if row.head.is_none() && row.group().is_none() && LendKey::of(row.key).is_none() {
            row.head = first;
            return self.list(class);
        }
        self.holds.note(class);
        let before = core::mem::replace(&mut row.head, first.clone());
        let key = row.key;
        let shown = (&mut self.lending, &mut self.tree);
        lending::moved(shown, (key, class), (before.as_ref(), first.as_ref()));
        let row = &mut self.classes.rows[class];
        let (leaf, pass, group) = (row.key.leaf, row.pass, row.group());
        let seat = &mut row.seat;
        let before = before.map(|head| (head, class));
        let after = first.map(|head| (head, class));
        match (group, before, after) {
            (Some(group), Some(before), Some(after)) => {
                let is_behind = matches!(group.blocker, Some(Blocker::BehindHead(..)));
                let passes = is_behind && after < before;
                self.parked.replace(&mut self.tree, group, (&before, after), *seat);
                if passes {
                    self.parked.open_group(&mut self.tree, group);
                }
            }
            (Some(group), Some(before), None) => {
                self.parked.remove(&mut self.tree, group, &before, *seat);
            }
            (Some(group), None, Some(after)) => {
                *seat = self.parked.insert(&mut self.tree, group, after);
            }
            (_, before, after) => {
                if let Some(before) = before {
                    self.tree.ready_mut(leaf, pass).remove(&before);
                    self.tree.touch(leaf);
                }
                if after.is_some() {
                    self.list(class);
                }
            }
        }
    }

    /// Removes a batch from its class, and the class with its last batch.
    fn leave_class(&mut self, books: &Books, batch: AskBatchId) {
        if self.is_own(self.classes.batches[batch].class) {
            self.unlist(self.classes.batches[batch].class);
        }
        self.forget_age(batch);
        self.hint_exits(batch);
        let AskBatch { class, head, asks, .. } = &self.classes.batches[batch];
        let (class, head, asks) = (*class, head.clone(), asks.len());
        let row = &mut self.classes.rows[class];
        row.remove(head, batch);
        row.asks -= asks;
        let empty = row.batches.is_empty();
        self.recount(books, class);
        self.place(class);
        self.list_candidate(books, class);
        if empty {
            self.attempts.forget(&mut self.classes.rows[class], class);
            self.classes.forget(class);
            self.holds.note(class);
        }
    }

    /// Updates the index after the placement mode of an ask changed.
    pub(super) fn change_mode(&mut self, books: &Books, ask: AllocationId, before: PlacementMode) {
        if PlacementMode::of(books, ask, books.allocation(ask)) != before {
            let application = books.allocation(ask).application;
            let left = self.remove_ask_of(books, ask, before);
            self.reorder(books, application, left);
            self.add_ask(books, ask);
        }
    }

    /// Updates the placement mode of the members of a task group after its last placeholder ended or its first
    /// placeholder appeared.
    pub(super) fn change_mode_of_members(
        &mut self,
        books: &Books,
        application: ApplicationId,
        (group, had_places): (usize, bool),
    ) {
        let row = books.application(application);
        let Some(gang) = &row.gang else { return };
        let name = &gang.groups[group].name;
        for (id, ask) in books.allocations_of(application) {
            if !ask.is_pending() || ask.placeholder || ask.task_group() != Some(name) {
                continue;
            }
            let before = if had_places && ask.reservation().is_none() {
                PlacementMode::in_gang(books, id, ask, group)
            } else {
                PlacementMode::outside_gang(books, id, ask)
            };
            self.change_mode(books, id, before);
        }
    }

    /// Returns the gang of the placeholders of a batch, as checks currently see it.
    fn gang_of_batch(&self, books: &Books, batch: AskBatchId) -> Option<GangSize> {
        let (_, ask) = self.classes.batches[batch].asks.first()?;
        books.gang_of(*ask)
    }

    /// Moves the batches of an application to the classes of its current charge state.
    pub(super) fn restand(&mut self, books: &Books, application: ApplicationId) {
        let Some(waiting) = self.applications.get(application.index()) else {
            return;
        };
        let charge = ChargeState::of(books, application);
        let key_of = |batch| self.classes.rows[self.classes.batches[batch].class].key;
        let gathers = whole_gangs::gathers(books, application);
        let is_as_it_was = |batch| {
            let key = key_of(batch);
            let part = GangPart::of(key.gang_part.is_placeholder(), gathers);
            let gang = || (self.gang_of_batch(books, batch), part);
            key.charge == charge && (!part.is_placeholder() || (key.gang, key.gang_part) == gang())
        };
        if waiting.batches.iter().all(is_as_it_was) {
            self.turns_moved(books, application);
            return;
        }
        self.turns_moved(books, application);
        if self.recharge_own(books, application, charge) {
            return;
        }
        let batches = self.applications[application.index()].batches.clone();
        for batch in batches.iter() {
            let row = &self.classes.batches[batch];
            let key = self.classes.rows[row.class].key;
            let gang = self.gang_of_batch(books, batch);
            let gang_part = GangPart::of(key.gang_part.is_placeholder(), gathers);
            if key.charge == charge && (key.gang, key.gang_part) == (gang, gang_part) {
                continue;
            }
            let left = row.class;
            let shared = takes_turns(books, key.leaf, charge, key.mode);
            let alone = backoff_application(books, application).filter(|_| !charge.waits());
            let to =
                ClassKey { charge, gang, gang_part, backoff_application: alone, shared, ..key };
            if self.rekey_own((left, application), to) {
                self.recount(books, left);
                self.note(Note::Joined { application, class: left });
                continue;
            }
            let tried = self.take_tried(books, left, application);
            self.leave_class(books, batch);
            if !tried.is_empty() && self.classes.rows.contains_key(left) {
                self.arm(books, left); // The others may have their try now.
            }
            let class = self.classes.class(&self.applications, (to, application));
            let row = &mut self.classes.batches[batch];
            row.class = class;
            let (head, asks) = (row.head.clone(), row.asks.len());
            self.join(class, head, batch);
            self.classes.rows[class].asks += asks;
            self.hint_enters(batch);
            self.recount(books, class);
            self.classes.rows[class].tried.extend(tried);
            if !matches!(key.mode, PlacementMode::ReservedNode(_)) {
                self.note(Note::Joined { application, class });
            }
            self.note_age(batch);
            self.place(class);
            self.arm(books, class);
            if alone.is_some() && key.backoff_application.is_none() {
                self.visit_again(books, application);
            }
        }
    }
}

/// Returns the application if it is checked as a whole, because its leaf backs off, or did so.
pub(super) fn backoff_application(
    books: &Books,
    application: ApplicationId,
) -> Option<ApplicationId> {
    // An application that was removed, or that ended and lost its queue, is not checked.
    let row = books.applications().get(application).filter(|row| row.state.is_active())?;
    if books.members_of(application) > 1 {
        return None; // All of a task that starts as a whole is tried at once.
    }
    books.backs_off(row).then_some(application)
}

/// Returns whether such asks wait for the fair-share pick of their user. That holds for asks that need a node, in a
/// leaf with user limits.
pub(super) fn takes_turns(
    books: &Books,
    leaf: QueueId,
    charge: ChargeState,
    mode: PlacementMode,
) -> bool {
    let looks_for_node = charge == ChargeState::Unlinked || mode.pass() == Pass::Normal;
    looks_for_node && !charge.waits() && books.users_of(leaf).is_some()
}
