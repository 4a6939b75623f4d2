//! Removing applications, and the steps of their life.

use alloc::vec::Vec;

use crate::books::{ApplicationState, Books};
use crate::event::{Event, Termination};
use crate::id::ApplicationId;
use crate::name::Name;
use crate::rejection::Rejection;
use crate::time::{Millis, Timestamp};

use super::{application_named, partition_named};

/// How long an application without asks and allocations may come back. Source:
/// scheduling §3.5, the reference's constant.
pub(crate) const COMPLETING_FOR: Millis = Millis::from_secs(30);

/// How long a completed application is remembered. Source: scheduling §3.5.
pub(crate) const COMPLETED_FOR: Millis = Millis::from_secs(72 * 3_600);

pub(super) fn remove(
    books: &Books,
    partition: &Name,
    application: &Name,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    let application = application_named(books, partition, application)?;
    let mut events = Vec::new();
    leave(books, application, Termination::StoppedByRm, &mut events);
    Ok(events)
}

/// An application goes, with everything that it has and asks for.
pub(super) fn leave(
    books: &Books,
    application: ApplicationId,
    termination: Termination,
    events: &mut Vec<Event>,
) {
    events.extend(give_up_all(books, application, termination));
    if books.application(application).link.is_some() {
        events.push(Event::ApplicationUnlinked { application });
    }
    events.push(Event::ApplicationRemoved { application });
}

/// Withdraw every ask and release every allocation of an application, the oldest first.
pub(super) fn give_up_all(
    books: &Books,
    application: ApplicationId,
    termination: Termination,
) -> Vec<Event> {
    let mut events: Vec<Event> = books
        .allocations_of(application)
        .map(|(id, row)| match row.node {
            None => Event::AskRemoved { ask: id, termination },
            Some(_) => Event::Released { allocation: id, termination },
        })
        .collect();
    events.reverse();
    events
}

/// What follows when an application is left without any ask and allocation.
pub(super) fn left_empty(
    books: &Books,
    now: Timestamp,
    application: ApplicationId,
    events: &mut Vec<Event>,
) {
    let row = books.application(application);
    if row.link.is_some() {
        events.push(Event::ApplicationUnlinked { application });
    }
    let state = ApplicationState::Completing;
    if row.state.may_become(state) {
        let timer = Some(now + COMPLETING_FOR);
        events.push(Event::ApplicationMoved { application, state, timer });
    }
}
