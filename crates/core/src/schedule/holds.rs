//! Holds: capacity of queues that is held for asks that waited too long. Source: no-starvation NS-20, NS-21, decision
//! page 51.
//!
//! An ask that has waited for capacity of its queues for longer than `starvation.after` is a *candidate* at the queue
//! that refuses it. When nothing else moves, the first candidate of a queue gets a hold, unless a queue on its path
//! holds capacity for another ask. To find the first candidate, the search descends from that queue to the child with
//! the lowest fair share. In the leaf, the candidate that waited longest is first. Priorities and the order of the leaf
//! are not used, because urgent asks, or an application that never stops requesting, could stay first forever. A gang
//! that gathers precedes all others, so that it gathers no longer than necessary.
//!
//! A hold does not delay asks that are within the guarantee of their queue. Otherwise, they would preempt allocations
//! while the held capacity is free, and would later preempt the ask of the hold.
//!
//! Cost: logarithmic for each class that is parked or woken. A choice costs the leaves with candidates in the subtree
//! of its queue. Queues without new candidates are not checked until a hold ends.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::{Allocation, Books, Hold, PartitionSettings};
use crate::event::{AskEvent, Event};
use crate::id::{AllocationId, QueueId};
use crate::resource::{Resources, Share};
use crate::time::{Millis, Timestamp};
use crate::wait::{Blocker, Wait};

use super::Scheduler;
use super::checks::wait_for_charge;
use super::class::{ClassId, ClassKey, GangPart};

/// Position of a class that waits for a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    /// Queue that refuses the class.
    level: QueueId,
    leaf: QueueId,
    /// Creation time and number of its first ask. Time 0 for an ask that precedes the others of its leaf: it replaces a
    /// lost member of a gang, or its gang gathers.
    since: (Timestamp, i64),
    /// Earliest time of a hold.
    due: Timestamp,
}

/// Candidates of one leaf at one queue, the longest wait first.
type OfLeaf = BTreeSet<((Timestamp, i64), ClassId)>;

/// Holds and their candidates.
#[derive(Clone, Debug, Default)]
pub(super) struct Holds {
    /// Whether a partition enables holds, or holds still exist.
    is_on: bool,
    /// Classes that were parked or woken, or whose first ask changed, since the last update.
    changed: Vec<ClassId>,
    classes: BTreeMap<ClassId, Candidate>,
    /// Classes that have not waited long enough.
    waiting: BTreeSet<(Timestamp, ClassId)>,
    /// Classes that have waited long enough, by the queue that refuses them.
    ready: BTreeMap<QueueId, BTreeMap<QueueId, OfLeaf>>,
    /// Queues with a new candidate since their last check, or all queues after the end of a hold.
    open: BTreeSet<QueueId>,
    /// Times at which holds end if their asks have not started.
    ends: BTreeSet<(Timestamp, AllocationId)>,
}

impl Holds {
    /// Records that a class was parked, woken, or removed, or that its first ask changed.
    #[inline]
    pub(super) fn note(&mut self, class: ClassId) {
        if self.is_on {
            self.changed.push(class);
        }
    }

    /// Returns the next time at which the candidates or holds can change.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let (waiting, ends) = (self.waiting.first(), self.ends.first());
        waiting.map(|(at, _)| *at).into_iter().chain(ends.map(|(at, _)| *at)).min()
    }

    fn insert(&mut self, class: ClassId, candidate: Candidate, now: Timestamp) {
        self.classes.insert(class, candidate);
        if candidate.due > now {
            self.waiting.insert((candidate.due, class));
        } else {
            self.make_ready(class, candidate);
        }
    }

    fn make_ready(&mut self, class: ClassId, candidate: Candidate) {
        let Candidate { level, leaf, since, .. } = candidate;
        self.ready.entry(level).or_default().entry(leaf).or_default().insert((since, class));
        self.open.insert(level);
    }

    fn remove(&mut self, class: ClassId) {
        let Some(candidate) = self.classes.remove(&class) else { return };
        let Candidate { level, leaf, since, due } = candidate;
        if self.waiting.remove(&(due, class)) {
            return;
        }
        let Some(leaves) = self.ready.get_mut(&level) else { return };
        if let Some(classes) = leaves.get_mut(&leaf) {
            classes.remove(&(since, class));
            if classes.is_empty() {
                leaves.remove(&leaf);
            }
        }
        if leaves.is_empty() {
            self.ready.remove(&level);
        }
    }

    /// Returns the first candidate of a leaf at a queue.
    fn first_of(&self, (level, leaf): (QueueId, QueueId)) -> Option<ClassId> {
        self.ready.get(&level)?.get(&leaf)?.first().map(|(_, class)| *class)
    }

    /// Returns whether a class is a candidate of a leaf at a queue.
    fn is_ready(&self, class: ClassId, (level, leaf): (QueueId, QueueId)) -> bool {
        let of_leaf = self.ready.get(&level).and_then(|leaves| leaves.get(&leaf));
        let candidate = self.classes.get(&class);
        candidate.zip(of_leaf).is_some_and(|(one, all)| all.contains(&(one.since, class)))
    }

    /// Makes the classes ready that have waited long enough.
    fn ripen(&mut self, now: Timestamp) {
        while let Some((_, class)) = self.waiting.first().copied().filter(|(at, _)| *at <= now) {
            self.waiting.pop_first();
            let candidate = self.classes[&class];
            self.make_ready(class, candidate);
        }
    }
}

