//! Removing applications, and the steps of their life.

use alloc::vec::Vec;

use crate::books::{ApplicationState, Books, Gang};
use crate::event::{Event, Termination};
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::Resources;
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

/// An ask that is given room on a node.
pub(crate) struct Placement<'books> {
    pub(crate) ask: AllocationId,
    pub(crate) node: NodeId,
    pub(crate) application: ApplicationId,
    /// The state of its application by then.
    pub(crate) state: ApplicationState,
    pub(crate) placeholder: bool,
    /// How much it wants; none if it names types that nobody else does.
    pub(crate) size: Option<&'books Resources>,
}

/// An ask is given room on a node; its application runs if it waited for its first real one,
/// or if this placeholder makes its gang complete. Source: scheduling §3.3.
#[inline]
pub(crate) fn placed(books: &Books, placement: &Placement<'_>, events: &mut Vec<Event>) {
    let Placement { ask, node, application, state, placeholder, size } = *placement;
    events.push(Event::Placed { ask, node });
    let runs = !placeholder || size.is_some_and(|size| completes_gang(books, application, size));
    if let Some(state) = state.run().filter(|_| runs) {
        events.push(Event::ApplicationMoved { application, state, timer: None });
    }
}

/// Whether one more placeholder of this size makes the placeholders of an application equal to
/// what they need together.
fn completes_gang(books: &Books, application: ApplicationId, size: &Resources) -> bool {
    let gang = books.application(application).gang.as_ref();
    let complete = |gang: &Gang| gang.placeholders.plus(size).pruned() == gang.ask;
    gang.is_some_and(|gang| complete(gang))
}

/// Withdraw every ask and release every allocation of an application, the oldest first.
pub(super) fn give_up_all(
    books: &Books,
    application: ApplicationId,
    termination: Termination,
) -> Vec<Event> {
    let mut events: Vec<Event> = books
        .allocations_of(application)
        .map(|(id, row)| {
            if row.is_allocated() {
                Event::Released { allocation: id, termination }
            } else {
                Event::AskRemoved { ask: id, termination }
            }
        })
        .collect();
    events.reverse();
    let swaps = books.allocations_of(application).filter(|(_, row)| row.is_swapping());
    swaps.map(|(ask, _)| Event::SwapDropped { ask }).chain(events).collect()
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
