//! How many asks wait for what, counted as they come and go, for those who want to know.
//!
//! A read costs the leaves and what holds them back, whatever waits there. A reason is the check
//! under which a class is parked. A check that would fail earlier by now is found only for a
//! question about one ask: see [`Scheduler::wait_of`].

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

/// What asks wait for, where they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// To be judged: they are next.
    Turn,
    /// This, which may hold back many.
    For(Blocker),
    /// Places of placeholders, each of its own application.
    Placeholders,
    /// Answers of the RM, each its own.
    Rm,
    /// Nodes that the RM does not refuse them, each its own.
    OtherNodes,
    /// The end of a pause, each of its application.
    Pause,
}

/// How much waits somewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingSum {
    /// Asks.
    pub asks: u64,
    /// Applications; one that asks for different things counts for each.
    pub applications: u64,
    /// What the asks want in sum.
    pub resources: Resources,
}

/// An ask that stands for others which wait with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The first of them.
    pub ask: AllocationId,
    /// How many they are.
    pub asks: u64,
    /// Of how many applications.
    pub applications: u64,
}

/// The counts, and the asks by age.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingCounts {
    places: BTreeMap<(QueueId, Reason), WaitingSum>,
    /// What of these sums is beyond 64 bits, where any is.
    beyond: BTreeMap<(QueueId, Reason), Beyond>,
    ages: BTreeMap<QueueId, BTreeSet<(Timestamp, AllocationId)>>,
}

/// What of a class is in the pending counts.
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

    /// Returns the reason that is reported for asks of a leaf that are counted under this. The
    /// reason why their whole partition stands still comes first.
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

    /// What sets the bound, as [`Blocker::subject`]; none for those that are next.
    pub fn subject(self, books: &Books) -> Option<String> {
        Some(match self {
            Self::Turn => return None,
            Self::For(blocker) => blocker.subject(books),
            Self::Rm | Self::OtherNodes => String::from("the RM"),
            Self::Placeholders | Self::Pause => String::from("the application itself"),
        })
    }

    /// Where groups begin that are parked for this.
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
    /// How many classes were judged so far: its work is measured by it, and nothing is decided by it.
    pub const fn judged(&self) -> u64 {
        self.judged
    }

    /// How much waits in which leaf, and for what. Empty while the rules are new, and of a
    /// scheduler that does not watch.
    pub fn pending_counts(&self) -> impl Iterator<Item = (QueueId, Reason, &WaitingSum)> {
        let pending_counts = self.pending_counts.as_ref().filter(|_| !self.is_stale());
        let places = pending_counts.into_iter().flat_map(|pending_counts| &pending_counts.places);
        places.map(|((leaf, reason), count)| (*leaf, *reason, count))
    }

    /// When the oldest ask was made that waits in each leaf; empty as [`Scheduler::pending_counts`].
    pub fn oldest_waiting(&self) -> impl Iterator<Item = (QueueId, Timestamp)> {
        let pending_counts = self.pending_counts.as_ref().filter(|_| !self.is_stale());
        let ages = pending_counts.into_iter().flat_map(|pending_counts| &pending_counts.ages);
        ages.filter_map(|(leaf, ages)| Some((*leaf, ages.first()?.0)))
    }

    /// Asks that wait for this in leaves that `wanted` takes, those that stand for most others
    /// first. Of the classes that are parked for this it looks at `looked_at`, however many
    /// there are.
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

    /// An ask waits from now on, or does no more.
    pub(super) fn note_waits(&mut self, books: &Books, ask: AllocationId, waits: bool) {
        if let Some(pending_counts) = &mut self.pending_counts {
            let row = books.allocation(ask);
            let leaf = books.application(row.application).queue;
            pending_counts.age(leaf, (row.created, ask), waits);
        }
    }

    /// Count a class as it is now.
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

    /// Whether the counts are those of the classes as they are, of a scheduler that watches.
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