/// Result of a step of the holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HoldStep {
    /// A hold began or ended.
    Moved,
    /// Some candidates now fail another check, and must be checked again.
    Woken,
    /// Nothing changed.
    Nothing,
}

/// Returns the wait if a queue on the path of the class holds capacity for another ask, and there is not enough for
/// both.
pub(super) fn behind_hold(books: &Books, key: ClassKey) -> Option<Wait> {
    beside_hold(books, key, &key.needs(books))
}

/// Returns the same wait for a specific request of the class.
pub(super) fn beside_hold(books: &Books, key: ClassKey, request: &Resources) -> Option<Wait> {
    if !books.has_holds() || has_own_room(books, key) {
        return None;
    }
    books.up(key.leaf).find_map(|(queue, _)| {
        let held = books.held_for(queue).filter(|held| !is_of_class(books, *held, key))?;
        let is_short = books.shortfall_beside(queue, held, request).is_some();
        let waits = is_short && !books.is_guaranteed_beside((key.leaf, queue), held, request);
        waits.then(|| Wait::of(Blocker::Held(queue)))
    })
}

/// Returns whether allocations were preempted for the single ask of a class. The capacity of its victims is for that
/// ask only.
fn has_own_room(books: &Books, key: ClassKey) -> bool {
    let ask = key.mode.single_ask();
    ask.is_some_and(|ask| books.allocation(ask).preemption_triggered)
}

/// Returns whether an ask is equal to the asks of a class, which are checked as one with it.
fn is_of_class(books: &Books, ask: AllocationId, key: ClassKey) -> bool {
    let row = books.allocation(ask);
    let application = books.application(row.application);
    row.shape == key.shape && application.queue == key.leaf && application.link == key.link()
}

/// State of a hold before an event that can end it.
#[derive(Clone, Debug)]
pub(super) struct HoldBefore {
    ask: AllocationId,
    hold: Hold,
    queues: Vec<QueueId>,
    ends_at: Timestamp,
}

/// Returns the hold of the ask of an event.
#[inline]
pub(super) fn hold_before(books: &Books, ask: AllocationId) -> Option<Box<HoldBefore>> {
    let hold = books.allocation(ask).hold()?;
    let (queues, ends_at) = (books.holding(ask, hold.top).collect(), books.hold_ends_at(ask, hold));
    Some(Box::new(HoldBefore { ask, hold, queues, ends_at }))
}

impl Scheduler {
    /// Finds the existing holds and the partitions that enable holds.
    pub(super) fn find_holds(&mut self, books: &Books) {
        let gives = |settings: &PartitionSettings| settings.starvation_after > Millis::ZERO;
        self.holds.is_on =
            books.has_holds() || books.partitions().values().any(|row| gives(&row.settings));
        let held: BTreeSet<AllocationId> = books.holds().map(|(_, ask)| ask).collect();
        for ask in held {
            self.watch_hold(books, ask);
        }
    }

    /// Returns whether the rules allow the hold of these events to begin or end now.
    ///
    /// Followers of a journal use this check. Which ask gets a hold depends on the reasons for which asks were parked,
    /// and a scheduler that started later can have other reasons.
    pub fn allows_hold(books: &Books, now: Timestamp, events: &[Event]) -> bool {
        let [Event::Ask(event)] = events else { return false };
        let (ask, top) = match event {
            AskEvent::Held { ask, top } => (*ask, Some(*top)),
            AskEvent::HoldEnded { ask } => (*ask, None),
            AskEvent::Added { .. }
            | AskEvent::Removed { .. }
            | AskEvent::Placed { .. }
            | AskEvent::Reserved { .. }
            | AskEvent::Unreserved { .. }
            | AskEvent::Asked { .. }
            | AskEvent::Answered { .. }
            | AskEvent::PreemptionTriggered { .. }
            | AskEvent::PreemptionTried { .. }
            | AskEvent::ScaleUpAsked { .. } => return false,
        };
        let Some(row) = books.allocations().get(ask).filter(|row| row.is_pending()) else {
            return false;
        };
        let application = books.application(row.application);
        let after = books.partition(application.partition).settings.starvation_after;
        let Some(top) = top else {
            return row.hold().is_some_and(|hold| books.hold_ends_at(ask, hold) <= now);
        };
        after > Millis::ZERO
            && books.hold_due_at(ask) <= now
            && highest_full(books, application.queue, &books.total_request(ask)) == Some(top)
            && is_free_for(books, ask, top)
    }

