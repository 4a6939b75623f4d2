//! Books and a scheduler moved together, with everything that happened.

use alloc::vec::Vec;

use crate::books::Books;
use crate::command::Command;
use crate::event::Event;
use crate::rejection::Rejection;
use crate::rules::decide;
use crate::schedule::{Scheduler, Step};
use crate::time::Timestamp;

/// One cluster in memory.
#[derive(Debug, Default)]
pub struct World {
    /// The facts.
    pub books: Books,
    /// The mind.
    pub scheduler: Scheduler,
    /// The time of the next command.
    pub now: Timestamp,
    /// Everything applied so far.
    pub journal: Vec<(Timestamp, Event)>,
    /// Every command of a random history, refused ones too; other worlds keep none.
    pub commands: Vec<Command>,
    /// How much had happened by when, each time that nothing could move; the same.
    pub settled: Vec<(usize, Timestamp)>,
}

impl World {
    /// Carry a command out, without letting the scheduler move.
    ///
    /// # Errors
    /// The refusal; nothing changed.
    pub fn command(&mut self, command: &Command) -> Result<Vec<Event>, Rejection> {
        let events = decide(&self.books, self.now, command)?;
        for event in &events {
            self.apply(event);
        }
        Ok(events)
    }

    /// Apply one event.
    pub fn apply(&mut self, event: &Event) {
        self.scheduler.apply(&mut self.books, self.now, event);
        self.journal.push((self.now, event.clone()));
    }

    /// Let the scheduler move until it is idle; what it did, in order.
    pub fn settle(&mut self) -> Vec<Event> {
        let mut all = Vec::new();
        loop {
            let mut events = Vec::new();
            if self.scheduler.next(&self.books, self.now, &mut events) != Step::Moved {
                return all;
            }
            for event in events {
                self.apply(&event);
                all.push(event);
            }
        }
    }

    /// Books rebuilt from the journal alone.
    pub fn replayed(&self) -> Books {
        self.replayed_to(self.journal.len())
    }

    /// The same of the first so many events.
    pub fn replayed_to(&self, count: usize) -> Books {
        let mut books = Books::default();
        for (at, event) in &self.journal[..count] {
            books.apply(*at, event);
        }
        books
    }
}
