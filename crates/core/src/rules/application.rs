//! Removing applications, and the steps of their life.

use alloc::vec::Vec;

use crate::books::{ApplicationState, Books};
use crate::event::{Event, Termination};
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::time::{Millis, Timestamp};

use super::{application_named, partition_named};

/// How long an application without asks and allocations may come back. Source:
/// scheduling §3.5, the reference's constant.
pub(crate) const COMPLETING_FOR: Millis = Millis::from_secs(30);

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

/// An application goes, with everything that it has and asks for. It passes through the states
/// that are left to it, as if its asks had been withdrawn first and its allocations released
/// then; it is remembered by nobody. Source: scheduling §3.6, decision K-2.
pub(super) fn leave(
    books: &Books,
    application: ApplicationId,
    termination: Termination,
    events: &mut Vec<Event>,
) {
    let row = books.application(application);
    events.extend(give_up_all(books, application, termination));
    if row.link.is_some() {
        events.push(Event::ApplicationUnlinked { application });
    }
    let mut state = row.state;
    let mut pass = |next| {
        if state.may_become(next) {
            state = next;
            events.push(Event::ApplicationMoved { application, state, timer: None });
        }
    };
    pass(ApplicationState::Completing);
    if row.allocation_count == 0 {
        pass(ApplicationState::Completed);
    }
    events.push(Event::ApplicationRemoved { application });
}

/// Tie an application to the trackers that count for it, if it is not.
pub(crate) fn linked(books: &Books, application: ApplicationId) -> Option<Event> {
    let row = books.application(application);
    row.lacks_group().then(|| {
        let trackers = &books.partition(row.partition).trackers;
        let group = trackers.group_for(&books.path_of(row.queue), &row.groups);
        Event::ApplicationLinked { application, group }
    })
}

/// An ask is given room on a node; its application, in this state by then, runs if it waited
/// for its first.
pub(crate) fn placed(
    ask: AllocationId,
    node: NodeId,
    application: ApplicationId,
    state: ApplicationState,
    events: &mut Vec<Event>,
) {
    events.push(Event::Placed { ask, node });
    if state == ApplicationState::Accepted {
        let state = ApplicationState::Running;
        events.push(Event::ApplicationMoved { application, state, timer: None });
    }
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
