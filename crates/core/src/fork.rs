//! A copy of the books with its own scheduler for trials: the effect of a queue file, the remedies for an ask, or the
//! result of a submission.

use alloc::vec::Vec;

use crate::books::Books;
use crate::command::Command;
use crate::event::Event;
use crate::rules::decide;
use crate::schedule::{Scheduler, Step};
use crate::time::Timestamp;

/// Books that change only by events, and the scheduler that follows them.
#[derive(Clone, Debug)]
pub(crate) struct Fork {
    pub(crate) books: Books,
    pub(crate) scheduler: Scheduler,
    /// Time of every event on this copy.
    pub(crate) now: Timestamp,
}

impl Fork {
    /// Creates a fork of these books with a new scheduler.
    pub(crate) fn of(books: Books, now: Timestamp) -> Self {
        let scheduler = Scheduler::new(&books);
        Self { books, scheduler, now }
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        self.scheduler.apply(&mut self.books, self.now, event);
    }

    /// Executes a command. Returns whether the command was accepted.
    pub(crate) fn execute(&mut self, command: &Command) -> bool {
        let Ok(events) = decide(&self.books, self.now, command) else { return false };
        for event in &events {
            self.apply(event);
        }
        true
    }

    /// Returns the next step of the scheduler and adds its events, without applying them.
    pub(crate) fn peek_step(&mut self, events: &mut Vec<Event>) -> Step {
        self.scheduler.next(&self.books, self.now, events)
    }

    /// Performs the next step of the scheduler. Appends the applied events.
    pub(crate) fn step(&mut self, events: &mut Vec<Event>) -> Step {
        let before = events.len();
        let step = self.peek_step(events);
        for event in &events[before..] {
            self.apply(event);
        }
        step
    }
}
