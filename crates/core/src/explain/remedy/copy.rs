//! A copy of the books with a scheduler that knows them, on which edits are tried.

use alloc::vec::Vec;

use crate::books::Books;
use crate::command::Command;
use crate::event::Event;
use crate::rules::decide;
use crate::schedule::{Scheduler, Step};
use crate::time::Timestamp;

/// Books that are changed by events alone, and the indexes that follow them.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub(super) books: Books,
    pub(super) scheduler: Scheduler,
    pub(super) now: Timestamp,
}

impl Copy {
    pub(super) fn of(books: Books, now: Timestamp) -> Self {
        let scheduler = Scheduler::new(&books);
        Self { books, scheduler, now }
    }

    pub(super) fn apply(&mut self, event: &Event) {
        self.scheduler.apply(&mut self.books, self.now, event);
    }

    /// Carry a command out; whether it was not refused.
    pub(super) fn carry_out(&mut self, command: &Command) -> bool {
        let Ok(events) = decide(&self.books, self.now, command) else { return false };
        for event in &events {
            self.apply(event);
        }
        true
    }

    /// Let the scheduler look at everything that it has not looked at; whether it found something to do, which is
    /// not done then.
    pub(super) fn look(&mut self) -> bool {
        self.scheduler.next(&self.books, self.now, &mut Vec::new()) == Step::Moved
    }

    /// Let the scheduler make a step; whether it did.
    pub(super) fn step(&mut self, events: &mut Vec<Event>) -> bool {
        if self.scheduler.next(&self.books, self.now, events) != Step::Moved {
            return false;
        }
        for event in events.drain(..) {
            self.scheduler.apply(&mut self.books, self.now, &event);
        }
        true
    }
}
