//! What would become of a task, were it submitted now. Tenants §3, TR-82.

use alloc::boxed::Box;

use crate::books::Books;
use crate::command::{Command, SubmitTask};
use crate::event::Event;
use crate::id::AllocationId;
use crate::name::Name;
use crate::rejection::Rejection;
use crate::rules::{decide, linked};
use crate::schedule::Scheduler;
use crate::time::Timestamp;
use crate::wait::Wait;

use super::waiting;

/// What would become of a task.
#[derive(Clone, Debug)]
pub enum Foreseen {
    /// It would start at once.
    Starts,
    /// It would wait.
    Waits {
        /// Why.
        wait: Wait,
        /// Its first ask, in `books`.
        ask: AllocationId,
        /// Its place in the order, from 1 on.
        position: usize,
        /// How many would wait.
        of: usize,
        /// The books with it, which say what the wait speaks of.
        books: Box<Books>,
    },
    /// It would be declined, by this rule.
    Declined {
        /// The rule.
        code: Name,
        /// In a sentence.
        message: Name,
    },
}

/// What would become of a task, were it submitted now: judged by the rules of submissions, and by the checks of the
/// scheduler on books that have it. Nothing is changed. Costs what the applications of its leaf that wait cost.
///
/// # Errors
/// When it could not be submitted.
pub fn foresee(
    books: &Books,
    scheduler: &Scheduler,
    now: Timestamp,
    task: &SubmitTask,
) -> Result<Foreseen, Rejection> {
    let events = decide(books, now, &Command::SubmitTask(Box::new(task.clone())))?;
    if let Some(Event::ApplicationRejected { code, message, .. }) = events.last() {
        return Ok(Foreseen::Declined { code: code.clone(), message: message.clone() });
    }
    let application = books.applications().next_id();
    let mut then = books.clone();
    for event in &events {
        then.apply(now, event);
    }
    if let Some(event) = linked(&then, application) {
        then.apply(now, &event);
    }
    let leaf = then.application(application).queue;
    let all = waiting(&then, now, leaf);
    let place = |of| all.iter().position(|one| one.application == of);
    let own = place(application).unwrap_or(all.len());
    let Some(ask) = all.get(own).map(|one| one.ask) else { return Ok(Foreseen::Starts) };
    let is_behind = |other| place(other).is_some_and(|other| other < own);
    let wait = scheduler.foresee(&then, ask, now, is_behind);
    let (position, of) = (own + 1, all.len());
    Ok(wait.map_or(Foreseen::Starts, |wait| Foreseen::Waits {
        wait,
        ask,
        position,
        of,
        books: Box::new(then),
    }))
}