    pub(super) fn watch_hold(&mut self, books: &Books, ask: AllocationId) {
        if let Some(hold) = books.allocation(ask).hold() {
            self.holds.ends.insert((books.hold_ends_at(ask, hold), ask));
        }
    }

    /// Follows the effect of an event on the hold of its ask.
    pub(super) fn follow_hold(&mut self, books: &Books, before: &HoldBefore) {
        let HoldBefore { ask, hold, ref queues, ends_at } = *before;
        self.holds.ends.remove(&(ends_at, ask));
        let waits = books.allocations().get(ask).filter(|row| row.is_pending());
        if waits.is_some() {
            self.watch_hold(books, ask);
            // After its hold, the ask counts as if its wait began now.
            self.holds.changed.extend(self.class_of(books, ask));
        }
        // A hold that grew still holds the same capacity. The hold of a resized ask can hold less.
        if waits.and_then(Allocation::hold).is_none_or(|now| now == hold) {
            for queue in queues {
                self.parked.open(&mut self.tree, Blocker::Held(*queue), |_| true);
            }
            self.holds.open.extend(self.holds.ready.keys().copied());
        }
    }

    /// Wakes asks after a queue with a hold gained capacity, if they leave enough for the ask of the hold.
    pub(super) fn hold_gave_way(&mut self, books: &Books, queue: QueueId) {
        let Some(held) = books.held_for(queue) else { return };
        let fits = |(shape, members): (_, u32)| {
            let request = books.shapes().times(shape, members.max(1));
            books.shortfall_beside(queue, held, &request).is_none()
        };
        self.parked.open(&mut self.tree, Blocker::Held(queue), fits);
    }

    /// Wakes asks that are within the guarantee of a queue again, after its usage decreased.
    pub(super) fn guarantee_gave_way(&mut self, books: &Books, queue: QueueId) {
        if !books.has_holds() || books.queue(queue).guaranteed.is_none() {
            return;
        }
        for (above, _) in books.up(queue).skip(1) {
            let Some(held) = books.held_for(above) else { continue };
            let fits = |(shape, members): (_, u32)| {
                let request = books.shapes().times(shape, members.max(1));
                books.is_within_guarantee(queue, held, &request)
            };
            self.parked.open(&mut self.tree, Blocker::Held(above), fits);
        }
    }

