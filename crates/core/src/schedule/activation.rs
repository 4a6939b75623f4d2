//! Selects the next application to activate: the oldest of the highest priority that no limit blocks.
//!
//! Each leaf has a tree of its waiting applications. Applications of one user with equal drivers share one entry. Each
//! node of the tree has the smallest driver and the least usage of its subtree. A search therefore finds the first
//! application that can start, and skips the blocked ones. A leaf whose first application is blocked by an ancestor
//! queue is set aside until that queue has capacity.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;

use smallvec::SmallVec;

use crate::books::{Allocation, Books};
use crate::event::Event;
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Quantity, ResourceType, Resources};
use crate::rules::activation::{
    Gate, activated, driver_of, full_queue, has_begun, is_user_full, max_parallel, weight,
};
use crate::rules::linked;
use crate::time::Timestamp;
use crate::userlimit::Decimal;

use super::Scheduler;
use super::before_event::BeforeEvent;
use super::min_tree::{Measure, MinTree};
use super::order::AskKey;

/// Position in the order of activation: by priority, then by submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    priority: Reverse<i32>,
    submitted: Timestamp,
    number: u64,
    application: ApplicationId,
}

/// Asks that a waiting application would start with.
#[derive(Clone, Debug, Default)]
struct Waiting {
    asks: BTreeMap<AskKey, AllocationId>,
    originators: BTreeMap<AskKey, AllocationId>,
    /// Sum of all placeholders of its first task group.
    places: Resources,
    place_count: u32,
    /// Position of the application, and the entry that it shares. `None` without asks.
    stands: Option<(Place, DriverKey)>,
}

/// Key of applications with the same user and equal drivers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DriverKey {
    user: Name,
    driver: SmallVec<[(ResourceType, Quantity); 2]>,
}

/// Amounts and limits to check before one of the applications of an entry is activated.
#[derive(Clone, Debug, PartialEq)]
struct ActivationNeed {
    driver: Resources,
    /// Usage of the drivers of the user.
    used: Resources,
    weight: Decimal,
    /// Whether the user has reached the limit on active applications.
    is_full: bool,
}

/// An application is activated earlier if its driver is smaller, and if its user uses less and has a higher weight.
impl Measure for ActivationNeed {
    fn lower(&mut self, other: &Self) {
        self.driver = self.driver.minimum_of_present(&other.driver);
        self.used = self.used.minimum_of_present(&other.used);
        self.weight = self.weight.max(other.weight);
        self.is_full &= other.is_full;
    }
}

/// Waiting applications of a leaf.
#[derive(Clone, Debug, Default)]
struct ActivationQueue {
    alike: BTreeMap<DriverKey, BTreeSet<Place>>,
    /// First application of each entry.
    firsts: MinTree<Place, ActivationNeed>,
    /// First application that the limits of the leaf allow, and the ancestor queue that blocks it, if any.
    next: Option<(Place, Option<QueueId>)>,
}

/// All applications that wait for activation.
#[derive(Clone, Debug, Default)]
pub(super) struct Activation {
    waiting: BTreeMap<ApplicationId, Waiting>,
    lines: BTreeMap<QueueId, ActivationQueue>,
    /// Leaves in which applications of a user wait, with their number.
    by_user: BTreeMap<(PartitionId, Name), BTreeMap<QueueId, u32>>,
    /// Leaves whose next application can have changed.
    moved: BTreeSet<QueueId>,
    /// Applications that already have an allocation, and are therefore activated at once.
    begun: BTreeSet<ApplicationId>,
    /// Next application of each leaf that no ancestor queue blocks, as of the last check.
    ready: BTreeSet<(Place, QueueId)>,
    /// Next applications that a full queue blocks, by that queue.
    full: BTreeMap<QueueId, BTreeSet<(Place, QueueId)>>,
}

impl Activation {
    /// Adds an ask of a waiting application.
    fn add(&mut self, books: &Books, id: AllocationId, ask: &Allocation) {
        let waiting = self.waiting.entry(ask.application).or_default();
        waiting.change(books, id, ask, true);
        self.place_in_line(books, ask.application);
    }

