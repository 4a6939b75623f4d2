//! Plans: the effects of a new queue file, computed on a copy of the books. A plan has the events of applying the file,
//! and the resulting steps of the scheduler. Source: decision page 34.
//!
//! No rule is implemented twice. [`decide`], [`Books::apply`], and [`Scheduler`] run on a copy of the books. A second
//! copy without the new file shows what would happen anyway. Everything else is a comparison of both copies.

mod course;
mod difference;
mod effect;
mod excess;
mod settings;
mod usage;

pub use difference::{Difference, Value};
pub use effect::{AskChange, AskInPlan, Effects, Eviction, For, Listed, Moved};
pub use excess::{Excess, ExcessAmount, Holder};
pub use usage::{QueueUsage, Settled, UserUsage};

use alloc::vec::Vec;

use crate::books::Books;
use crate::config::Configuration;
use crate::event::Event;
use crate::rejection::Rejection;
use crate::rules::decide_queue_file;
use crate::time::{Millis, Timestamp};

use course::Course;

/// Extent of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Largest number of scheduler steps on each copy.
    pub steps: usize,
    /// Simulated time in which preemptions are listed.
    pub horizon: Millis,
    /// Largest number of listed entries of a kind. All entries are counted.
    pub listed: usize,
}

impl Default for Reach {
    fn default() -> Self {
        Self { steps: 100_000, horizon: Millis::from_secs(3_600), listed: 100 }
    }
}

/// Effects of a new queue file.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Changed settings, by partition and queue.
    pub differences: Vec<Difference>,
    /// Events of applying the file.
    pub commanded: Vec<Event>,
    /// Events of the scheduler directly after that, including those that would happen anyway.
    pub steps: Vec<Event>,
    /// Whether the scheduler came to rest within the allowed steps.
    pub at_rest: bool,
    /// Effects on asks and applications, in addition to effects that would happen anyway.
    pub effects: Effects,
    /// Usage that exceeds a limit afterwards.
    pub excesses: Vec<Excess>,
    /// Usage before the change, and after the scheduler came to rest.
    pub settled: Settled,
}

impl Plan {
    /// Returns whether the file changes nothing of significance.
    pub fn is_empty(&self) -> bool {
        let noticed = |event: &&Event| !matches!(event, Event::Configured { .. });
        self.differences.is_empty() && !self.commanded.iter().any(|event| noticed(&event))
    }

    /// Returns the immediate events of applying the file, in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.commanded.iter().chain(&self.steps)
    }
}

/// Computes the effects of a queue file. Changes nothing.
///
/// Costs a copy of the books, the indexes of two schedulers, and the work of both.
///
/// # Errors
///
/// Returns a rejection if the file would be rejected.
pub fn plan(
    books: &Books,
    now: Timestamp,
    file: &Configuration,
    reach: Reach,
) -> Result<Plan, Rejection> {
    let mut changed = Course::of(books, now);
    let commanded = decide_queue_file(books, now, file)?;
    changed.apply(&commanded);
    let configured = changed.copy.books.clone();
    let (steps, at_rest) = changed.settle(reach.steps);
    let mut anyway = Course::of(books, now);
    anyway.settle(reach.steps);
    let differences = difference::all(books, &configured);
    let excesses = excess::all(books, &configured);
    let settled = Settled::of(books, &changed.copy.books);
    let effects = effect::all(books, [&mut anyway, &mut changed], &configured, reach);
    Ok(Plan { differences, commanded, steps, at_rest, effects, excesses, settled })
}
