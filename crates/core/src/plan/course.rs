//! How a copy of the books goes on.

use alloc::vec::Vec;

use crate::books::Books;
use crate::command::Command;
use crate::event::{AllocationEvent, AskEvent, Event};
use crate::fork::Fork;
use crate::name::Name;
use crate::rules::decide;
use crate::schedule::Step;
use crate::time::{Millis, Timestamp};

/// How often time goes on at most: what waits is looked at again and again.
const MOMENTS_MAX: usize = 64;

/// Books that go on by themselves.
pub(super) struct Course {
    pub(super) copy: Fork,
    /// When time alone may change something.
    wake_at: Option<Timestamp>,
    /// When it began.
    pub(super) begun: Timestamp,
    /// Who was asked to stop so far, and which nodes are no longer reserved. What a large file
    /// makes is not among it.
    pub(super) happened: Vec<(Timestamp, Event)>,
}

impl Course {
    pub(super) fn of(books: &Books, now: Timestamp) -> Self {
        Self { copy: Fork::of(books.clone(), now), wake_at: None, begun: now, happened: Vec::new() }
    }

    pub(super) fn apply(&mut self, events: &[Event]) {
        for event in events {
            self.copy.apply(event);
        }
        self.note(events);
    }

    fn note(&mut self, events: &[Event]) {
        let now = self.copy.now;
        let is_shown = |event: &&Event| {
            matches!(
                event,
                Event::Ask(AskEvent::Unreserved { .. })
                    | Event::Allocation(AllocationEvent::Preempted { .. })
            )
        };
        self.happened.extend(events.iter().filter(is_shown).map(|event| (now, event.clone())));
    }

    /// Let the scheduler go on until nothing moves; what it did, and whether it came to rest.
    pub(super) fn settle(&mut self, steps: usize) -> (Vec<Event>, bool) {
        let mut all = Vec::new();
        let mut at_rest = false;
        for _ in 0..steps {
            if let Step::Idle { wake_at } = self.copy.step(&mut all) {
                (self.wake_at, at_rest) = (wake_at, true);
                break;
            }
        }
        self.note(&all);
        (all, at_rest)
    }

    /// Let time go on up to the horizon, by what waits for it: the scheduler, and the clocks of queues
    /// above their maximum. The RM does nothing of what it is asked to do.
    pub(super) fn pass_time(&mut self, horizon: Millis, steps: usize) {
        let end = self.copy.now + horizon;
        for _ in 0..MOMENTS_MAX {
            let clocks =
                self.copy.books.queues().iter().filter_map(|(_, row)| row.quota_preemption_at);
            let next = clocks.chain(self.wake_at).min();
            let Some(next) = next.filter(|next| *next <= end) else { return };
            self.copy.now = next.max(self.copy.now + Millis::new(1));
            let partitions: Vec<Name> =
                self.copy.books.partitions().values().map(|row| row.name.clone()).collect();
            for partition in partitions {
                let scan = Command::ScanQuotas { partition };
                let found = decide(&self.copy.books, self.copy.now, &scan);
                self.apply(&found.unwrap_or_default());
            }
            if !self.settle(steps).1 {
                return;
            }
        }
    }
}
