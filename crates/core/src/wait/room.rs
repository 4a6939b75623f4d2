//! Sentences about free capacity of nodes: of the required or reserved node, or of all nodes.

use alloc::format;
use alloc::string::String;

use crate::books::{Books, Node};
use crate::id::AllocationId;
use crate::resource::{Resources, format_amounts};

use super::{Wait, figures_of};

/// Required or reserved node with the values that sentences show.
struct Seen<'a> {
    books: &'a Books,
    /// Display text of the node.
    subject: String,
    node: &'a Node,
    asked: &'a Resources,
}

impl<'a> Seen<'a> {
    fn of(wait: &Wait, books: &'a Books, ask: AllocationId) -> Option<Self> {
        let node = books.node(wait.blocker.about().node()?);
        Some(Self {
            books,
            subject: wait.blocker.subject(books),
            node,
            asked: books.node_request(ask),
        })
    }

    /// Returns `amounts` and the request of the ask, formatted in the same units.
    fn with_needs(&self, amounts: &Resources) -> [String; 2] {
        let types = self.books.types();
        let asked = types.amounts(self.asked);
        format_amounts(&asked, [&types.amounts(amounts), &asked])
    }
}

/// Returns the sentence for a node that is reserved for the ask.
pub(super) fn of_reserved_node(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let Some(seen) = Seen::of(wait, books, ask) else { return String::new() };
    let (subject, [free, needs]) = (&seen.subject, seen.with_needs(&seen.node.available));
    format!(
        "{subject} is reserved for the ask and has {free} free, but the ask needs {needs}. Wait for a release on this node, or for capacity on another node."
    )
}

/// Returns the sentence for a reserved node on which allocations were preempted.
pub(super) fn of_stopping(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let Some(seen) = Seen::of(wait, books, ask) else { return String::new() };
    let stopping = wait.blocker.about().node().into_iter();
    let stopping = stopping.flat_map(|node| books.preempted_on(node));
    let stopping = stopping.fold(Resources::new(), |sum, one| sum.plus(books.node_request(one)));
    let (subject, [free, needs]) = (&seen.subject, seen.with_needs(&seen.node.available));
    let [room, _] = seen.with_needs(&stopping);
    format!(
        "{subject} is reserved for the ask and has {free} free, but the ask needs {needs}. \
         Preempted allocations on this node free {room}. Wait until these allocations stop."
    )
}

/// Returns the sentence for a required node with too little free capacity.
pub(super) fn of_required_node(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let Some(seen) = Seen::of(wait, books, ask) else { return String::new() };
    let (subject, [free, needs]) = (&seen.subject, seen.with_needs(&seen.node.available));
    format!(
        "the ask requires {subject}, which has {free} free, but the ask needs {needs}. Wait for a release on this node."
    )
}

/// Returns the sentence for a required node that is too small, alone or because of foreign allocations.
pub(super) fn of_required_size(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let Some(seen) = Seen::of(wait, books, ask) else { return String::new() };
    let (subject, node) = (&seen.subject, seen.node);
    if node.capacity.fits(seen.asked) {
        let [left, needs] = seen.with_needs(&node.capacity.minus_floored(&node.occupied));
        return format!(
            "the ask requires {subject}, on which foreign allocations leave {left}, but the ask needs {needs}. Move the foreign allocations, or request less."
        );
    }
    let [size, needs] = seen.with_needs(&node.capacity);
    format!(
        "the ask requires {subject}, which has a capacity of {size}, but the ask needs {needs}. Enlarge the node, or request less."
    )
}

/// Returns the sentence for a required node that is not registered.
pub(super) fn of_absent_node(_: &Wait, books: &Books, ask: AllocationId) -> String {
    let name = books.allocation(ask).required_node().map_or("", |name| name.as_str());
    format!(
        "the ask requires node {name}, which is not registered. Register the node, or withdraw the ask."
    )
}

/// Returns the sentence for free capacity on any node.
pub(super) fn of_nodes(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let (members, ask) =
        (books.members_of(books.allocation(ask).application), books.node_request(ask));
    let Some(short) = wait.shortfall else {
        let wanted = books.types().amounts(ask);
        let [needs] = format_amounts(&wanted, [&wanted]);
        if members > 1 {
            return format!(
                "the {members} members of the task start together and need {needs} each, but the \
                 nodes in use have too little free capacity. Wait for a \
                 release, or add nodes."
            );
        }
        return format!(
            "no node in use has {needs} free, although each amount is free on some node. Wait for a release, or add nodes."
        );
    };
    let (name, [needed, most]) = figures_of(books, short, [short.needed, short.available]);
    format!(
        "the ask needs {needed} {name}, but no node that the ask can use has more than {most} \
         free. Wait for a release, or add nodes."
    )
}
