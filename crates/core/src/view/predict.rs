//! What would become of a task, were it submitted now. Tenants §3, TR-82.

use alloc::boxed::Box;

use crate::books::Books;
use crate::command::{Command, SubmitTask};
use crate::event::{ApplicationEvent, Event};
use crate::id::AllocationId;
use crate::name::Name;
use crate::rejection::Rejection;
use crate::rules::{decide, linked};
use crate::schedule::Scheduler;
use crate::time::Timestamp;
use crate::wait::Wait;

use super::waiting::{first_ask, place_of};

/// What would become of a task.
#[derive(Clone, Debug)]
pub enum PredictedTask {
    /// It would start at once.
    Starts,
    /// It would wait.
    Waits {
        /// Why.
        wait: Wait,
        /// Its first ask, in `books`.
        ask: AllocationId,
        /// The books with it, which say what the wait speaks of, and which place it would have.
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

/// What would become of a task, were it submitted now: judged by the rules of submissions, and by
/// the checks of the scheduler on books that have it. Nothing is changed. What waits is not looked
/// at: its place is left to the caller ([`super::place`]), who does not keep the scheduler from its
/// work meanwhile.
///
/// # Errors
/// When it could not be submitted.
pub fn predict_task(
    books: &Books,
    scheduler: &Scheduler,
    now: Timestamp,
    task: &SubmitTask,
) -> Result<PredictedTask, Rejection> {
    let events = decide(books, now, &Command::SubmitTask(Box::new(task.clone())))?;
    if let Some(Event::Application(ApplicationEvent::Rejected { code, message, .. })) =
        events.last()
    {
        return Ok(PredictedTask::Declined { code: code.clone(), message: message.clone() });
    }
    let application = books.applications().next_id();
    let mut then = books.clone();
    for event in &events {
        then.apply(now, event);
    }
    if let Some(event) = linked(&then, application) {
        then.apply(now, &event);
    }
    let row = then.application(application);
    let own = place_of(&then, now, row);
    let (Some(own), Some(ask)) = (own, first_ask(&then, application)) else {
        return Ok(PredictedTask::Starts);
    };
    let is_behind = |other| {
        let other = then.applications().get(other);
        let key = other.and_then(|other| place_of(&then, now, other));
        key.is_some_and(|(key, _)| key < own.0)
    };
    let wait = scheduler.predict_wait(&then, ask, now, is_behind);
    Ok(wait.map_or(PredictedTask::Starts, |wait| PredictedTask::Waits {
        wait,
        ask,
        books: Box::new(then),
    }))
}