    /// Begins or ends a hold. The caller has checked that nothing else moves.
    pub(super) fn step_holds(
        &mut self,
        books: &Books,
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> HoldStep {
        if !self.holds.is_on {
            return HoldStep::Nothing;
        }
        self.look_at_changed(books, now);
        self.holds.ripen(now);
        if let Some((_, ask)) = self.holds.ends.first().copied().filter(|(at, _)| *at <= now) {
            events.push(Event::Ask(AskEvent::HoldEnded { ask }));
            return HoldStep::Moved;
        }
        let mut step = HoldStep::Nothing;
        while let Some(level) = self.holds.open.first().copied() {
            if let Some((ask, top)) = self.choose(books, level, &mut step) {
                events.push(Event::Ask(AskEvent::Held { ask, top }));
                return HoldStep::Moved;
            }
            self.holds.open.remove(&level);
        }
        step
    }

    fn look_at_changed(&mut self, books: &Books, now: Timestamp) {
        for class in core::mem::take(&mut self.holds.changed) {
            let after = self.candidate(books, class);
            if self.holds.classes.get(&class) == after.as_ref() {
                continue;
            }
            self.holds.remove(class);
            if let Some(after) = after {
                self.holds.insert(class, after, now);
            }
        }
    }

    /// Returns the class as a candidate. `None` if it waits for another reason, or if its partition does not enable
    /// holds.
    fn candidate(&self, books: &Books, class: ClassId) -> Option<Candidate> {
        let row = self.classes.rows.get(class)?;
        let Blocker::QueueMax(level) = row.wait?.blocker else { return None };
        let leaf = row.key.leaf;
        let after = books.partition(books.queue(leaf).partition).settings.starvation_after;
        if after == Millis::ZERO || row.batches.is_empty() {
            return None;
        }
        let (application, first) = self.first_ask(class);
        let ask = books.allocation(first);
        let gathers = row.key.gang_part == GangPart::Gathers;
        let is_first = gathers || books.application(application).repairs_gang();
        let since = if is_first { Timestamp::ZERO } else { ask.waits_for_hold_since() };
        let due = books.hold_due_at(first);
        Some(Candidate { level, leaf, since: (since, ask.number), due })
    }

    /// Chooses the ask that gets a hold at a queue, and the highest queue of the hold.
    fn choose(
        &mut self,
        books: &Books,
        level: QueueId,
        step: &mut HoldStep,
    ) -> Option<(AllocationId, QueueId)> {
        let leaves = self.holds.ready.get(&level).into_iter().flat_map(BTreeMap::keys);
        let mut first: Option<(HoldOrder, (AllocationId, QueueId))> = None;
        for leaf in leaves.copied().collect::<Vec<_>>() {
            let Some((gathers, since, found)) = self.choose_in_leaf(books, (level, leaf), step)
            else {
                continue;
            };
            let below = books.up_to(leaf, level).filter(|queue| *queue != level);
            let mut shares: Vec<Share> =
                below.map(|queue| self.tree.key_of(books, queue).share()).collect();
            shares.reverse();
            let order = (!gathers, shares, since);
            if first.as_ref().is_none_or(|(before, _)| order < *before) {
                first = Some((order, found));
            }
        }
        first.map(|(_, found)| found)
    }

    /// Chooses in one leaf. Also returns the position of the ask among the candidates. Removes candidates that now fail
    /// another check.
    fn choose_in_leaf(
        &mut self,
        books: &Books,
        (level, leaf): (QueueId, QueueId),
        step: &mut HoldStep,
    ) -> Option<Chosen> {
        // If an ask of this leaf already has a hold, only that hold can grow.
        let owner = books.up_to(leaf, level).find_map(|queue| books.held_for(queue));
        loop {
            let class = match owner {
                Some(owner) => self.class_of(books, owner)?,
                None => self.holds.first_of((level, leaf))?,
            };
            let (_, ask) = self.first_ask(class);
            let is_owned = owner.is_some_and(|owner| owner != ask);
            if is_owned || !self.holds.is_ready(class, (level, leaf)) {
                return None;
            }
            let key = self.classes.rows[class].key;
            let wait = wait_for_charge(books, key).map(|wait| wait.blocker);
            let Some(Blocker::QueueMax(_)) = wait else {
                self.judge_again(books, class, false);
                self.holds.remove(class);
                *step = HoldStep::Woken;
                continue;
            };
            if self.impossible(books, class).is_some() {
                self.holds.remove(class); // It is judged again when it may be possible.
                continue;
            }
            let top = highest_full(books, leaf, &key.needs(books))?;
            let hold = books.allocation(ask).hold();
            let grows = hold.is_none_or(|hold| is_above(books, top, hold.top));
            // An ancestor queue can hold capacity for another ask. That hold also applies to equal asks, so this ask
            // cannot take it.
            let gathers = key.gang_part == GangPart::Gathers;
            let since = self.holds.classes[&class].since;
            return (grows && is_free_for(books, ask, top)).then_some((gathers, since, (ask, top)));
        }
    }
}

/// Order in which asks of separate leaves get a hold: first a gang that gathers, then the shares of the queues on their
/// paths, then the longest wait. Priorities do not count: urgent asks of one queue would precede all asks of another
/// forever. With each placeholder that a gang gathers, the share of its queue grows. Without precedence, the asks of the
/// other queues would take what the gang still needs.
type HoldOrder = (bool, Vec<Share>, (Timestamp, i64));

/// First candidate of a leaf: whether its gang gathers, its position among the candidates, the ask, and the highest queue
/// of its hold.
type Chosen = (bool, (Timestamp, i64), (AllocationId, QueueId));

/// Returns the highest queue from the leaf to the root that does not allow the request.
fn highest_full(books: &Books, leaf: QueueId, request: &Resources) -> Option<QueueId> {
    let full = books.up(leaf).filter(|(_, row)| row.shortfall(request).is_some());
    full.last().map(|(queue, _)| queue)
}

/// Returns whether no queue from the leaf of the ask to `top` holds capacity for another ask.
fn is_free_for(books: &Books, ask: AllocationId, top: QueueId) -> bool {
    books.holding(ask, top).all(|queue| books.held_for(queue).is_none_or(|held| held == ask))
}

/// Returns whether `queue` is an ancestor of `below`.
fn is_above(books: &Books, queue: QueueId, below: QueueId) -> bool {
    queue != below && books.up(below).any(|(one, _)| one == queue)
}
