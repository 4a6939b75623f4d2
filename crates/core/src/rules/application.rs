//! Removing applications, and the steps of their life.

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

/// An application goes, with everything that it has and asks for. It passes through the states
/// that are left to it, as if its asks had been withdrawn first and its allocations released
/// then; with its partition, it fails first. It is remembered by nobody. Source: scheduling §3.3,
/// §3.6, decision K-2.
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
    // Its asks are withdrawn, and that may be all it had.
    let only_asked = row.ask_count > 0 && row.allocation_count == 0;
    let completing = row.state == ApplicationState::Completing;
    if only_asked && !completing {
        pass(ApplicationState::Completing, events);
    }
    // Then its allocations are released, whether it has any or not.
    if completing || only_asked {
        pass(ApplicationState::Completed, events);
    } else {
        pass(ApplicationState::Completing, events);
    }
    events.push(Event::Application(ApplicationEvent::Removed { application }));
}

/// Withdraw every ask and release every allocation of an application, the oldest first.
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

/// Tie an application to the trackers that count for it, if it is not.
pub(crate) fn linked(books: &Books, application: ApplicationId) -> Option<Event> {
    let row = books.application(application);
    row.lacks_group().then(|| {
        let trackers = &books.partition(row.partition).trackers;
        let group = trackers.group_for(&books.path_of(row.queue), &row.groups);
        Event::Application(ApplicationEvent::Linked { application, group })
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

/// Whether one more placeholder of this size makes the placeholders of an application equal to
/// what they need together.
fn completes_gang(books: &Books, application: ApplicationId, size: &Resources) -> bool {
    let row = books.application(application);
    // The gang size is set before anybody knows which label the asks will name.
    let is_label = |label: &str| books.is_exclusive(row.partition, label);
    let plain = |sum: &Resources| {
        let on_nodes = books.for_nodes(row.partition, sum);
        books.types().plain_sum(on_nodes.as_ref().unwrap_or(sum), is_label).pruned()
    };
    // The size of a task of a tenant counts its members as tasks.
    let whole =
        |ask: &Resources| books.for_nodes(row.partition, ask).unwrap_or_else(|| ask.clone());
    let gang = row.gang.as_ref();
    gang.is_some_and(|gang| plain(&gang.placeholders.plus(size)) == whole(&gang.ask))
}
