//! Keeping asks in bundles, bundles in classes, and both in order.

use smallvec::SmallVec;

use crate::books::Books;
use crate::config::ApplicationOrder;
use crate::id::{AllocationId, ApplicationId, QueueId, ShapeId};
use crate::time::Timestamp;
use crate::wait::Blocker;

use super::class::{Bundle, BundleId, ClassId, ClassKey, Head, Standing};
use super::hints::Heard;
use super::lane::{Lane, Pass};
use super::lending;
use super::order::{ApplicationKey, AskKey};
use super::{Note, Scheduler};

/// What the scheduler keeps of one application.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    /// Its place in its leaf; none while it asks for nothing.
    pub(super) key: Option<ApplicationKey>,
    /// By how much it counts as more urgent, since it waits; nothing where that does not matter.
    pub(super) aged: u32,
    /// When it next does more.
    pub(super) ages_at: Option<Timestamp>,
    /// Its bundles by shape and lane, sorted.
    pub(super) bundles: SmallVec<[((ShapeId, Lane), BundleId); 2]>,
}

impl Waiting {
    /// The bundle of this shape and lane.
    pub(super) fn bundle(&self, shape: ShapeId, lane: Lane) -> Option<BundleId> {
        let place = self.bundles.binary_search_by_key(&(shape, lane), |(key, _)| *key).ok()?;
        Some(self.bundles[place].1)
    }
}

impl Scheduler {
    pub(super) fn add_ask(&mut self, books: &Books, ask: AllocationId) {
        let row = books.allocation(ask);
        let application = row.application;
        let key = AskKey::of(row);
        let lane = Lane::of(books, ask, row);
        let bundle = if let Some(known) = self.waiting(application).bundle(row.shape, lane) {
            self.classes.bundles[known].asks.insert(key, ask);
            known
        } else {
            self.add_bundle(books, ask, lane)
        };
        self.hint_joins(books, ask, bundle);
        self.note_waits(books, ask, true);
        self.waits_to_start(books, ask, row);
        let class = self.classes.bundles[bundle].class;
        self.classes.rows[class].asks += 1;
        self.recount(books, class);
        self.note_age(bundle);
        if let Lane::Kept(ask) = lane {
            self.watch_reservation(books, ask);
        }
        if let Some(name) = row.required_node() {
            let key = (books.application(application).partition, name.clone());
            self.required.entry(key).or_default().insert(ask);
        }
        if let Lane::PinnedSwap(_) = lane {
            self.note_pinned_member(books, (ask, lane), true);
        }
        self.reorder(books, application, Some(bundle));
        let class = self.classes.bundles[bundle].class;
        if self.classes.rows[class].key.alone.is_some() {
            self.visit_again(books, application);
        }
        self.joins_calls(books, ask, bundle);
    }

    /// What is kept of an application.
    fn waiting(&mut self, application: ApplicationId) -> &mut Waiting {
        if self.applications.len() <= application.index() {
            self.applications.resize_with(application.index() + 1, Waiting::default);
        }
        &mut self.applications[application.index()]
    }

    fn add_bundle(&mut self, books: &Books, ask: AllocationId, lane: Lane) -> BundleId {
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
        let standing = Standing::of(books, application);
        let alone = alone(books, application).filter(|_| !standing.waits());
        let shared = takes_turns(books, leaf, standing, lane);
        let lined = books.has_line(leaf);
        let key = ClassKey { leaf, standing, shape: row.shape, lane, alone, shared, lined };
        let class = self.classes.class(key);
        let is_kept = matches!(lane, Lane::Kept(_));
        let called = is_kept && row.preemption_triggered && books.users_of(leaf).is_some();
        let head = Head {
            uncalled: !called,
            beyond: None,
            application: application_key,
            elsewhere: false,
            ask: ask_key,
        };
        let bundle = self.classes.bundles.insert(Bundle {
            application,
            class,
            head: head.clone(),
            asks: core::iter::once((ask_key, ask)).collect(),
            old: None,
            ripens: None,
            heard: Heard::default(),
        });
        self.classes.rows[class].insert(head, bundle);
        let (key, bundles) = ((row.shape, lane), &mut self.waiting(application).bundles);
        let place = bundles.partition_point(|(known, _)| *known < key);
        bundles.insert(place, (key, bundle));
        if !matches!(lane, Lane::Kept(_)) {
            self.note(Note::Joined { application, class });
        }
        self.place(class);
        bundle
    }

