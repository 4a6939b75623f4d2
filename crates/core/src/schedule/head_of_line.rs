//! Head of line of leaves: finds the first ask in line, and checks which asks can overtake it. Source: tenants §8,
//! decision page 29.
//!
//! In a leaf whose policy has a line, the *head* is the first waiting ask that could ever run. With `fifo-strict`, no
//! other ask uses capacity that the head lacks in queues, in the cluster, or on nodes
//! ([`behind_head`](super::behind_head)). With the other policies, a limited number of asks can overtake. Capacity
//! beyond the needs of the head is free for all asks.
//!
//! The line has the first class of each parked group. So the head is found without a search of the asks behind it,
//! regardless of their number.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::Books;
use crate::config::ApplicationOrder;
use crate::event::{ApplicationEvent, Event};
use crate::id::{AllocationId, ApplicationId, QueueId};
use crate::time::{Millis, Timestamp};
use crate::wait::{Blocker, Wait};

use super::Scheduler;
use super::behind_head::{BehindHeads, HeadNeeds, Taken, Wants};
use super::class::{ClassId, ClassKey, Head};
use super::class_list::ClassPosition;
use super::placement_mode::PlacementMode;
use super::reservation_candidates::SchedulerTimer;

/// Result of the check of a class against the head of line.
#[derive(Clone, Debug)]
pub(super) enum HeadCheck {
    /// The class is the head, or uses nothing that the head needs.
    Open,
    /// The class can start and overtakes the head, an ask of this application.
    Overtakes(ApplicationId),
    /// The class stays behind the head, from which it would take this capacity.
    Blocked(Taken),
}

impl HeadCheck {
    /// The event that an application that starts overtakes the head, if it does.
    pub(super) const fn overtaken(&self, by: ApplicationId) -> Option<Event> {
        match *self {
            Self::Overtakes(application) => {
                let by = Some(by);
                Some(Event::Application(ApplicationEvent::Overtaken { application, by }))
            }
            Self::Open | Self::Blocked(_) => None,
        }
    }
}

/// Lines of all leaves that have one.
#[derive(Clone, Debug, Default)]
pub(super) struct HeadsOfLine {
    /// First class of each parked group, in the order of the leaf.
    leaves: BTreeMap<QueueId, BTreeSet<ClassPosition>>,
    /// Heads as of their last update.
    heads: BTreeMap<QueueId, ClassPosition>,
    /// Conditions that wake asks behind the heads.
    pub(super) behind: BehindHeads,
    /// Leaves whose head can have changed.
    moved: Vec<QueueId>,
    /// Leaves whose head changed, while the scheduler watches.
    led: BTreeSet<QueueId>,
}

impl HeadsOfLine {
    /// Replaces the class of a group in the line. `known` is the current one, `after` the new one, or `None`.
    pub(super) fn replace(
        &mut self,
        leaf: QueueId,
        known: &mut Option<ClassPosition>,
        after: Option<&ClassPosition>,
    ) {
        let after = after.map(|(head, class)| (line_position(head), *class));
        if *known == after {
            return;
        }
        let line = self.leaves.entry(leaf).or_default();
        let head = self.heads.get(&leaf);
        // Classes before the head are impossible. A new one there can be possible.
        let leads = |place: &ClassPosition| head.is_none_or(|head| place <= head);
        if known.as_ref().is_some_and(leads) || after.as_ref().is_some_and(leads) {
            self.moved.push(leaf);
        }
        if let Some(before) = known.take() {
            line.remove(&before);
        }
        line.extend(after.clone());
        *known = after;
        if line.is_empty() {
            self.leaves.remove(&leaf);
        }
    }

    /// Returns whether the class is the head. Nodes are reserved for the head only.
    pub(super) fn is_head(&self, leaf: QueueId, class: ClassId) -> bool {
        self.heads.get(&leaf).is_some_and(|(_, head)| *head == class)
    }

