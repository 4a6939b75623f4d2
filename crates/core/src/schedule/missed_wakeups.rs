//! Looking for what could start and is not looked at. Tenants §2.4.
//!
//! Whatever may let something start is an event, and wakes what it may help (`index.rs`). Should one ever be
//! missed there, what waits for it would wait for the next; so from time to time some of it is judged as if
//! it had been woken. What is found was missed: a bug, which is counted, and starts all the same.

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

/// How far sweeps are.
#[derive(Clone, Debug, Default)]
pub(super) struct MissedWakeups {
    /// The group that was checked last; none if the next call starts again from the first.
    group: Option<GroupKey>,
    /// The same for the leaves.
    leaf: Option<QueueId>,
}

impl Scheduler {
    /// Look at some of what waits in the leaves of tenants, where the last call ended: of those that are held
    /// back alike the first, and of those that are to be judged the first of each leaf. Each that could start
    /// is to be judged next; whose it is, for all that were missed. To be called when nothing moves
    /// ([`super::Step::Idle`]): everything that is found then should have been looked at.
    ///
    /// Costs at most `most` groups and as many leaves, and a glance at each queue, whatever waits.
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

    /// The next groups of what is held back, each with the class that comes first.
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

    /// Whether an application that waits counts as less urgent than it does by now.
    fn has_not_aged(&self, books: &Books, application: ApplicationId, now: Timestamp) -> bool {
        let row = books.application(application);
        let values = &books.queue(row.queue).settings.values;
        let aged = values.line.aged(now.since(row.submitted));
        let known = &self.applications[application.index()];
        values.application_order == ApplicationOrder::Priority
            && known.key.is_some()
            && known.aged < aged
    }

    /// Whether the gang of a class may not take room now. Whether different sizes fit together is found out by trying.
    fn is_gang_held(&self, books: &Books, key: ClassKey) -> bool {
        let Some(gang) = key.gang else { return false };
        self.wait_for_gang(books, key).is_some()
            || possibility::impossible(books, key).is_some()
            || gang.places == 0 && self.behind_gang(books, key).is_some()
    }

    /// Whether a class would start if it were checked now. A class that is not checked as a class
    /// is left out: one with a reserved node, or that waits for a placeholder or an RM answer.
    fn could_start(&mut self, books: &Books, class: ClassId, now: Timestamp) -> bool {
        let key = self.classes.rows[class].key;
        let partition = books.queue(key.leaf).partition;
        let root = books.partition(partition).root;
        let is_plain = matches!(
            key.mode,
            PlacementMode::AnyNode | PlacementMode::MayPreempt(_) | PlacementMode::AllOrNothing(_)
        );
        // Where the RM has enough to answer, what is ready stays so until it has answered.
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
    /// Forget what events have woken since the last step, and what time alone would wake: as if all their
    /// triggers were missing. For those who look for what is missed.
    pub fn miss(&mut self) {
        self.parked.close_all(&mut self.tree);
        self.timers.clear();
    }
}