    /// Take an ask out; [`Scheduler::reorder`] follows when the books have changed. The bundle
    /// that it was in, if that is still there.
    pub(super) fn remove_ask(&mut self, books: &Books, ask: AllocationId) -> Option<BundleId> {
        let lane = Lane::of(books, ask, books.allocation(ask));
        self.remove_ask_of(books, ask, lane)
    }

    /// Take an ask out of the lane that it was in.
    fn remove_ask_of(&mut self, books: &Books, ask: AllocationId, lane: Lane) -> Option<BundleId> {
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
        if let Lane::Kept(ask) = lane {
            self.forget_reservation(books, ask);
        }
        if let Lane::PinnedSwap(_) = lane {
            self.note_pinned_member(books, (ask, lane), false);
        }
        self.forget_refused(books, ask);
        self.waits_no_more(books, ask, row);
        let waiting = self.waiting(row.application);
        let bundle = waiting.bundle(row.shape, lane).expect("a waiting ask is in a bundle");
        let class = self.classes.bundles[bundle].class;
        if self.classes.rows[class].tried.remove(&ask) {
            self.arm(books, class); // The others may have their try now.
        }
        self.hint_leaves(books, ask, bundle);
        let asks = &mut self.classes.bundles[bundle].asks;
        asks.remove(&AskKey::of(row));
        let more = !asks.is_empty();
        self.note_waits(books, ask, false);
        self.classes.rows[class].asks -= 1;
        if more {
            self.recount(books, class);
            self.note_age(bundle);
            return Some(bundle);
        }
        self.waiting(row.application).bundles.retain(|(_, one)| *one != bundle);
        self.leave_class(books, bundle);
        self.classes.bundles.remove(bundle);
        None
    }

    /// Give an application the place that the books say, and with it its bundles: all of them
    /// if its place changed, otherwise the one whose asks changed.
    pub(super) fn reorder(
        &mut self,
        books: &Books,
        application: ApplicationId,
        changed: Option<BundleId>,
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
        waiting.key.clone_from(&key);
        if leaf.settings.values.application_order == ApplicationOrder::Priority {
            self.follow_waiting(books, application);
        }
        self.tree.touch(row.queue);
        self.turns_moved(books, application);
        let Some(key) = key else { return };
        if moved {
            for position in 0..self.waiting(application).bundles.len() {
                let (_, bundle) = self.waiting(application).bundles[position];
                self.rehead(bundle, &key);
            }
        } else if let Some(bundle) = changed {
            self.rehead(bundle, &key);
        }
    }

    /// Give a bundle its place in its class.
    fn rehead(&mut self, bundle: BundleId, application: &ApplicationKey) {
        let row = &mut self.classes.bundles[bundle];
        let Some((ask, _)) = row.asks.first_key_value() else {
            return;
        };
        if row.head.ask == *ask && row.head.application == *application {
            return;
        }
        let head = Head { application: application.clone(), ask: *ask, ..row.head };
        let before = core::mem::replace(&mut row.head, head.clone());
        let class = row.class;
        let row = &mut self.classes.rows[class];
        row.remove(before, bundle);
        row.insert(head, bundle);
        self.note_age(bundle);
        self.show_untold(bundle);
        self.place(class);
    }

