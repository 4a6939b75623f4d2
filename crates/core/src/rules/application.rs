//! Removal of applications, and state changes when asks are placed.

use alloc::vec::Vec;

use crate::books::{ApplicationState, Books};
use crate::event::{AllocationEvent, ApplicationEvent, AskEvent, Event, Termination};
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::Resources;

use super::{application_named, partition_named};

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

/// Removes an application with all its asks and allocations.
///
/// The application passes the remaining states, as if its asks were withdrawn first and its allocations released
/// afterwards. If its partition is removed, it fails first. A removed application is not stored. Source: scheduling
/// §3.3, §3.6, decision K-2.
pub(super) fn leave(
    books: &Books,
    application: ApplicationId,
    termination: Termination,
    events: &mut Vec<Event>,
) {
    let row = books.application(application);
    let mut state = row.state;
    let mut pass = |next: ApplicationState, events: &mut Vec<Event>| {
        if state.may_become(next) {
            state = next;
            events.push(Event::Application(ApplicationEvent::Moved {
                application,
                state,
                timer: None,
            }));
        }
    };
    let failed = row.state == ApplicationState::Failing;
    let fails = termination == Termination::PartitionRemoved;
    if fails && !failed {
        pass(ApplicationState::Failing, events);
    }
    give_up_all(books, application, termination, events);
    if row.link.is_some() {
        events.push(Event::Application(ApplicationEvent::Unlinked { application }));
    }
    if fails && failed {
        pass(ApplicationState::Failed, events);
    }
    // The asks are withdrawn first. The application then completes if it had no allocation.
    let only_asked = row.ask_count > 0 && row.allocation_count == 0;
    let completing = row.state == ApplicationState::Completing;
    if only_asked && !completing {
        pass(ApplicationState::Completing, events);
    }
    // The allocations are released next, even if there are none.
    if completing || only_asked {
        pass(ApplicationState::Completed, events);
    } else {
        pass(ApplicationState::Completing, events);
    }
    events.push(Event::Application(ApplicationEvent::Removed { application }));
}

/// Withdraws every ask and releases every allocation of an application, oldest first.
fn give_up_all(
    books: &Books,
    application: ApplicationId,
    termination: Termination,
    events: &mut Vec<Event>,
) {
    let rows = || books.allocations_of(application);
    let swaps = rows().filter(|(_, row)| row.is_swapping());
    events.extend(swaps.map(|(ask, _)| Event::Allocation(AllocationEvent::SwapDropped { ask })));
    let start = events.len();
    events.extend(rows().map(|(id, row)| {
        if row.is_allocated() {
            Event::Allocation(AllocationEvent::Released { allocation: id, termination })
        } else {
            Event::Ask(AskEvent::Removed { ask: id, termination })
        }
    }));
    events[start..].reverse();
}

/// Returns the event that links an application to its trackers. `None` if it is linked already.
pub(crate) fn linked(books: &Books, application: ApplicationId) -> Option<Event> {
    let row = books.application(application);
    row.lacks_group().then(|| {
        let trackers = &books.partition(row.partition).trackers;
        let group = trackers.group_for(&books.path_of(row.queue), &row.groups);
        Event::Application(ApplicationEvent::Linked { application, group })
    })
}

/// Placement of an ask on a node.
pub(crate) struct Placement<'books> {
    pub(crate) ask: AllocationId,
    pub(crate) node: NodeId,
    pub(crate) application: ApplicationId,
    /// State of the application before the placement.
    pub(crate) state: ApplicationState,
    pub(crate) placeholder: bool,
    /// Size of the ask. `None` if the size contains types that no other object has.
    pub(crate) size: Option<&'books Resources>,
}

/// Adds the events of a placement. The application becomes Running with its first allocation that is no placeholder, or
/// when this placeholder completes its gang. Source: scheduling §3.3.
#[inline]
pub(crate) fn placed(books: &Books, placement: &Placement<'_>, events: &mut Vec<Event>) {
    let Placement { ask, node, application, state, placeholder, size } = *placement;
    events.push(Event::Ask(AskEvent::Placed { ask, node }));
    let runs = !placeholder || size.is_some_and(|size| completes_gang(books, application, size));
    if let Some(state) = state.run().filter(|_| runs) {
        events.push(Event::Application(ApplicationEvent::Moved {
            application,
            state,
            timer: None,
        }));
    }
}

/// Returns whether one more placeholder of this size makes the sum of the placeholders equal to the gang size of the
/// application.
fn completes_gang(books: &Books, application: ApplicationId, size: &Resources) -> bool {
    let row = books.application(application);
    // The gang size is set before the labels of its asks are known.
    let is_label = |label: &str| books.is_exclusive(row.partition, label);
    let plain = |sum: &Resources| {
        let on_nodes = books.for_nodes(row.partition, sum);
        books.types().plain_sum(on_nodes.as_ref().unwrap_or(sum), is_label).pruned()
    };
    // The gang size of a task also counts its members in the type for tasks.
    let whole =
        |ask: &Resources| books.for_nodes(row.partition, ask).unwrap_or_else(|| ask.clone());
    let gang = row.gang.as_ref();
    gang.is_some_and(|gang| plain(&gang.placeholders.plus(size)) == whole(&gang.ask))
}
