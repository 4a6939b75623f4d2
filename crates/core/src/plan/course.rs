//! Simulated progress of a copy of the books.

use alloc::vec::Vec;

use crate::books::Books;
use crate::command::Command;
use crate::event::{AllocationEvent, AskEvent, Event};
use crate::fork::Fork;
use crate::name::Name;
use crate::rules::decide;
use crate::schedule::Step;
use crate::time::{Millis, Timestamp};

/// Largest number of points in time, because waiting timers can repeat.
const MOMENTS_MAX: usize = 64;

/// Books whose scheduler and timers continue.
pub(super) struct Course {
    pub(super) copy: Fork,
    /// Next time at which a timer can change something.
    wake_at: Option<Timestamp>,
    /// Start of the simulation.
    pub(super) begun: Timestamp,
    /// Preemptions and ended reservations so far. Events of a large queue file are not recorded.
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

    /// Runs the scheduler until nothing moves. Returns its events, and whether it came to rest.
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

    /// Advances the time up to the horizon, with the timers of the scheduler and the quota preemption timers. The RM
    /// does not react to requests.
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