    /// Returns the leaves with a line.
    pub(super) fn leaves(&self) -> impl Iterator<Item = QueueId> {
        self.leaves.keys().copied()
    }

    /// Marks all heads as out of date after the size of the cluster or of queues changed.
    pub(super) fn all_moved(&mut self) {
        self.moved.extend(self.leaves.keys());
    }

    /// Returns empty lines for rebuilt indexes. All heads are searched again and reported to watchers.
    pub(super) fn renewed(self) -> Self {
        let led = self.heads.into_keys().chain(self.led).collect();
        Self { led, ..Self::default() }
    }
}

/// Returns the position of a class in line, which ignores whether its reserved node has enough free capacity.
fn line_position(head: &Head) -> Head {
    Head { elsewhere: false, ..head.clone() }
}

impl Scheduler {
    /// Checks a class against the head of line of its leaf.
    pub(super) fn head_check(&self, books: &Books, class: ClassId, now: Timestamp) -> HeadCheck {
        let row = &self.classes.rows[class];
        if !row.key.is_checked_against_head() {
            return HeadCheck::Open;
        }
        let leaf = row.key.leaf;
        let Some((head, first)) = self.head_of(leaf) else { return HeadCheck::Open };
        let is_behind = row.head.as_ref().is_some_and(|place| line_position(place) > *head);
        if *first == class || !is_behind {
            return HeadCheck::Open;
        }
        self.behind_this(books, &self.head_needs(books, *first), &row.key.wants(books), now)
    }

    /// Checks asks behind a head.
    fn behind_this(
        &self,
        books: &Books,
        head: &HeadNeeds<'_>,
        wants: &Wants<'_>,
        now: Timestamp,
    ) -> HeadCheck {
        let Some(taken) = head.lose(books, &self.nodes[&head.partition], wants) else {
            return HeadCheck::Open;
        };
        let values = &books.queue(head.leaf).settings.values;
        let is_strict = values.application_order == ApplicationOrder::FifoStrict;
        if is_strict || books.application(head.application).holds(&values.line, now) {
            HeadCheck::Blocked(taken)
        } else {
            HeadCheck::Overtakes(head.application)
        }
    }