    /// Removes an ask of an application. The books still have the ask.
    fn remove(&mut self, books: &Books, id: AllocationId, ask: &Allocation) {
        if let Some(waiting) = self.waiting.get_mut(&ask.application) {
            waiting.change(books, id, ask, false);
            self.place_in_line(books, ask.application);
        }
    }

    /// Updates the position of an application after its asks changed.
    fn place_in_line(&mut self, books: &Books, application: ApplicationId) {
        let Some(waiting) = self.waiting.get_mut(&application) else { return };
        let row = books.application(application);
        let after = waiting.first(books).map(|(key, driver)| {
            let (priority, submitted, number) =
                (Reverse(key.priority()), row.submitted, row.number);
            let place = Place { priority, submitted, number, application };
            (place, DriverKey { user: row.user.clone(), driver: driver.iter().collect() })
        });
        let (is_there, before) = (after.is_some(), waiting.stands.clone());
        if before != after {
            waiting.stands.clone_from(&after);
            if let Some((place, alike)) = before {
                self.leave(books, row.queue, place, &alike);
            }
            if let Some((place, alike)) = after {
                self.join(books, row.queue, place, &alike);
            }
        }
        if !is_there {
            self.waiting.remove(&application);
        }
    }

    fn join(&mut self, books: &Books, leaf: QueueId, place: Place, alike: &DriverKey) {
        let partition = books.queue(leaf).partition;
        let of_user = self.by_user.entry((partition, alike.user.clone())).or_default();
        *of_user.entry(leaf).or_default() += 1;
        let line = self.lines.entry(leaf).or_default();
        let all = line.alike.entry(alike.clone()).or_default();
        let first = all.first().copied();
        all.insert(place);
        if first.is_none_or(|first| place < first) {
            if let Some(first) = first {
                line.firsts.remove(&first);
            }
            line.firsts.insert(place, need(books, leaf, alike));
        }
        self.moved.insert(leaf);
    }

    fn leave(&mut self, books: &Books, leaf: QueueId, place: Place, alike: &DriverKey) {
        let user = (books.queue(leaf).partition, alike.user.clone());
        if let Some(leaves) = self.by_user.get_mut(&user) {
            if let Some(count) = leaves.get_mut(&leaf) {
                *count -= 1;
            }
            leaves.retain(|_, count| *count > 0);
            if leaves.is_empty() {
                self.by_user.remove(&user);
            }
        }
        let Some(line) = self.lines.get_mut(&leaf) else { return };
        let Some(all) = line.alike.get_mut(alike) else { return };
        if all.first() == Some(&place) {
            line.firsts.remove(&place);
            all.pop_first();
            match all.first() {
                Some(next) => drop(line.firsts.insert(*next, need(books, leaf, alike))),
                None => drop(line.alike.remove(alike)),
            }
        } else {
            all.remove(&place);
        }
        self.moved.insert(leaf);
    }

    /// Checks a user again after the number of their active applications changed.
    fn user_changed(&mut self, books: &Books, partition: PartitionId, user: &Name) {
        let leaves = self.by_user.get(&(partition, user.clone()));
        for leaf in leaves.into_iter().flat_map(BTreeMap::keys) {
            let Some(line) = self.lines.get_mut(leaf) else { continue };
            let first = DriverKey { user: user.clone(), driver: SmallVec::new() };
            let of_user = line.alike.range(first..).take_while(|(alike, _)| alike.user == *user);
            for (alike, all) in of_user {
                if let Some(place) = all.first() {
                    line.firsts.set(place, need(books, *leaf, alike));
                }
            }
            self.moved.insert(*leaf);
        }
    }

