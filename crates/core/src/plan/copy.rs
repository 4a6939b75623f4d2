//! A copy of the books with a scheduler of its own.

use alloc::vec::Vec;

use crate::books::Books;
use crate::command::Command;
use crate::event::Event;
use crate::name::Name;
use crate::rules::decide;
use crate::schedule::{Scheduler, Step};
use crate::time::{Millis, Timestamp};

/// How often time goes on at most: what waits is looked at again and again.
const MOMENTS_MAX: usize = 64;

/// Books that go on by themselves.
pub(super) struct Copy {
    pub(super) books: Books,
    pub(super) scheduler: Scheduler,
    now: Timestamp,
    /// When time alone may change something.
    wake_at: Option<Timestamp>,
    /// What happened so far.
    pub(super) happened: Vec<(Timestamp, Event)>,
}

impl Copy {
    pub(super) fn of(books: &Books, now: Timestamp) -> Self {
        let scheduler = Scheduler::new(books);
        Self { books: books.clone(), scheduler, now, wake_at: None, happened: Vec::new() }
    }

    pub(super) fn apply(&mut self, events: &[Event]) {
        for event in events {
            self.scheduler.apply(&mut self.books, self.now, event);
            self.happened.push((self.now, event.clone()));
        }
    }

    /// Let the scheduler go on until nothing moves; what it did, and whether it came to rest.
    pub(super) fn settle(&mut self, steps: usize) -> (Vec<Event>, bool) {
        let mut all = Vec::new();
        for _ in 0..steps {
            let mut events = Vec::new();
            match self.scheduler.next(&self.books, self.now, &mut events) {
                Step::Idle { wake_at } => {
                    self.wake_at = wake_at;
                    return (all, true);
                }
                Step::Moved => self.apply(&events),
            }
            all.append(&mut events);
        }
        (all, false)
    }

    /// Let time go on up to the horizon, by what waits for it: the scheduler, and the clocks of queues
    /// above their maximum. The RM does nothing of what it is asked to do.
    pub(super) fn pass_time(&mut self, horizon: Millis, steps: usize) {
        let end = self.now + horizon;
        for _ in 0..MOMENTS_MAX {
            let clocks = self.books.queues().iter().filter_map(|(_, row)| row.quota_preemption_at);
            let next = clocks.chain(self.wake_at).min();
            let Some(next) = next.filter(|next| *next <= end) else { return };
            self.now = next.max(self.now + Millis::new(1));
            let partitions: Vec<Name> =
                self.books.partitions().values().map(|row| row.name.clone()).collect();
            for partition in partitions {
                let scan = Command::ScanQuotas { partition };
                let found = decide(&self.books, self.now, &scan);
                self.apply(&found.unwrap_or_default());
            }
            if !self.settle(steps).1 {
                return;
            }
        }
    }
}
