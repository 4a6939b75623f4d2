//! A copy of the books with a scheduler of its own, on which something is tried: what a queue file would do, what
//! would start an ask, what becomes of a submission.

use alloc::vec::Vec;

use crate::books::Books;
use crate::command::Command;
use crate::event::Event;
use crate::rules::decide;
use crate::schedule::{Scheduler, Step};
use crate::time::Timestamp;

/// Books that are changed by events alone, and the indexes that follow them.
#[derive(Clone, Debug)]
pub(crate) struct Fork {
    pub(crate) books: Books,
    pub(crate) scheduler: Scheduler,
    /// When everything happens.
    pub(crate) now: Timestamp,
}

impl Fork {
    /// Of these books, with new indexes.
    pub(crate) fn of(books: Books, now: Timestamp) -> Self {
        let scheduler = Scheduler::new(&books);
        Self { books, scheduler, now }
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        self.scheduler.apply(&mut self.books, self.now, event);
    }

    /// Carry a command out; whether it was not refused.
    pub(crate) fn execute(&mut self, command: &Command) -> bool {
        let Ok(events) = decide(&self.books, self.now, command) else { return false };
        for event in &events {
            self.apply(event);
        }
        true
    }

    /// Let the scheduler look for its next step, which is not made yet.
    pub(crate) fn peek_step(&mut self, events: &mut Vec<Event>) -> Step {
        self.scheduler.next(&self.books, self.now, events)
    }

    /// Let the scheduler make its next step; what happened is behind what there was of events.
    pub(crate) fn step(&mut self, events: &mut Vec<Event>) -> Step {
        let before = events.len();
        let step = self.peek_step(events);
        for event in &events[before..] {
            self.apply(event);
        }
        step
    }
}
