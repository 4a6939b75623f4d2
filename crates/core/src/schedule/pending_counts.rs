//! Counts of waiting asks by reason, maintained for schedulers that watch.
//!
//! A read costs the leaves and their reasons, regardless of the number of waiting asks. A reason is the check under
//! which a class is parked. Only [`Scheduler::wait_of`] finds an earlier check that the class would fail by now.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem;

use crate::books::Books;
use crate::id::{AllocationId, ApplicationId, QueueId, ShapeId};
use crate::resource::{Beyond, Resources};
use crate::time::Timestamp;
use crate::wait::{Blocker, CountedAs, Wait, WaitCode, standstill};

use super::Scheduler;
use super::class::{ClassId, ClassKey};
use super::park::GroupKey;

/// Reason under which waiting asks are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Asks that are ready and will be checked next.
    Turn,
    /// Asks that wait for this blocker, which can block many asks.
    For(Blocker),
    /// Asks that wait for placeholders of their own application.
    Placeholders,
    /// Asks that wait for answers of the RM about themselves.
    Rm,
    /// Asks that wait for nodes that the RM does not reject for them.
    OtherNodes,
    /// Asks that wait for the end of the back-off of their application.
    Pause,
}

/// Sums of waiting asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingSum {
    /// Number of asks.
    pub asks: u64,
    /// Number of applications. An application with asks of several classes counts once for each.
    pub applications: u64,
    /// Sum of the requested amounts.
    pub resources: Resources,
}

/// First ask of a group that waits for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// First ask of the group.
    pub ask: AllocationId,
    /// Number of asks in the group.
    pub asks: u64,
    /// Number of applications in the group.
    pub applications: u64,
}

/// Counts by reason, and asks by age.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingCounts {
    places: BTreeMap<(QueueId, Reason), WaitingSum>,
    /// Overflow of the sums beyond 64 bits.
    beyond: BTreeMap<(QueueId, Reason), Beyond>,
    ages: BTreeMap<QueueId, BTreeSet<(Timestamp, AllocationId)>>,
}

/// Part of a class that is included in the pending counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClassCount {
    reason: Reason,
    asks: usize,
    batches: usize,
}

impl Default for ClassCount {
    fn default() -> Self {
        Self { reason: Reason::Turn, asks: 0, batches: 0 }
    }
}

impl Reason {
    fn of(wait: Option<Wait>) -> Self {
        let Some(wait) = wait else { return Self::Turn };
        match wait.blocker.row().counted_as {
            CountedAs::Subject => Self::For(wait.blocker),
            CountedAs::Placeholders => Self::Placeholders,
            CountedAs::Answers => Self::Rm,
            CountedAs::OtherNodes => Self::OtherNodes,
            CountedAs::Pause => Self::Pause,
        }
    }

    /// Returns the reason that is reported for asks of a leaf with this reason. A reason that stops the whole partition
    /// precedes.
    #[must_use]
    pub fn as_reported(self, books: &Books, leaf: QueueId) -> Self {
        standstill(books, books.queue(leaf).partition).map_or(self, Self::For)
    }

    /// The code under which asks of a leaf wait; none for those that are next.
    pub fn code(self, books: &Books, leaf: QueueId) -> Option<WaitCode> {
        Some(match self {
            Self::Turn => return None,
            Self::For(blocker) => blocker.code(books, leaf),
            Self::Placeholders => WaitCode::GangIncomplete,
            Self::Rm => WaitCode::AwaitingRm,
            Self::OtherNodes => WaitCode::NodeConstraint,
            Self::Pause => WaitCode::Backoff,
        })
    }

    /// Returns the subject, as [`Blocker::subject`]. `None` for ready asks.
    pub fn subject(self, books: &Books) -> Option<String> {
        Some(match self {
            Self::Turn => return None,
            Self::For(blocker) => blocker.subject(books),
            Self::Rm | Self::OtherNodes => String::from("predicates"),
            Self::Placeholders | Self::Pause => String::from("the application itself"),
        })
    }

