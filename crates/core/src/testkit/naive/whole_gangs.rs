//! Gangs that start as a whole, directly from no-starvation NS-30. All placeholders are tried on a copy of the books.

use alloc::vec::Vec;

use crate::books::{Allocation, ApplicationState, Books, Node};
use crate::config::GangPlacement;
use crate::event::Event;
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::resource::{Quantity, Resources};
use crate::time::Timestamp;

use super::all_or_nothing::place_each;
use super::fair_share::takes_turns;
use super::{fits_headroom, head_of_line, holds, in_order, link_of};

/// Whether an ask is a placeholder of a gang that is placed as a whole. Some placeholders of the gang might be placed
/// already.
pub(super) fn is_member(books: &Books, ask: &Allocation) -> bool {
    let application = books.application(ask.application);
    let settings = &books.partition(application.partition).settings;
    ask.placeholder
        && ask.required_node().is_none()
        && settings.gang_placement == GangPlacement::Whole
        && application
            .gang
            .as_ref()
            .is_some_and(|gang| is_part(&gang.ask, books.shapes().get(ask.shape)))
}

/// Whether all types of a size are among the types of the total amount of a gang, which are plain types.
fn is_part(whole: &Resources, size: &Resources) -> bool {
    let has = |of: &Resources, resource| of.get_or_zero(resource).get() > 0;
    !whole.is_empty() && size.iter().all(|(one, _)| !has(size, one) || has(whole, one))
}

/// Like [`is_member`], while no placeholder of the gang is placed.
pub(super) fn is_whole(books: &Books, ask: &Allocation) -> bool {
    is_member(books, ask)
        && !was_placed(books, ask.application)
        && !backs_off(books, ask.application)
}

/// Whether an ask fits on a node on which only foreign allocations run and, if the ask is a placeholder of a gang that
/// is placed as a whole, the other placeholders and members of this gang.
pub(super) fn leaves_enough(books: &Books, ask: AllocationId, (id, node): (NodeId, &Node)) -> bool {
    let row = books.allocation(ask);
    if !is_member(books, row) {
        return true;
    }
    let own = books.allocations().iter().filter(|(_, one)| one.application == row.application);
    let there: Vec<AllocationId> =
        own.filter(|(_, one)| one.node == Some(id)).map(|(id, _)| id).collect();
    books.node_request(ask).iter().all(|(resource, wanted)| {
        let sizes = there.iter().map(|one| books.node_request(*one).get_or_zero(resource));
        let used = sizes.fold(node.occupied.get_or_zero(resource), Quantity::plus);
        wanted <= node.capacity.get_or_zero(resource).minus(used).max(Quantity::ZERO)
    })
}

/// Whether the asks of an application are checked one by one.
fn backs_off(books: &Books, id: ApplicationId) -> bool {
    let row = books.application(id);
    (books.queue(row.queue).settings.values.backoff > 0 || row.backed_off.is_some())
        && !takes_turns(books, row.queue)
        && !head_of_line::has_one(books, row.queue)
}

/// Whether a placeholder of a gang is placed now or was placed before.
fn was_placed(books: &Books, application: ApplicationId) -> bool {
    let groups = books.application(application).gang.iter().flat_map(|gang| &gang.groups);
    groups.map(|group| group.replaced + group.timed_out).sum::<u64>() > 0
        || books.allocations_of(application).any(|(_, row)| row.placeholder && row.is_allocated())
}

/// Returns the pending placeholders of a gang, in order.
fn waiting(books: &Books, application: ApplicationId) -> Vec<AllocationId> {
    let all = in_order(books, application).into_iter();
    all.filter(|(_, ask)| is_member(books, ask)).map(|(id, _)| id).collect()
}

fn sum(books: &Books, asks: &[AllocationId]) -> Resources {
    asks.iter().fold(Resources::new(), |sum, ask| sum.plus(books.resources_of(*ask)))
}

/// Whether an ask belongs to a gang that cannot be placed now. This is the case if the gang is not complete. It is also
/// the case if another gang is still being placed and this one does not fit at once.
pub(super) fn waits(books: &Books, now: Timestamp, ask: AllocationId) -> bool {
    let row = books.allocation(ask);
    if !is_whole(books, row) {
        return false;
    }
    let application = books.application(row.application);
    let whole = application.gang.as_ref().map(|gang| gang.ask.clone()).unwrap_or_default();
    if !sum(books, &waiting(books, row.application)).is_at_least(&whole) {
        return true;
    }
    let mut others = books
        .applications()
        .iter()
        .filter(|(id, one)| *id != row.application && one.partition == application.partition);
    others.any(|(id, _)| gathers(books, id)) && place_all(books, now, ask).is_none()
}

/// Whether a part of the gang of an application is placed, and the rest waits.
pub(super) fn gathers(books: &Books, id: ApplicationId) -> bool {
    let row = books.application(id);
    row.state == ApplicationState::Accepted
        && row.gang.as_ref().is_some_and(|gang| !gang.ask.is_empty())
        && was_placed(books, id)
        && books.allocations_of(id).any(|(_, row)| row.is_allocated())
}

/// Places all placeholders of the gang of an ask. `None` if they do not all fit.
pub(super) fn place_all(books: &Books, now: Timestamp, ask: AllocationId) -> Option<Vec<Event>> {
    let row = books.allocation(ask);
    let id = row.application;
    if !is_whole(books, row) || books.asks_about_nodes(books.application(id).partition) {
        return None;
    }
    let asks = waiting(books, id);
    if asks.iter().any(|one| books.allocation(*one).reservation().is_some()) {
        return None;
    }
    let link = link_of(books, id, books.application(id)).ok()?;
    if !fits_headroom(books, books.application(id), link, &sum(books, &asks)) {
        return None;
    }
    if holds::hold_back(books, ask, &sum(books, &asks)) {
        return None;
    }
    place_each(books, now, asks)
}
