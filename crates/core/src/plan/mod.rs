//! What another queue file would do, found out on a copy of the books: the events of taking it into
//! force and the steps that the scheduler takes then. Decision page 34.
//!
//! No rule is written a second time here. A copy of the books is taken as far as the real [`decide`],
//! [`Books::apply`] and [`Scheduler`] bring it; a second copy, without the new file, says what would
//! have happened anyway. All else is a comparison of the two.

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

/// How far a plan looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// How many steps the scheduler takes at most, on each copy.
    pub steps: usize,
    /// How far time goes on to see who would be asked to stop.
    pub horizon: Millis,
    /// How many of a kind are named; all are counted.
    pub listed: usize,
}

impl Default for Reach {
    fn default() -> Self {
        Self { steps: 100_000, horizon: Millis::from_secs(3_600), listed: 100 }
    }
}

/// What another queue file would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What it says otherwise than what is in force, partition by partition and queue by queue.
    pub differences: Vec<Difference>,
    /// The events of taking it into force.
    pub commanded: Vec<Event>,
    /// What the scheduler does right after that, event by event, those included that it would have
    /// done anyway.
    pub steps: Vec<Event>,
    /// Whether nothing more moves then; if not, the steps were more than were to be looked at.
    pub at_rest: bool,
    /// What becomes of asks and applications, beyond what would become of them anyway.
    pub effects: Effects,
    /// Who uses more than is allowed from then on.
    pub excesses: Vec<Excess>,
    /// What is used before, and when nothing more moves.
    pub settled: Settled,
}

impl Plan {
    /// Whether nothing that anybody would notice is otherwise: the file means what is in force.
    pub fn is_empty(&self) -> bool {
        let noticed = |event: &&Event| !matches!(event, Event::Configured { .. });
        self.differences.is_empty() && !self.commanded.iter().any(|event| noticed(&event))
    }

    /// The events that follow at once when the file is taken into force, in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.commanded.iter().chain(&self.steps)
    }
}

/// Find out what a queue file would do to these books now; they are not changed.
///
/// Costs a copy of the books, the indexes of two schedulers, and what these do.
///
/// # Errors
/// When the file would be refused.
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
