//! Prediction for a task if it were submitted now. Source: tenants §3, TR-82.

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

/// Outcome of a task.
#[derive(Clone, Debug)]
pub enum PredictedTask {
    /// The task would start immediately.
    Starts,
    /// The task would wait.
    Waits {
        /// Wait of the task.
        wait: Wait,
        /// Its first ask, in `books`.
        ask: AllocationId,
        /// Books with the task, to which the wait and the position refer.
        books: Box<Books>,
    },
    /// The task would be rejected.
    Declined {
        /// Code of the rule.
        code: Name,
        /// Reason, as a sentence.
        message: Name,
    },
}

/// Predicts whether a task starts, waits, or is rejected. Applies the rules of submissions and the checks of the
/// scheduler to a copy of the books. Changes nothing.
///
/// Other waiting asks are ignored. The caller computes the position with [`super::place`], so that the scheduler is not
/// blocked meanwhile.
///
/// # Errors
///
/// Returns a rejection if the task could not be submitted.
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