    /// Returns the lower bound of the groups that are parked for this reason.
    fn first_group(self) -> Option<GroupKey> {
        let blocker = match self {
            Self::Turn => return None,
            Self::For(blocker) => blocker,
            Self::Placeholders => Blocker::Placeholders(ApplicationId::FIRST, 0),
            Self::Rm => Blocker::AwaitingRm(AllocationId::FIRST),
            Self::OtherNodes => Blocker::NodeConstraint(AllocationId::FIRST),
            Self::Pause => Blocker::BackOff(ApplicationId::FIRST),
        };
        Some(GroupKey::first(blocker, ShapeId::FIRST))
    }
}

impl PendingCounts {
    fn change(&mut self, key: ClassKey, amount: &Resources, before: ClassCount, now: ClassCount) {
        for (counted, sign) in [(before, -1), (now, 1)] {
            if counted == ClassCount::default() {
                continue;
            }
            let asks = i64::try_from(counted.asks).unwrap_or(i64::MAX) * sign;
            let batches = i64::try_from(counted.batches).unwrap_or(i64::MAX) * sign;
            let place = (key.leaf, counted.reason);
            let count = self.places.entry(place).or_default();
            count.asks = count.asks.saturating_add_signed(asks);
            count.applications = count.applications.saturating_add_signed(batches);
            let change = amount.times(asks);
            let is_exact = !self.beyond.contains_key(&place)
                && change.iter().all(|(_, one)| one.get().abs() < i64::MAX)
                && count.resources.add_within(&change);
            if !is_exact {
                let beyond = self.beyond.entry(place).or_default();
                beyond.shift(&mut count.resources, amount, asks);
                if beyond.is_empty() {
                    self.beyond.remove(&place);
                }
            }
            if count.asks == 0 && count.applications == 0 {
                self.places.remove(&place);
                self.beyond.remove(&place);
            }
        }
    }

    fn age(&mut self, leaf: QueueId, (created, ask): (Timestamp, AllocationId), waits: bool) {
        if waits {
            self.ages.entry(leaf).or_default().insert((created, ask));
        } else if let Some(ages) = self.ages.get_mut(&leaf) {
            ages.remove(&(created, ask));
            if ages.is_empty() {
                self.ages.remove(&leaf);
            }
        }
    }
}

impl Scheduler {
    /// Returns the number of checks of classes so far. It measures work and does not affect decisions.
    pub const fn judged(&self) -> u64 {
        self.judged
    }

    /// Returns the sums of waiting asks by leaf and reason.
    ///
    /// Empty after a change of the rules until the next step, and for a scheduler that does not watch.
    pub fn pending_counts(&self) -> impl Iterator<Item = (QueueId, Reason, &WaitingSum)> {
        let pending_counts = self.pending_counts.as_ref().filter(|_| !self.is_stale());
        let places = pending_counts.into_iter().flat_map(|pending_counts| &pending_counts.places);
        places.map(|((leaf, reason), count)| (*leaf, *reason, count))
    }

    /// Returns the creation time of the oldest waiting ask of each leaf. Empty in the same cases as
    /// [`Scheduler::pending_counts`].
    pub fn oldest_waiting(&self) -> impl Iterator<Item = (QueueId, Timestamp)> {
        let pending_counts = self.pending_counts.as_ref().filter(|_| !self.is_stale());
        let ages = pending_counts.into_iter().flat_map(|pending_counts| &pending_counts.ages);
        ages.filter_map(|(leaf, ages)| Some((*leaf, ages.first()?.0)))
    }