    /// Checks the next application that waits for a queue, after the number of active applications in the queue
    /// decreased.
    fn queue_gave_way(&mut self, books: &Books, queue: QueueId) {
        let row = books.queue(queue);
        if max_parallel(row).is_some_and(|max| row.activated >= max) {
            return;
        }
        let Some(aside) = self.full.get_mut(&queue) else { return };
        if let Some((place, leaf)) = aside.pop_first() {
            self.ready.insert((place, leaf));
            if let Some(line) = self.lines.get_mut(&leaf) {
                line.next = Some((place, None));
            }
        }
        if self.full.get(&queue).is_some_and(BTreeSet::is_empty) {
            self.full.remove(&queue);
        }
    }

    /// Updates the next application of a leaf.
    fn look_at(&mut self, books: &Books, leaf: QueueId) {
        let Some(line) = self.lines.get_mut(&leaf) else { return };
        let next = line.next(books, leaf);
        let before = line.next.take();
        line.next = next.map(|next| (next, None));
        if line.alike.is_empty() {
            self.lines.remove(&leaf);
        }
        match before {
            Some((place, None)) => drop(self.ready.remove(&(place, leaf))),
            Some((place, Some(queue))) => {
                if let Some(aside) = self.full.get_mut(&queue) {
                    aside.remove(&(place, leaf));
                    if aside.is_empty() {
                        self.full.remove(&queue);
                    }
                }
            }
            None => {}
        }
        self.ready.extend(next.map(|next| (next, leaf)));
        // A queue that gains capacity wakes only the first application that waits for it. The former next application
        // can have left that wake-up unused, so pass it on.
        if books.queues().get(leaf).is_some() {
            for (above, _) in books.up(leaf) {
                self.queue_gave_way(books, above);
            }
        }
    }

    /// Returns the next application to activate.
    fn next(&mut self, books: &Books) -> Option<ApplicationId> {
        if let Some(begun) = self.begun.first() {
            return Some(*begun);
        }
        while let Some(leaf) = self.moved.pop_first() {
            self.look_at(books, leaf);
        }
        while let Some((place, leaf)) = self.ready.first().copied() {
            let Some(queue) = full_queue(books, leaf) else { return Some(place.application) };
            self.ready.pop_first();
            if let Some(line) = self.lines.get_mut(&leaf) {
                line.next = Some((place, Some(queue)));
            }
            self.full.entry(queue).or_default().insert((place, leaf));
            // The application cannot use the wake-up of these queues, so pass it on.
            for (above, _) in books.up(leaf) {
                self.queue_gave_way(books, above);
            }
        }
        None
    }
}

impl Waiting {
    fn change(&mut self, books: &Books, id: AllocationId, ask: &Allocation, is_there: bool) {
        let key = AskKey::of(ask);
        let lists = [Some(&mut self.asks), ask.originator.then_some(&mut self.originators)];
        for list in lists.into_iter().flatten() {
            if is_there {
                list.insert(key, id);
            } else {
                list.remove(&key);
            }
        }
        let gang = books.application(ask.application).gang.as_ref();
        let first = gang.and_then(|gang| gang.groups.first());
        if ask.placeholder && first.is_some_and(|group| ask.task_group() == Some(&group.name)) {
            let size = books.resources_of(id);
            if is_there {
                self.places.add(size);
                self.place_count += 1;
            } else {
                self.places.subtract(size);
                self.place_count -= 1;
            }
            self.places.prune();
        }
    }

    /// Returns the first ask and the amounts that the driver would count as. See [`driver_of`].
    fn first<'a>(&'a self, books: &'a Books) -> Option<(AskKey, &'a Resources)> {
        let (key, ask) = self.asks.first_key_value()?;
        let driver = match self.originators.first_key_value() {
            Some((_, originator)) => books.resources_of(*originator),
            None if self.place_count > 0 => &self.places,
            None => books.resources_of(*ask),
        };
        Some((*key, driver))
    }
}

impl ActivationQueue {
    /// Returns the first application that the limits of the leaf allow.
    fn next(&self, books: &Books, leaf: QueueId) -> Option<Place> {
        let head_check = Gate::of(books, leaf)?;
        let mut limits: SmallVec<[(Decimal, Option<Resources>); 1]> = SmallVec::new();
        let will_do = |need: &ActivationNeed| {
            if need.is_full || !head_check.leaves_room(&need.driver) {
                return false;
            }
            let known = limits.iter().position(|(weight, _)| *weight == need.weight);
            let known = known.unwrap_or_else(|| {
                limits.push((need.weight, head_check.of_user(need.weight)));
                limits.len() - 1
            });
            head_check.admits(limits[known].1.as_ref(), &need.used, &need.driver)
        };
        self.firsts.first(will_do).copied()
    }
}

