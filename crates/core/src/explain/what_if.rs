//! What-if: predicts the outcome of a hypothetical submission. The commands of the submission are executed on a copy of
//! the books, and the scheduler runs there until nothing moves. Source: decision page 32.

use alloc::vec::Vec;

use crate::books::Books;
use crate::command::{Ask, Command, Submit, SubmitTask, member_key};
use crate::event::{ApplicationEvent, AskEvent, Event};
use crate::fork::Fork;
use crate::id::{AllocationId, ApplicationId, PartitionId};
use crate::name::Name;
use crate::rejection::RefusalCode;
use crate::rules::decide;
use crate::schedule::Step;
use crate::time::Timestamp;
use crate::wait::Blocker;

use super::{Explanation, Verdict, explain, first_of};

/// Default number of scheduler steps for a hypothetical submission.
pub const WHAT_IF_STEPS: usize = 10_000;

/// A hypothetical submission.
#[derive(Clone, Debug, PartialEq)]
pub enum Hypothetical {
    /// An application, the ask of each of its members, and the number of members. The keys of the members are
    /// generated.
    Application(Submit, Ask, u32),
    /// A task of a tenant.
    Task(SubmitTask),
}

/// Outcome of a hypothetical submission.
#[derive(Clone, Debug)]
pub enum WhatIfOutcome {
    /// The submission would be rejected.
    Rejected {
        /// Stable code of the rule.
        code: Name,
        /// Reason, as a sentence.
        message: Name,
    },
    /// The submission would be accepted.
    TakenIn(alloc::boxed::Box<WhatIfAccepted>),
}

/// An accepted submission on a copy of the books.
#[derive(Clone, Debug)]
pub struct WhatIfAccepted {
    /// Books of the explanation: with the submission, and with its immediate effects if it waits.
    pub books: Books,
    /// Explanation of its first waiting ask. If none waits, of the first ask that is placed, just before its placement,
    /// with [`Verdict::StartsNext`].
    pub explanation: Explanation,
    /// Number of its asks that are placed immediately.
    pub starts: usize,
    /// Number of its asks.
    pub asks: usize,
    /// Whether the steps were not sufficient to place everything.
    pub ran_out: bool,
}

/// Predicts the outcome of a hypothetical submission. Changes nothing.
///
/// Costs a copy of the books, the indexes of a scheduler, and the work of that scheduler in the given number of steps.
pub fn what_if(
    books: &Books,
    now: Timestamp,
    supposed: &Hypothetical,
    steps: usize,
) -> WhatIfOutcome {
    let (books, application) = match submitted(books, now, supposed) {
        Ok(submitted) => submitted,
        Err((code, message)) => return WhatIfOutcome::Rejected { code, message },
    };
    let mut copy = Fork::of(books, now);
    let (mut first, mut at_rest) = (None, false);
    for _ in 0..steps {
        let mut events = Vec::new();
        if copy.peek_step(&mut events) != Step::Moved {
            at_rest = true;
            break;
        }
        if first.is_none()
            && let Some(ask) = started(&copy.books, application, &events)
        {
            let found = explain(&copy.books, &copy.scheduler, ask);
            first = found.map(|found| (found, copy.books.clone()));
        }
        for event in &events {
            copy.apply(event);
        }
    }
    let Fork { books, scheduler, .. } = copy;
    let all = || books.allocations_of(application);
    let starts = all().filter(|(_, row)| !row.is_pending()).count();
    let asks = all().count();
    let waiting = first_of(&books, application).filter(|ask| books.allocation(*ask).is_pending());
    // All asks that preceded it have been checked.
    let started = |(mut found, then): (Explanation, Books)| {
        found.checks.retain(|check| !matches!(check.blocker, Blocker::Order(..)));
        (Explanation { verdict: Verdict::StartsNext, ..found }, then)
    };
    let found = match waiting {
        Some(ask) => explain(&books, &scheduler, ask).map(|found| (found, books)),
        None => first.map(started),
    };
    let Some((explanation, books)) = found else {
        let message = Name::new(
            "the hypothetical ask has no amounts. Set `resources` to at least one amount above 0.",
        );
        return WhatIfOutcome::Rejected { code: Name::new(RefusalCode::AskSize.as_str()), message };
    };
    WhatIfOutcome::TakenIn(
        WhatIfAccepted { books, explanation, starts, asks, ran_out: !at_rest }.into(),
    )
}

/// Returns books with the submission, and its application. Returns the code and the sentence of the rule that rejects
/// it.
fn submitted(
    books: &Books,
    now: Timestamp,
    supposed: &Hypothetical,
) -> Result<(Books, ApplicationId), (Name, Name)> {
    let mut then = books.clone();
    let commands = match supposed {
        Hypothetical::Task(task) => alloc::vec![Command::SubmitTask(task.clone().into())],
        Hypothetical::Application(submit, ask, members) => {
            let key = |number| member_key(&submit.application, number);
            let asks = (1..=*members).map(|number| Ask { key: key(number), ..ask.clone() });
            let asks = asks.map(Command::Ask);
            core::iter::once(Command::Submit(submit.clone())).chain(asks).collect()
        }
    };
    let application = books.applications().next_id();
    for command in &commands {
        let declined = |code: &str, message| (Name::new(code), message);
        let events = decide(&then, now, command)
            .map_err(|why| declined(why.code().as_str(), Name::from(alloc::format!("{why}"))))?;
        if let Some(Event::Application(ApplicationEvent::Rejected { code, message, .. })) =
            events.last()
        {
            return Err(declined(code, message.clone()));
        }
        for event in &events {
            then.apply(now, event);
        }
    }
    Ok((then, application))
}

/// Returns the first ask of an application that these events place.
fn started(books: &Books, application: ApplicationId, events: &[Event]) -> Option<AllocationId> {
    let placed = events.iter().filter_map(|event| {
        if let Event::Ask(AskEvent::Placed { ask, .. }) = event { Some(*ask) } else { None }
    });
    placed.into_iter().find(|ask| books.allocation(*ask).application == application)
}

/// Returns a name that no application and no ask of a partition has, also with a point and a member number appended.
pub fn unused_name(books: &Books, partition: PartitionId, members: u32) -> Name {
    let row = books.partition(partition);
    let is_free = |name: &Name| {
        let taken = |name: &Name| {
            row.applications.get(&**name).is_some()
                || row.allocations.get(&**name).is_some()
                || row.tasks.ended(name).is_some()
        };
        !taken(name) && !(1..=members).any(|number| taken(&member_key(name, number)))
    };
    let names = (1_u64..).map(|number| Name::from(alloc::format!("would-run-{number}")));
    names.into_iter().find(is_free).unwrap_or_default()
}