    /// Returns examples of asks that wait for a reason in leaves that satisfy `wanted`, the largest groups first.
    ///
    /// Checks at most `looked_at` of the classes that are parked for this reason.
    pub fn examples_of(
        &self,
        reason: Reason,
        wanted: impl Fn(QueueId) -> bool,
        looked_at: usize,
    ) -> Vec<Example> {
        let Some(first) = reason.first_group().filter(|_| !self.is_stale()) else {
            return Vec::new();
        };
        let same = |blocker: Blocker| match reason {
            Reason::For(one) => one == blocker,
            Reason::Turn
            | Reason::Placeholders
            | Reason::Rm
            | Reason::OtherNodes
            | Reason::Pause => {
                Some(mem::discriminant(&blocker)) == first.blocker.as_ref().map(mem::discriminant)
            }
        };
        let classes = self.parked.classes_from(first);
        let classes = classes.take_while(|(key, _)| key.blocker.is_some_and(same));
        let classes = classes.take(looked_at).filter(|(key, _)| wanted(key.leaf));
        let mut found: Vec<Example> = classes
            .map(|(_, class)| {
                let row = &self.classes.rows[class];
                let ask = self.first_ask(class).1;
                Example { ask, asks: row.asks as u64, applications: row.batches.len() as u64 }
            })
            .collect();
        found.sort_by_key(|one| (Reverse(one.asks), one.ask));
        found
    }

    /// Records whether an ask waits.
    pub(super) fn note_waits(&mut self, books: &Books, ask: AllocationId, waits: bool) {
        if let Some(pending_counts) = &mut self.pending_counts {
            let row = books.allocation(ask);
            let leaf = books.application(row.application).queue;
            pending_counts.age(leaf, (row.created, ask), waits);
        }
    }

    /// Updates the counts of a class.
    pub(super) fn recount(&mut self, books: &Books, class: ClassId) {
        let Some(pending_counts) = &mut self.pending_counts else { return };
        let row = &mut self.classes.rows[class];
        let (asks, batches) = (row.asks, row.batches.len());
        let now = ClassCount { reason: Reason::of(row.wait), asks, batches };
        let before = mem::replace(&mut row.counted, now);
        if before != now {
            pending_counts.change(row.key, books.shapes().get(row.key.shape), before, now);
        }
    }

    /// Returns whether the counts equal the sums over the classes. Always true for a scheduler that does not watch.
    #[cfg(feature = "testkit")]
    pub fn pending_counts_are_right(&self, books: &Books) -> bool {
        let Some(pending_counts) = self.pending_counts.as_ref().filter(|_| !self.is_stale()) else {
            return true;
        };
        let mut places: BTreeMap<(QueueId, Reason), WaitingSum> = BTreeMap::new();
        let mut beyond: BTreeMap<(QueueId, Reason), Beyond> = BTreeMap::new();
        for row in self.classes.rows.values() {
            let batches = row.batches.keys().map(|(_, one)| &self.classes.batches[*one]);
            let asks: usize = batches.map(|one| one.asks.len()).sum();
            let amount = books.shapes().get(row.key.shape);
            let count = places.entry((row.key.leaf, Reason::of(row.wait))).or_default();
            count.asks += asks as u64;
            count.applications += row.batches.len() as u64;
            let asks = i64::try_from(asks).unwrap_or(i64::MAX);
            let beyond = beyond.entry((row.key.leaf, Reason::of(row.wait))).or_default();
            beyond.shift(&mut count.resources, amount, asks);
        }
        let pending = books.allocations().iter().filter(|(_, row)| row.is_pending());
        let mut ages: BTreeMap<QueueId, BTreeSet<(Timestamp, AllocationId)>> = BTreeMap::new();
        for (ask, row) in pending {
            let leaf = books.application(row.application).queue;
            ages.entry(leaf).or_default().insert((row.created, ask));
        }
        pending_counts.ages == ages
            && pending_counts.places.len() == places.len()
            && pending_counts.places.iter().zip(&places).all(
                |((place, one), (other_place, other))| {
                    place == other_place
                        && (one.asks, one.applications) == (other.asks, other.applications)
                        && one.resources.pruned() == other.resources.pruned()
                },
            )
    }
}