fn need(books: &Books, leaf: QueueId, alike: &DriverKey) -> ActivationNeed {
    let drivers = books.drivers_of(leaf);
    let used = drivers.and_then(|drivers| drivers.user(&alike.user)).map(|user| user.used.clone());
    ActivationNeed {
        driver: alike.driver.iter().copied().collect(),
        used: used.unwrap_or_default(),
        weight: weight(books, leaf, &alike.user),
        is_full: is_user_full(books, leaf, &alike.user),
    }
}

impl Scheduler {
    /// Activates the next application. Returns whether one was activated.
    pub(super) fn activate(&mut self, books: &Books, events: &mut Vec<Event>) -> bool {
        let Some(next) = self.activation.next(books) else { return false };
        let driver = driver_of(books, next).unwrap_or_default();
        // The activation charges the user, so the application is linked to its trackers first.
        events.extend(linked(books, next));
        events.push(activated(books, next, &driver));
        true
    }

    /// Adds an ask if its application waits for activation.
    pub(super) fn waits_to_start(&mut self, books: &Books, id: AllocationId, ask: &Allocation) {
        if books.waits_for_activation(ask.application) {
            self.activation.add(books, id, ask);
        }
    }

    /// Removes an ask that is about to leave or change.
    pub(super) fn waits_no_more(&mut self, books: &Books, id: AllocationId, ask: &Allocation) {
        if !self.activation.waiting.is_empty() {
            self.activation.remove(books, id, ask);
        }
    }

    /// Records whether an application that was not activated has allocations. Such an application is activated at once.
    pub(super) fn note_begun(&mut self, books: &Books, application: ApplicationId) {
        if books.waits_for_activation(application) && has_begun(books, application) {
            self.activation.begun.insert(application);
        } else {
            self.activation.begun.remove(&application);
        }
    }

    /// Updates [`Self::note_begun`] for the application of an event.
    #[inline]
    pub(super) fn note_seen(&mut self, books: &Books, seen: &BeforeEvent) {
        if let Some(application) = seen.application.filter(|_| books.counts_applications()) {
            self.note_begun(books, application);
        }
    }

    /// Removes an application that was activated.
    pub(super) fn was_activated(&mut self, books: &Books, application: ApplicationId) {
        let row = books.application(application);
        self.activation.begun.remove(&application);
        let before = self.activation.waiting.remove(&application);
        if let Some((place, alike)) = before.and_then(|waiting| waiting.stands) {
            self.activation.leave(books, row.queue, place, &alike);
        }
        self.activation.user_changed(books, row.partition, &row.user);
        self.activation.moved.insert(row.queue);
        self.restand(books, application);
    }

    /// Updates the index after an application of this user left a leaf.
    pub(super) fn activation_gave_way(
        &mut self,
        books: &Books,
        (partition, user): (PartitionId, &Name),
        leaf: QueueId,
    ) {
        if self.activation.waiting.is_empty() {
            return;
        }
        self.activation.user_changed(books, partition, user);
        self.activation.moved.insert(leaf);
        let mut next = Some(leaf);
        while let Some(queue) = next {
            self.activation.queue_gave_way(books, queue);
            next = books.queue(queue).parent;
        }
    }

    /// Checks a leaf again after its size or its rules for users changed.
    pub(super) fn activation_moved(&mut self, leaf: QueueId) {
        if self.activation.lines.contains_key(&leaf) {
            self.activation.moved.insert(leaf);
        }
    }

    /// Checks all leaves again after the size of the cluster changed.
    pub(super) fn activation_resized(&mut self) {
        let Activation { lines, moved, .. } = &mut self.activation;
        moved.extend(lines.keys());
    }
}
