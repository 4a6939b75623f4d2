//! Tasks of several members that start together. Each member is placed after the previous ones, on a copy of the books.

use alloc::vec::Vec;

use crate::books::Books;
use crate::event::Event;
use crate::id::{AllocationId, ApplicationId};
use crate::resource::Resources;
use crate::time::Timestamp;

use super::{in_node_order, in_order, pending, place, suits};

/// Whether an application is a task of several members.
pub(super) fn is_one(books: &Books, id: ApplicationId) -> bool {
    books.application(id).task.as_ref().is_some_and(|task| task.settings.members > 1)
}

/// Returns the amount that must be free for an ask: for a task of several members, the amount of all members.
pub(super) fn wanted(books: &Books, ask: AllocationId) -> Resources {
    let id = books.allocation(ask).application;
    if !is_one(books, id) {
        return books.resources_of(ask).clone();
    }
    pending(books, id).fold(Resources::new(), |sum, (one, _)| sum.plus(books.resources_of(one)))
}

/// Places all members. Returns `None` if one of them does not fit.
pub(super) fn on_nodes(books: &Books, now: Timestamp, id: ApplicationId) -> Option<Vec<Event>> {
    place_each(books, now, in_order(books, id).into_iter().map(|(ask, _)| ask))
}

/// Places all of these asks one after the other on a copy of the books. Returns `None` if one of them does not fit.
pub(super) fn place_each(
    books: &Books,
    now: Timestamp,
    asks: impl IntoIterator<Item = AllocationId>,
) -> Option<Vec<Event>> {
    let (mut then, mut events) = (books.clone(), Vec::new());
    for ask in asks {
        let id = then.allocation(ask).application;
        let wanted = then.node_request(ask);
        let nodes = in_node_order(&then, then.application(id).partition);
        let mut fits = nodes.iter().filter(|(_, node)| {
            node.is_open() && node.available.fits(wanted) && suits(&then, ask, node)
        });
        let (node, _) = *fits.next()?;
        let step = place(&then, then.application(id), ask, node);
        for event in &step {
            then.apply(now, event);
        }
        events.extend(step);
    }
    Some(events)
}
