//! Trying edits out: the scheduler runs on a copy of the books in which the ask is next.

use alloc::vec::Vec;

use crate::books::Books;
use crate::command::Command;
use crate::event::{Event, Termination};
use crate::explain::{Explanation, explain};
use crate::id::{AllocationId, PartitionId};
use crate::resource::{Quantity, ResourceType};
use crate::schedule::{Scheduler, Step};
use crate::time::Timestamp;

use super::edit::{Edit, carry_out};

/// How many steps the scheduler takes in one trial.
const STEPS: usize = 64;

/// The books of trials, and how many may still be made.
pub(super) struct Trial {
    books: Books,
    now: Timestamp,
    ask: AllocationId,
    left: u32,
    supposes: bool,
    ran_out: bool,
    /// The ask as it is when it is next.
    explanation: Explanation,
}

impl Trial {
    /// Books in which this ask is next; none if it does not wait.
    ///
    /// What else waits is withdrawn, unless it starts together with the ask, or a node is kept for it. Costs what waits.
    pub(super) fn of(
        books: &Books,
        now: Timestamp,
        ask: AllocationId,
        trials: u32,
    ) -> Option<Self> {
        let row = books.allocations().get(ask).filter(|row| row.is_pending())?;
        let application = row.application;
        let partition = books.application(application).partition;
        let together = books.members_of(application) > 1;
        let supposes = books.asks_about_nodes(partition);
        let mut books = books.clone();
        let others: Vec<AllocationId> = books
            .allocations()
            .iter()
            .filter(|(id, row)| *id != ask && row.is_pending() && row.reservation().is_none())
            .filter(|(_, row)| !(together && row.application == application))
            .map(|(id, _)| id)
            .collect();
        for other in others {
            let termination = Termination::StoppedByRm;
            books.apply(now, &Event::AskRemoved { ask: other, termination });
        }
        if supposes {
            let partition = books.partition(partition).name.clone();
            carry_out(&mut books, now, &Command::SetQuestions { partition, questions: None });
        }
        let scheduler = idle(&books, now);
        let explanation = explain(&books, &scheduler, ask)?;
        Some(Self { books, now, ask, left: trials, supposes, ran_out: false, explanation })
    }

    pub(super) const fn books(&self) -> &Books {
        &self.books
    }

    pub(super) const fn ask(&self) -> AllocationId {
        self.ask
    }

    pub(super) fn partition(&self) -> PartitionId {
        self.books.application(self.books.allocation(self.ask).application).partition
    }

    /// The checks that it fails when it is next.
    pub(super) const fn explanation(&self) -> &Explanation {
        &self.explanation
    }

    /// How much it wants of a type.
    pub(super) fn wants(&self, resource: ResourceType) -> Quantity {
        self.books.resources_of(self.ask).get_or_zero(resource)
    }

    /// Whether the RM is taken to accept what it was not asked.
    pub(super) const fn supposes(&self) -> bool {
        self.supposes
    }

    /// Whether there were not enough trials.
    pub(super) const fn ran_out(&self) -> bool {
        self.ran_out
    }

    /// Whether the ask starts with these edits. Once all trials are made nothing does.
    pub(super) fn starts(&mut self, edits: &[Edit]) -> bool {
        if self.left == 0 {
            self.ran_out = true;
            return false;
        }
        self.left -= 1;
        let (mut books, mut ask) = (self.books.clone(), self.ask);
        if !edits.iter().all(|edit| edit.make(&mut books, self.now, &mut ask)) {
            return false;
        }
        let mut scheduler = Scheduler::new(&books);
        let mut events = Vec::new();
        for _ in 0..STEPS {
            if scheduler.next(&books, self.now, &mut events) != Step::Moved {
                return false;
            }
            for event in events.drain(..) {
                scheduler.apply(&mut books, self.now, &event);
            }
            match books.allocations().get(ask) {
                Some(row) if row.is_pending() => {}
                Some(_) => return true,
                None => return false,
            }
        }
        self.ran_out = true;
        false
    }

    /// Whether the ask starts with these edits, and with none of them left out.
    pub(super) fn starts_and_needs_all(&mut self, edits: &[Edit]) -> bool {
        self.starts(edits)
            && (0..edits.len()).all(|place| {
                let mut fewer = edits.to_vec();
                fewer.remove(place);
                !self.starts(&fewer)
            })
    }
}

/// A scheduler that has looked at all of these books.
fn idle(books: &Books, now: Timestamp) -> Scheduler {
    let mut scheduler = Scheduler::new(books);
    let mut events = Vec::new();
    scheduler.next(books, now, &mut events);
    scheduler
}
