//! Gangs: placeholder timeouts, and placeholder replacements when a node is removed. Source: scheduling §10.5, §12.3.

use alloc::vec::Vec;

use crate::books::{Allocation, ApplicationState, Books, GangStyle, StopRequest};
use crate::event::{AllocationEvent, ApplicationEvent, AskEvent, Event, Termination};
use crate::id::{AllocationId, ApplicationId, NodeId};

use super::lifecycle::Lifecycle;

/// Handles the timeout of a gang. A running application releases its unused placeholders. If it lost members and did
/// not replace them, it fails with the style `Hard`, and continues without them otherwise. An application whose gang is
/// not complete releases everything, and then starts again without a gang or fails.
pub(super) fn expire(books: &Books, application: ApplicationId, events: &mut Vec<Event>) {
    events.push(Event::Application(ApplicationEvent::PlaceholdersExpired { application }));
    let row = books.application(application);
    let style = row.gang.as_ref().map_or(GangStyle::Soft, |gang| gang.style);
    let is_broken = row.repairs_gang() && style == GangStyle::Hard;
    match row.state {
        ApplicationState::Running if is_broken => {
            end(books, application, ApplicationState::Failing, events);
        }
        ApplicationState::Running | ApplicationState::Completing => {
            ask_back(books, application, true, events);
        }
        ApplicationState::Accepted => {
            let state = match style {
                GangStyle::Soft => ApplicationState::Resuming,
                GangStyle::Hard => ApplicationState::Failing,
            };
            end(books, application, state, events);
        }
        // These states have no gang that could wait.
        ApplicationState::New
        | ApplicationState::Completed
        | ApplicationState::Resuming
        | ApplicationState::Failing
        | ApplicationState::Failed => {}
    }
}

/// Moves an application to this state, asks the RM to stop its allocations, and withdraws its asks.
fn end(
    books: &Books,
    application: ApplicationId,
    state: ApplicationState,
    events: &mut Vec<Event>,
) {
    let moved = ApplicationEvent::Moved { application, state, timer: None };
    events.push(Event::Application(moved));
    ask_back(books, application, false, events);
    let mut asks = ids(books, application, Allocation::is_pending);
    asks.reverse();
    let termination = Termination::Timeout;
    events.extend(asks.into_iter().map(|ask| Event::Ask(AskEvent::Removed { ask, termination })));
}

/// Asks the RM to stop the placeholders or all allocations of an application, oldest first. Skips allocations that the
/// RM is already stopping.
pub(super) fn ask_back(
    books: &Books,
    application: ApplicationId,
    placeholders_only: bool,
    events: &mut Vec<Event>,
) {
    let mut held = ids(books, application, |row| {
        row.is_allocated()
            && row.mark == StopRequest::None
            && (row.placeholder || !placeholders_only)
    });
    held.reverse();
    let termination = Termination::Timeout;
    let asked = held.into_iter().map(|allocation| {
        Event::Allocation(AllocationEvent::ReleaseAsked { allocation, termination })
    });
    events.extend(asked);
}

fn ids(
    books: &Books,
    application: ApplicationId,
    wanted: impl Fn(&Allocation) -> bool,
) -> Vec<AllocationId> {
    let rows = books.allocations_of(application).filter(|(_, row)| wanted(row));
    rows.map(|(id, _)| id).collect()
}

/// Removes an allocation of a removed node. It can be part of a placeholder replacement.
pub(super) fn lose(
    books: &Books,
    node: NodeId,
    allocation: AllocationId,
    life: &mut Lifecycle<'_>,
    events: &mut Vec<Event>,
) {
    if life.ended_with(allocation) {
        return;
    }
    let row = books.allocation(allocation);
    let elsewhere = |member| books.allocation(member).node != Some(node);
    if row.is_swapping() {
        // Its placeholder is on another node, and remains until the RM has stopped it.
        life.drop_swap(allocation, events);
    } else if row.partner().is_some_and(elsewhere) {
        life.confirm(allocation, events);
    } else {
        life.release(allocation, Termination::NodeRemoved, events);
    }
}