    /// Give a class the place of its first bundle: in its leaf if it is to be judged, in its
    /// group if it is parked.
    pub(super) fn place(&mut self, class: ClassId) {
        let row = &mut self.classes.rows[class];
        let first = row.bundles.first().map(|(head, _)| head);
        if row.head.as_ref() == first {
            return;
        }
        let first = first.cloned();
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
                let ready = self.tree.ready_mut(leaf, pass);
                if let Some(before) = before {
                    ready.remove(&before);
                }
                ready.extend(after);
                self.tree.touch(leaf);
            }
        }
    }

    /// Take a bundle out of its class, which goes with its last one.
    fn leave_class(&mut self, books: &Books, bundle: BundleId) {
        self.forget_age(bundle);
        self.hint_exits(bundle);
        let Bundle { class, head, asks, .. } = &self.classes.bundles[bundle];
        let (class, head, asks) = (*class, head.clone(), asks.len());
        let row = &mut self.classes.rows[class];
        row.remove(head, bundle);
        row.asks -= asks;
        let empty = row.bundles.is_empty();
        self.recount(books, class);
        self.place(class);
        self.stand(books, class);
        if empty {
            self.calls.forget(&mut self.classes.rows[class], class);
            self.classes.forget(class);
        }
    }

    /// Put an ask into the lane that it has by now.
    pub(super) fn relane(&mut self, books: &Books, ask: AllocationId, before: Lane) {
        if Lane::of(books, ask, books.allocation(ask)) != before {
            let application = books.allocation(ask).application;
            let left = self.remove_ask_of(books, ask, before);
            self.reorder(books, application, left);
            self.add_ask(books, ask);
        }
    }

    /// The placeholders of a task group ran out, or there are some again: its members wait for
    /// them no more, or from now on.
    pub(super) fn relane_members(
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
                Lane::in_gang(books, id, ask, group)
            } else {
                Lane::outside_gang(books, id, ask)
            };
            self.relane(books, id, before);
        }
    }

    /// Move the bundles of an application to the classes that fit what it has become.
    pub(super) fn restand(&mut self, books: &Books, application: ApplicationId) {
        let Some(waiting) = self.applications.get(application.index()) else {
            return;
        };
        let standing = Standing::of(books, application);
        let of = |bundle| self.classes.rows[self.classes.bundles[bundle].class].key.standing;
        if waiting.bundles.iter().all(|(_, bundle)| of(*bundle) == standing) {
            self.turns_moved(books, application);
            return;
        }
        let bundles = waiting.bundles.clone();
        self.turns_moved(books, application);
        for (_, bundle) in bundles {
            let row = &self.classes.bundles[bundle];
            let key = self.classes.rows[row.class].key;
            if key.standing == standing {
                continue;
            }
            let left = row.class;
            let tried = self.take_tried(books, left, application);
            self.leave_class(books, bundle);
            if !tried.is_empty() && self.classes.rows.contains_key(left) {
                self.arm(books, left); // The others may have their try now.
            }
            let shared = takes_turns(books, key.leaf, standing, key.lane);
            let alone = alone(books, application).filter(|_| !standing.waits());
            let class = self.classes.class(ClassKey { standing, alone, shared, ..key });
            let row = &mut self.classes.bundles[bundle];
            row.class = class;
            let (head, asks) = (row.head.clone(), row.asks.len());
            self.classes.rows[class].insert(head, bundle);
            self.classes.rows[class].asks += asks;
            self.hint_enters(bundle);
            self.recount(books, class);
            self.classes.rows[class].tried.extend(tried);
            if !matches!(key.lane, Lane::Kept(_)) {
                self.note(Note::Joined { application, class });
            }
            self.note_age(bundle);
            self.place(class);
            self.arm(books, class);
            if alone.is_some() && key.alone.is_none() {
                self.visit_again(books, application);
            }
        }
    }
}

/// The application, if its leaf has it back off, or had, so that it is looked at by itself.
pub(super) fn alone(books: &Books, application: ApplicationId) -> Option<ApplicationId> {
    // One that is gone, or has ended and lost its queue, is visited no more.
    let row = books.applications().get(application).filter(|row| row.state.is_active())?;
    if books.members_of(application) > 1 {
        return None; // All of a task that starts as a whole is tried at once.
    }
    let backs_off = books.queue(row.queue).settings.values.backoff > 0;
    // Its users, or the head of its line, are no reason to pause.
    let takes_turns = books.users_of(row.queue).is_some() || books.has_line(row.queue);
    ((backs_off || row.backed_off.is_some()) && !takes_turns).then_some(application)
}

/// Whether such asks wait for the turn of their user: those that look for a node, in a leaf with
/// user limits.
fn takes_turns(books: &Books, leaf: QueueId, standing: Standing, lane: Lane) -> bool {
    let looks_for_node = standing == Standing::Unlinked || lane.pass() == Pass::Normal;
    looks_for_node && !standing.waits() && books.users_of(leaf).is_some()
}
