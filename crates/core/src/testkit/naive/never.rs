//! Asks that can never start, directly from no-starvation NS-01. Each check visits all levels and nodes.

use crate::books::{Application, Books, Node};
use crate::id::{AllocationId, QueueId};
use crate::resource::{Quantity, Resources};

use super::{all_or_nothing, fair_share, holding, replacement, suits, whole_gangs};

/// Whether a pending ask can start after no sequence of releases.
pub(super) fn can_never_start(books: &Books, ask: AllocationId) -> bool {
    let row = books.allocation(ask);
    let application = books.application(row.application);
    let names_label = books.node_selector_of(ask).is_some_and(|wish| wish.label.is_some());
    let borrows = books.has_lending(application.partition);
    if replacement::waits_for_place(application, row)
        || borrows && !names_label && row.required_node().is_none()
    {
        return false;
    }
    if is_gang_too_large(books, ask) {
        return true;
    }
    let wanted = all_or_nothing::wanted(books, ask);
    is_beyond_queues(books, application.queue, &wanted)
        || is_beyond_limits(books, application, &wanted)
        || has_no_nodes(books, ask)
}

/// Whether an ask is a placeholder of a gang without a placed placeholder, and the complete gang can never fit.
pub(super) fn is_gang_too_large(books: &Books, ask: AllocationId) -> bool {
    let row = books.allocation(ask);
    let application = books.application(row.application);
    let whole = application.gang.as_ref().map(|gang| &gang.ask);
    let Some(whole) = whole.filter(|_| whole_gangs::is_whole(books, row)) else { return false };
    let selector = books.node_selector_of(ask);
    if books.has_lending(application.partition) && selector.is_none_or(|one| one.label.is_none()) {
        return false;
    }
    is_beyond_queues(books, application.queue, whole)
        || is_beyond_limits(books, application, whole)
        || row.reservation().is_none() && has_no_nodes_for(books, ask, whole)
}

/// Whether the nodes have too few slots for a gang of equal placeholders, or too little of an amount for a gang with
/// different sizes.
fn has_no_nodes_for(books: &Books, ask: AllocationId, whole: &Resources) -> bool {
    let (size, partition) =
        (books.resources_of(ask), books.application(books.allocation(ask).application).partition);
    let mut sum = Resources::new();
    let mut count: u64 = 0;
    while !sum.is_at_least(whole) && count < 1_000 {
        sum = sum.plus(size);
        count += 1;
    }
    let nodes = books.nodes().iter().map(|(_, node)| node);
    let nodes = nodes.filter(|node| node.partition == partition);
    if whole.is_at_least(&sum) && sum.is_at_least(whole) {
        let usable = nodes.filter(|node| node.schedulable && suits(books, ask, node));
        let places = usable.map(|node| count_on(books, node, books.node_request(ask)));
        return places.fold(0, u64::saturating_add) < count;
    }
    let all = nodes.fold(Resources::new(), |all, node| all.plus(&node.capacity));
    !all.is_at_least(whole)
}

fn is_beyond(max: &Resources, wanted: &Resources) -> bool {
    max.iter().any(|(resource, most)| wanted.get_or_zero(resource) > most.max(Quantity::ZERO))
}

fn is_beyond_queues(books: &Books, leaf: QueueId, wanted: &Resources) -> bool {
    let maxima = books.path_of(leaf).into_iter().filter_map(|queue| {
        let row = books.queue(queue);
        row.max.as_ref().filter(|_| row.parent.is_some())
    });
    maxima.into_iter().any(|max| is_beyond(max, wanted))
}

fn is_beyond_limits(books: &Books, row: &Application, wanted: &Resources) -> bool {
    let Some(link) = row.link.filter(|_| !row.lacks_group()) else { return false };
    let levels = holding(books, row, link);
    let by_limit = levels.iter().any(|level| level.max().is_some_and(|max| is_beyond(max, wanted)));
    by_limit || fair_share::is_beyond_cap(books, row, wanted)
}

/// Whether the nodes are too few or too small for an ask and for all that starts with it.
fn has_no_nodes(books: &Books, ask: AllocationId) -> bool {
    let row = books.allocation(ask);
    if row.reservation().is_some() {
        return false; // Its node is large enough, and may be drained.
    }
    let application = books.application(row.application);
    let size = books.node_request(ask);
    let mut mine = books.nodes().iter().map(|(_, node)| node);
    if let Some(name) = row.required_node() {
        let node = mine.find(|node| node.partition == application.partition && node.name == *name);
        return node.is_none_or(|node| count_on(books, node, size) == 0);
    }
    let members = u64::from(books.members_of(row.application));
    let usable = mine.filter(|node| {
        node.partition == application.partition && node.schedulable && suits(books, ask, node)
    });
    let mut places: u64 = 0;
    for node in usable {
        places = places.saturating_add(count_on(books, node, size));
    }
    places < members
}

/// Returns the number of asks of this size that a node can hold in addition to its static allocations.
fn count_on(books: &Books, node: &Node, size: &Resources) -> u64 {
    let foreign = &books.partition(node.partition).foreign;
    let fixed = foreign.iter().map(|(_, one)| one).filter(|one| {
        !one.preemptable && books.nodes().get(one.node).is_some_and(|on| on.name == node.name)
    });
    let fixed = fixed.fold(Resources::new(), |sum, one| sum.plus(&one.resources));
    let counts =
        size.iter().filter(|(_, amount)| *amount > Quantity::ZERO).map(|(resource, amount)| {
            let left = node.capacity.get_or_zero(resource).minus(fixed.get_or_zero(resource));
            left.get().max(0).cast_unsigned() / amount.get().cast_unsigned()
        });
    counts.min().unwrap_or(u64::MAX)
}
