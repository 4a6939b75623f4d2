//! Search for asks that could start but were not woken. Source: tenants §2.4.
//!
//! Every change that can let an ask start is an event, and `index.rs` wakes the asks that it can help. If that code
//! misses a wake-up, the ask would wait for the next one. This search therefore checks a part of the waiting classes
//! from time to time, as if they had been woken. A class that can start is a bug: it is counted, and it starts
//! nevertheless.

use alloc::vec::Vec;
use core::ops::Bound;

use crate::books::Books;
use crate::config::ApplicationOrder;
use crate::id::{ApplicationId, QueueId};
use crate::time::Timestamp;

use super::class::{ClassId, ClassKey};
use super::head_of_line::HeadCheck;
use super::park::GroupKey;
use super::placement_mode::{Pass, PlacementMode};
use super::waits::closed_queue_wait;
use super::{Scheduler, checks, fair_share, possibility};

/// Progress of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct MissedWakeups {
    /// Last checked group. `None` if the next call begins with the first group.
    group: Option<GroupKey>,
    /// Last checked leaf. `None` if the next call begins with the first leaf.
    leaf: Option<QueueId>,
}

impl Scheduler {
    /// Checks a part of the waiting classes in the leaves of tenants, and continues where the last call stopped.
    ///
    /// Checks the first class of each parked group, and the first ready class of each leaf. Makes each class ready that
    /// could start. Returns the applications of these missed classes. Call it only when nothing moves
    /// ([`super::Step::Idle`]), because then every class that could start was missed.
    ///
    /// Costs at most `most` groups, the same number of leaves, and a short check of each queue, regardless of the
    /// number of waiting asks.
    pub fn sweep(&mut self, books: &Books, now: Timestamp, most: usize) -> Vec<ApplicationId> {
        let mut missed = Vec::new();
        if self.stale || books.partitions().values().all(|one| one.settings.tenants.is_none()) {
            return missed;
        }
        for leaf in self.next_leaves(books, most) {
            let ready = self.tree.ready(leaf, Pass::Normal).first().map(|(_, class)| *class);
            let ready = ready.filter(|_| is_of_tenant(books, leaf));
            if let Some(class) = ready.filter(|class| self.could_start(books, *class, now)) {
                self.tree.touch(leaf);
                missed.push(self.first_ask(class).0);
            }
        }
        for (key, class) in self.next_groups(most) {
            if !is_of_tenant(books, key.leaf) {
                continue;
            }
            let (first, _) = self.first_ask(class);
            if self.has_not_aged(books, first, now) {
                self.age(books, first, now);
                missed.push(first);
            } else if self.could_start(books, class, now) {
                self.parked.open_group(&mut self.tree, key);
                missed.push(first);
            }
        }
        missed
    }

    /// Returns the next parked groups, each with its first class.
    fn next_groups(&mut self, most: usize) -> Vec<(GroupKey, ClassId)> {
        let from = self.sweeps.group.map_or(Bound::Unbounded, Bound::Excluded);
        let found: Vec<_> = self.parked.closed_from(from).take(most).collect();
        self.sweeps.group = found.last().filter(|_| found.len() == most).map(|(key, _)| *key);
        found
    }

    fn next_leaves(&mut self, books: &Books, most: usize) -> Vec<QueueId> {
        let from = self.sweeps.leaf;
        let behind = |id: &QueueId| from.is_none_or(|from| *id > from);
        let leaves = books.queues().iter().map(|(id, _)| id).filter(behind);
        let found: Vec<QueueId> = leaves.take(most).collect();
        self.sweeps.leaf = found.last().filter(|_| found.len() == most).copied();
        found
    }

    /// Returns whether the stored priority of a waiting application lacks a step that it gained by waiting.
    fn has_not_aged(&self, books: &Books, application: ApplicationId, now: Timestamp) -> bool {
        let row = books.application(application);
        let values = &books.queue(row.queue).settings.values;
        let aged = values.line.aged(now.since(row.submitted));
        let known = &self.applications[application.index()];
        values.application_order == ApplicationOrder::Priority
            && known.key.is_some()
            && known.aged < aged
    }

    /// Returns whether the gang of a class cannot use capacity now. Only an attempt to place it shows whether its
    /// different sizes fit together.
    fn is_gang_held(&self, books: &Books, key: ClassKey) -> bool {
        let Some(gang) = key.gang else { return false };
        self.wait_for_gang(books, key).is_some()
            || possibility::impossible(books, key).is_some()
            || gang.places == 0 && self.behind_gang(books, key).is_some()
    }

    /// Returns whether a class would start if it were checked now.
    ///
    /// Returns `false` for asks that are not checked as a class: with a reserved node, or waiting for a placeholder or
    /// an answer of the RM.
    fn could_start(&mut self, books: &Books, class: ClassId, now: Timestamp) -> bool {
        let key = self.classes.rows[class].key;
        let partition = books.queue(key.leaf).partition;
        let root = books.partition(partition).root;
        let is_plain = matches!(
            key.mode,
            PlacementMode::AnyNode | PlacementMode::MayPreempt(_) | PlacementMode::AllOrNothing(_)
        );
        // While the RM has too many open questions, ready classes stay ready until it answers.
        let is_shut = books.queue(root).max.is_none() || books.is_paused(partition);
        if !is_plain || key.backoff_application.is_some() || key.waits() || is_shut {
            return false;
        }
        let is_held = closed_queue_wait(books, key.leaf).is_some()
            || checks::wait_for_charge(books, key).is_some()
            || fair_share::wait_for_turn(books, key).is_some()
            || self.is_gang_held(books, key)
            || matches!(self.head_check(books, class, now), HeadCheck::Blocked(_));
        if is_held {
            return false;
        }
        let nodes = self.nodes.get_mut(&partition).expect("every partition has its nodes");
        match key.mode {
            PlacementMode::AllOrNothing(members) => {
                nodes.has_room_for(books, key.shape, members as usize)
            }
            PlacementMode::AnyNode
            | PlacementMode::MayPreempt(_)
            | PlacementMode::NeedsVerdict(_)
            | PlacementMode::RequiredNode(_)
            | PlacementMode::RequiredNodeAbsent(_)
            | PlacementMode::ReservedNode(_)
            | PlacementMode::ReplacePlaceholder(..)
            | PlacementMode::ReplacePlaceholderAlone(_) => {
                nodes.first_fit(books, key.shape).is_some()
            }
        }
    }
}

fn is_of_tenant(books: &Books, leaf: QueueId) -> bool {
    books.queue(leaf).settings.tenant.is_some()
}

#[cfg(feature = "testkit")]
impl Scheduler {
    /// Discards all wake-ups since the last step and all timers, as if every trigger were missing. For tests of this
    /// search.
    pub fn miss(&mut self) {
        self.parked.close_all(&mut self.tree);
        self.timers.clear();
    }
}
