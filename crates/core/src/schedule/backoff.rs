//! Back-off: an application is not checked for a while after too many of its asks found no node. Source: scheduling
//! §15, §6.2.
//!
//! The threshold counts failed asks within one visit of an application, which checks its asks one by one. In a leaf
//! with a threshold, every application therefore has its own classes. When one of these classes is ready, the scheduler
//! visits the whole application. Costs its distinct amounts, and asks up to the threshold.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::Bound;

use crate::books::Books;
use crate::event::{ApplicationEvent, Event};
use crate::id::{AllocationId, ApplicationId, PartitionId};
use crate::time::Timestamp;
use crate::wait::{Blocker, Wait};

use super::ask_batches::backoff_application;
use super::check_class::may_not_start;
use super::checks::wait_for_charge;
use super::class::{AskBatchId, ChargeState, ClassId};
use super::order::AskKey;
use super::placement_mode::{Pass, PlacementMode};
use super::questions::{awaits_rm, found_no_node};
use super::reservation_candidates::{SchedulerTimer, is_old};
use super::{Scheduler, Search};

/// Result of checking one ask during a visit.
enum Look {
    /// The check produced a step.
    Moved,
    /// The ask passed all checks before the nodes, but no node had enough free capacity.
    Failed,
    /// The ask failed an earlier check, which also blocks the rest of its batch.
    Barred,
}

impl Scheduler {
    /// Visits an application in a leaf with a back-off threshold.
    pub(super) fn visit(
        &mut self,
        books: &Books,
        (partition, class): (PartitionId, ClassId),
        application: ApplicationId,
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Search {
        let row = books.application(application);
        let key = self.classes.rows[class].key;
        if key.charge == ChargeState::Unlinked || may_not_start(books, key).is_some() {
            return self.place_first(books, (partition, class), now, events);
        }
        if row.backed_off.is_some_and(|until| until > now) {
            let wait = Wait::of(Blocker::BackOff(application));
            self.park(books, (class, wait), now);
            return Search::GoesOn;
        }
        let values = books.queue(row.queue).settings.values;
        let (mut failed, mut last) = (0, None);
        let mut barred = BTreeSet::new();
        loop {
            if values.backoff > 0 && failed >= values.backoff {
                if self.ask_behind(application, last, &BTreeSet::new()).is_none() {
                    return Search::GoesOn;
                }
                let until = now + values.backoff_delay;
                events.push(Event::Application(ApplicationEvent::BackedOff { application, until }));
                return Search::Over;
            }
            let Some((ask_key, ask, batch)) = self.ask_behind(application, last, &barred) else {
                return Search::GoesOn;
            };
            match self.look(books, (partition, batch, ask), now, events) {
                Look::Moved => return Search::Over,
                Look::Failed => failed += 1,
                Look::Barred => {
                    barred.insert(batch);
                }
            }
            last = Some(ask_key);
        }
    }

    /// Returns the first ask of an application after `last`, without the batches in `barred`.
    fn ask_behind(
        &self,
        application: ApplicationId,
        last: Option<AskKey>,
        barred: &BTreeSet<AskBatchId>,
    ) -> Option<(AskKey, AllocationId, AskBatchId)> {
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        let batches = self.applications[application.index()].batches.iter();
        let asks = batches.filter(|batch| !barred.contains(batch)).filter_map(|id| {
            let (key, ask) = self.classes.batches[id].asks.first_from(from)?;
            Some((*key, *ask, id))
        });
        asks.min_by_key(|(key, ..)| *key)
    }

    fn look(
        &mut self,
        books: &Books,
        (partition, batch, ask): (PartitionId, AskBatchId, AllocationId),
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Look {
        let class = self.classes.batches[batch].class;
        let key = self.classes.rows[class].key;
        if key.mode.pass() != Pass::Normal {
            // Preemption can be possible for the ask now.
            let called = self.classes.rows[class].pass == Pass::Normal;
            if called && self.place_first(books, (partition, class), now, events).is_over() {
                return Look::Moved;
            }
            // The reserved pass already tried the ask and found nothing.
            let ordinary = books.allocation(ask).required_node().is_none();
            let reaches = matches!(key.mode, PlacementMode::ReservedNode(_)) && ordinary;
            let reaches =
                reaches && !awaits_rm(books, ask) && wait_for_charge(books, key).is_none();
            return if reaches { Look::Failed } else { Look::Barred };
        }
        if self.place_first(books, (partition, class), now, events).is_over() {
            return Look::Moved;
        }
        let wait = self.classes.rows[class].wait;
        let ordinary = books.allocation(ask).required_node().is_none();
        if !ordinary || !wait.is_some_and(|wait| found_no_node(wait.blocker)) {
            return Look::Barred;
        }
        let old = is_old(books, ask, now);
        if old
            && books.may_reserve(ask)
            && self.reserve_for(books, (partition, key), ask, events).is_over()
        {
            return Look::Moved;
        }
        Look::Failed
    }

    /// Sets a timer for the end of a back-off.
    pub(super) fn watch_back_off(&mut self, books: &Books, application: ApplicationId) {
        if let Some(until) = books.application(application).backed_off {
            self.timers.insert((until, SchedulerTimer::BackoffEnded(application)));
        }
        for class in self.classes_of(application) {
            if matches!(self.classes.rows[class].key.mode, PlacementMode::ReservedNode(_)) {
                self.arm(books, class);
            }
        }
    }

    /// Returns the classes of the asks of an application.
    fn classes_of(&self, application: ApplicationId) -> Vec<ClassId> {
        let waiting = self.applications.get(application.index());
        let batches = waiting.into_iter().flat_map(|one| one.batches.iter());
        batches.map(|batch| self.classes.batches[batch].class).collect()
    }

    /// Makes the classes of an application ready if the application is visited as a whole.
    pub(super) fn visit_again(&mut self, books: &Books, application: ApplicationId) {
        if backoff_application(books, application).is_none() {
            return;
        }
        for class in self.classes_of(application) {
            let row = &self.classes.rows[class];
            let mine = row.key.backoff_application == Some(application)
                && row.key.mode.pass() == Pass::Normal;
            if mine && row.wait.is_some() {
                self.judge_again(books, class, false);
            }
        }
    }
}