    /// Returns the needs of a head of this class.
    fn head_needs<'books>(&self, books: &'books Books, head: ClassId) -> HeadNeeds<'books> {
        let (application, _) = self.first_ask(head);
        HeadNeeds::of(books, application, self.classes.rows[head].key)
    }

    /// Returns whether a parked class that is not impossible is the head of its line, or precedes the current one.
    pub(super) fn leads(&self, class: ClassId) -> bool {
        let row = &self.classes.rows[class];
        let head = self.head_of(row.key.leaf);
        let is_behind =
            |first: &Head| row.head.as_ref().is_some_and(|one| line_position(one) > *first);
        head.is_none_or(|(first, one)| *one == class || !is_behind(first))
    }

    /// Returns the head of line of a leaf. Impossible classes are in no line.
    fn head_of(&self, leaf: QueueId) -> Option<&ClassPosition> {
        self.parked.lines.leaves.get(&leaf)?.first()
    }

    /// Returns the wait of an ask that must wait for the head of line. `None` if the ask does not have to.
    pub(super) fn behind_head(
        &self,
        books: &Books,
        class: ClassId,
        ask: AllocationId,
    ) -> Option<Wait> {
        let key = self.classes.rows[class].key;
        if !key.is_checked_against_head() {
            return None;
        }
        let (_, first) = self.head_of(key.leaf)?;
        let (_, head) = self.first_ask(*first);
        let apart = match key.mode {
            // All members of a task are the head together.
            PlacementMode::AllOrNothing(_) => {
                books.allocation(head).application != books.allocation(ask).application
            }
            PlacementMode::AnyNode
            | PlacementMode::MayPreempt(_)
            | PlacementMode::NeedsVerdict(_)
            | PlacementMode::RequiredNode(_)
            | PlacementMode::RequiredNodeAbsent(_)
            | PlacementMode::ReservedNode(_)
            | PlacementMode::ReplacePlaceholder(..)
            | PlacementMode::ReplacePlaceholderAlone(_) => head != ask,
        };
        let head_check = if *first == class && apart {
            self.behind_this(books, &self.head_needs(books, *first), &key.wants(books), self.now)
        } else {
            self.head_check(books, class, self.now)
        };
        let HeadCheck::Blocked(taken) = head_check else { return None };
        Some(taken.wait(key.leaf, Some(head)))
    }

    /// Returns the wait of asks that only the fork `then` has. `None` if the head of line does not block them.
    /// `is_behind` returns whether they are behind an application.
    pub(super) fn behind(
        &self,
        then: &Books,
        key: ClassKey,
        now: Timestamp,
        is_behind: impl Fn(ApplicationId) -> bool,
    ) -> Option<Wait> {
        if self.stale || !key.is_checked_against_head() {
            return None;
        }
        let (head, first) = self.head_of(key.leaf)?;
        let (application, ask) = self.first_ask(*first);
        if !is_behind(application) || self.has_before(key, head, *first) {
            return None;
        }
        let needs = self.head_needs(then, *first);
        let HeadCheck::Blocked(taken) = self.behind_this(then, &needs, &key.wants(then), now)
        else {
            return None;
        };
        Some(taken.wait(key.leaf, Some(ask)))
    }

    /// Returns whether the class already has an ask at or before the head of line. Such an ask is impossible. The asks
    /// of a class are checked together, so the head does not block any of them.
    fn has_before(&self, key: ClassKey, head: &Head, first: ClassId) -> bool {
        let joined = self.classes.known(&self.applications, key).filter(|class| *class != first);
        let place = joined.and_then(|class| self.classes.rows[class].head.as_ref());
        place.is_some_and(|place| line_position(place) <= *head)
    }

    /// Records the conditions that wake a parked class behind the head.
    #[inline]
    pub(super) fn note_behind(&mut self, books: &Books, class: ClassId, wait: Wait) {
        if let Blocker::BehindHead(leaf, _) = wait.blocker
            && let Some((_, head)) = self.head_of(leaf)
        {
            let needs = self.head_needs(books, *head);
            let wants = self.classes.rows[class].key.wants(books);
            let nodes = &self.nodes[&needs.partition];
            if let Some(taken) = needs.lose(books, nodes, &wants) {
                self.note_taken(books, &needs, taken);
            }
        }
    }

    /// Wakes asks behind heads in a queue that gained capacity, as far as the remaining capacity is enough for them.
    #[inline]
    pub(super) fn line_gave_way(&mut self, books: &Books, queue: QueueId) {
        let behind = &mut self.parked.lines.behind;
        if behind.is_empty() {
            return;
        }
        let Some(left) = &books.queue(queue).left else { return };
        for leaf in behind.with_enough(queue, left) {
            self.open_line(books, leaf, false);
        }
    }

    /// Wakes classes behind the head of a leaf: all of them, or those that the conditions allow.
    pub(super) fn open_line(&mut self, books: &Books, leaf: QueueId, all: bool) {
        let mut shapes = self.parked.shapes_behind(leaf);
        if all || shapes.is_empty() {
            self.parked.lines.behind.forget(leaf);
        }
        let head = self.head_of(leaf).map(|(_, class)| *class);
        if let Some(head) = head.filter(|_| !all && !shapes.is_empty()) {
            let (needs, mut blocked) = (self.head_needs(books, head), Vec::new());
            shapes.retain(|shape| {
                let Some(wants) = Wants::of(books, *shape) else { return true };
                match self.behind_this(books, &needs, &wants, self.now) {
                    HeadCheck::Blocked(taken) => {
                        blocked.push(taken);
                        false
                    }
                    HeadCheck::Open | HeadCheck::Overtakes(_) => true,
                }
            });
            for taken in blocked {
                self.note_taken(books, &needs, taken);
            }
        }
        let may_go = |wanted| shapes.binary_search(&wanted).is_ok();
        self.parked.open(&mut self.tree, Blocker::BehindHead(leaf, None), may_go);
    }

    /// Updates the heads of line. A new head lets other asks start and can reserve a node.
    #[inline]
    pub(super) fn follow_lines(&mut self, books: &Books) {
        while let Some(leaf) = self.parked.lines.moved.pop() {
            if self.notes.is_some() {
                self.parked.lines.led.insert(leaf);
            }
            if books.queues().get(leaf).is_none() {
                self.parked.lines.heads.remove(&leaf);
                self.parked.lines.behind.forget(leaf);
                continue;
            }
            self.drop_impossible_heads(books, leaf);
            self.open_line(books, leaf, true);
            let head = self.head_of(leaf).cloned();
            let now = head.as_ref().map(|(_, class)| *class);
            let heads = &mut self.parked.lines.heads;
            let before = match head {
                Some(head) => heads.insert(leaf, head),
                None => heads.remove(&leaf),
            };
            let before = before.map(|(_, class)| class);
            let both = before.into_iter().chain(now.filter(|now| before != Some(*now)));
            for class in both {
                if self.classes.rows.contains_key(class) {
                    self.arm(books, class);
                    self.list_candidate(books, class);
                }
            }
        }
    }

    /// Wakes the first class in line as long as it is impossible. The next check removes it from the line.
    pub(super) fn drop_impossible_heads(&mut self, books: &Books, leaf: QueueId) {
        while let Some((_, class)) = self.head_of(leaf) {
            let class = *class;
            if self.impossible(books, class).is_none() {
                return;
            }
            let group = self.classes.rows[class].group().expect("who stands in a line is parked");
            self.parked.open_group(&mut self.tree, group);
        }
    }

    /// Returns the leaves whose head can have changed since the last call, each with the application of the current
    /// head. Call it after a step, on a scheduler that watches.
    pub fn take_heads(&mut self) -> Vec<(QueueId, Option<ApplicationId>)> {
        let led = core::mem::take(&mut self.parked.lines.led);
        let lives = |(_, class): &&ClassPosition| self.classes.rows.contains_key(*class);
        let head = |leaf| self.parked.lines.heads.get(leaf).filter(lives);
        led.iter().map(|leaf| (*leaf, head(leaf).map(|one| self.first_ask(one.1).0))).collect()
    }

    /// Sets a timer for the next priority step of an application that gains priority by waiting.
    pub(super) fn follow_waiting(&mut self, books: &Books, application: ApplicationId) {
        let row = books.application(application);
        let values = &books.queue(row.queue).settings.values;
        let waiting = &mut self.applications[application.index()];
        let line = &values.line;
        let ages = waiting.key.is_some() && waiting.aged < line.aging_max && line.aging_step > 0;
        let next = ages.then(|| {
            let times = u64::from(waiting.aged.div_ceil(line.aging_step)) + 1;
            let span = line.aging_interval.get().saturating_mul(times);
            row.submitted + Millis::new(span)
        });
        if waiting.ages_at == next {
            return;
        }
        if let Some(before) = core::mem::replace(&mut waiting.ages_at, next) {
            self.timers.remove(&(before, SchedulerTimer::PriorityAged(application)));
        }
        self.timers.extend(next.map(|at| (at, SchedulerTimer::PriorityAged(application))));
    }

    /// Raises the priority of an application that waited long enough.
    pub(super) fn age(&mut self, books: &Books, application: ApplicationId, now: Timestamp) {
        let Some(row) = books.applications().get(application) else { return };
        let waiting = &mut self.applications[application.index()];
        waiting.ages_at = None;
        if waiting.key.is_some() {
            let line = &books.queue(row.queue).settings.values.line;
            waiting.aged = line.aged(now.since(row.submitted));
            self.reorder(books, application, None);
        }
    }
}
