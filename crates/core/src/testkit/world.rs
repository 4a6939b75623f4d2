//! Books and a scheduler that change together, with the journal of all events.

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
    /// Books of the cluster.
    pub books: Books,
    /// Scheduler of the cluster.
    pub scheduler: Scheduler,
    /// Time of the next command.
    pub now: Timestamp,
    /// All events so far.
    pub journal: Vec<(Timestamp, Event)>,
    /// All commands of a random history, including the rejected ones. Other worlds do not record commands.
    pub commands: Vec<Command>,
    /// Journal length and time of each moment at which the scheduler was idle. Only recorded for random histories.
    pub settled: Vec<(usize, Timestamp)>,
}

impl World {
    /// Applies a command without running the scheduler.
    ///
    /// # Errors
    /// Returns the reason if the command is rejected. The books do not change then.
    pub fn command(&mut self, command: &Command) -> Result<Vec<Event>, Rejection> {
        let events = decide(&self.books, self.now, command)?;
        for event in &events {
            self.apply(event);
        }
        Ok(events)
    }

    /// Applies one event.
    pub fn apply(&mut self, event: &Event) {
        self.scheduler.apply(&mut self.books, self.now, event);
        self.journal.push((self.now, event.clone()));
    }

    /// Runs the scheduler until it is idle. Returns its events in order.
    ///
    /// # Panics
    /// Panics if an ask could start but was not checked.
    pub fn settle(&mut self) -> Vec<Event> {
        let mut all = Vec::new();
        loop {
            let mut events = Vec::new();
            if self.scheduler.next(&self.books, self.now, &mut events) != Step::Moved {
                let missed = self.scheduler.sweep(&self.books, self.now, usize::MAX);
                assert_eq!(missed, [], "nothing that could start was missed");
                return all;
            }
            for event in events {
                self.apply(&event);
                all.push(event);
            }
        }
    }

    /// Returns the books rebuilt from the journal.
    pub fn replayed(&self) -> Books {
        self.replayed_to(self.journal.len())
    }

    /// Returns the books rebuilt from the first `count` events of the journal.
    pub fn replayed_to(&self, count: usize) -> Books {
        let mut books = Books::default();
        for (at, event) in &self.journal[..count] {
            books.apply(*at, event);
        }
        books
    }
}
