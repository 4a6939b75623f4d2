//! Sentences about nodes that an ask cannot use: reserved, blocked, or of another label.

use alloc::format;
use alloc::string::String;

use crate::books::{Books, Node, NodeSelector};
use crate::id::{AllocationId, NodeId, PartitionId};

use super::{About, Wait};

/// Nodes of a partition and the ask that they are checked for.
struct Seen<'a> {
    books: &'a Books,
    partition: PartitionId,
    ask: AllocationId,
}

impl<'a> Seen<'a> {
    /// Returns the nodes of the reason. `None` if the reason is not about all nodes.
    fn of(wait: &Wait, books: &'a Books, ask: AllocationId) -> Option<Self> {
        let About::AnyNode(partition) = wait.blocker.about() else { return None };
        Some(Self { books, partition, ask })
    }

    fn all(&self) -> usize {
        self.books.partition(self.partition).nodes.len()
    }

    fn count(&self, is: impl Fn(NodeId, &Node) -> bool) -> usize {
        self.nodes().filter(|(id, node)| is(*id, node)).count()
    }

    fn nodes(&self) -> impl Iterator<Item = (NodeId, &'a Node)> {
        let books = self.books;
        books.partition(self.partition).nodes.iter().map(|(_, id)| (*id, books.node(*id)))
    }

    fn has_room(&self, node: &Node) -> bool {
        node.schedulable && node.available.fits(self.books.node_request(self.ask))
    }

    fn wish(&self) -> Option<&'a NodeSelector> {
        self.books.node_selector_of(self.ask)
    }

    fn fits_label(&self, node: &Node) -> bool {
        self.wish().map_or_else(|| !node.is_closed(), |wish| wish.fits_label(node))
    }

    /// Returns a phrase with the required label. Empty if the ask selects none and no node has an exclusive label.
    fn label(&self) -> String {
        match self.wish().and_then(|wish| wish.label.as_ref()) {
            Some(label) => format!("the label {label}"),
            None if self.nodes().any(|(_, node)| node.is_closed()) => "no exclusive label".into(),
            None => String::new(),
        }
    }
}

/// Returns the form of a verb for a number of nodes.
const fn verb(nodes: usize, one: &'static str, many: &'static str) -> &'static str {
    if nodes == 1 { one } else { many }
}

/// Returns the sentence for nodes that are reserved for other asks. Costs the number of nodes, as do the functions
/// below.
pub(super) fn of_reserved(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let Some(seen) = Seen::of(wait, books, ask) else { return String::new() };
    let (all, shape) = (seen.all(), books.allocation(ask).shape);
    let roomy = |id: NodeId, node: &Node| seen.has_room(node) && books.suits(shape, id);
    let with_room = seen.count(roomy);
    let reserved = seen.count(|id, node| roomy(id, node) && node.is_reserved());
    let (have, are) = (verb(with_room, "has", "have"), verb(reserved, "is", "are"));
    format!(
        "{with_room} of {all} nodes {have} enough free capacity, but {reserved} of those {are} reserved for other asks. Wait until such an ask is placed or withdrawn, or add nodes."
    )
}

/// Returns the sentence for nodes on the block list of the ask.
pub(super) fn of_blocked(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let Some(seen) = Seen::of(wait, books, ask) else { return String::new() };
    let roomy = |node: &Node| seen.has_room(node) && !node.is_reserved() && seen.fits_label(node);
    let is_blocked = |node: &Node| seen.wish().is_some_and(|wish| wish.blocks(&node.name));
    let with_room = seen.count(|_, node| roomy(node));
    let blocked = seen.count(|_, node| roomy(node) && is_blocked(node));
    let (all, label) = (seen.all(), seen.label());
    let and = if label.is_empty() { "" } else { " and " };
    let (have, are) = (verb(with_room, "has", "have"), verb(blocked, "is", "are"));
    format!(
        "{with_room} of {all} nodes {have} {label}{and}enough free capacity, but {blocked} of those {are} on the block list of the ask. Wait for capacity on another node, or submit the ask with a shorter list."
    )
}

/// Returns the sentence for nodes of other labels.
pub(super) fn of_labels(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let Some(seen) = Seen::of(wait, books, ask) else { return String::new() };
    let (all, label, fitting) =
        (seen.all(), seen.label(), seen.count(|_, node| seen.fits_label(node)));
    let have = verb(fitting, "has", "have");
    format!(
        "{fitting} of {all} nodes {have} {label}. Add matching nodes, or submit the ask with \
         another label."
    )
}
