//! How many nodes there are for an ask, where none of them is one that it may have now.

use alloc::format;
use alloc::string::String;

use crate::books::{Books, Node, Wish};
use crate::id::{AllocationId, NodeId, PartitionId};

use super::Blocker;

/// The nodes of a partition, as one ask sees them.
struct Seen<'a> {
    books: &'a Books,
    partition: PartitionId,
    ask: AllocationId,
}

impl<'a> Seen<'a> {
    fn nodes(&self) -> impl Iterator<Item = (NodeId, &'a Node)> {
        let books = self.books;
        books.partition(self.partition).nodes.iter().map(|(_, id)| (*id, books.node(*id)))
    }

    fn has_room(&self, node: &Node) -> bool {
        node.schedulable && node.available.fits(self.books.on_node(self.ask))
    }

    fn wish(&self) -> Option<&'a Wish> {
        self.books.wish_of(self.ask)
    }

    fn fits_label(&self, node: &Node) -> bool {
        self.wish().map_or_else(|| !node.is_closed(), |wish| wish.fits_label(node))
    }

    /// Which nodes its label leaves; nothing is said of labels where it names none and no node is for one alone.
    fn labelled(&self) -> String {
        match self.wish().and_then(|wish| wish.label.as_ref()) {
            Some(label) => format!("nodes with the label {label}"),
            None if self.nodes().any(|(_, node)| node.is_closed()) => {
                "nodes that are not for one label alone".into()
            }
            None => "nodes".into(),
        }
    }
}

/// The sentence about nodes that are kept, blocked, or of other labels. Costs the nodes.
pub(super) fn sentence(
    blocker: Blocker,
    books: &Books,
    partition: PartitionId,
    ask: AllocationId,
) -> String {
    let seen = Seen { books, partition, ask };
    let all = books.partition(partition).nodes.len();
    let count = |is: &dyn Fn(NodeId, &Node) -> bool| {
        seen.nodes().filter(|(id, node)| is(*id, node)).count()
    };
    match blocker {
        Blocker::NodesReserved(_) => {
            let shape = books.allocation(ask).shape;
            let roomy = |id: NodeId, node: &Node| seen.has_room(node) && books.suits(shape, id);
            let (with_room, kept) =
                (count(&roomy), count(&|id, node| roomy(id, node) && node.is_reserved()));
            format!(
                "nodes with room for the ask: {with_room} of {all}; kept for other asks: {kept} of {with_room}; wait until one of these is placed or withdrawn, or add nodes"
            )
        }
        Blocker::NodeBlocked(_) => {
            let roomy =
                |node: &Node| seen.has_room(node) && !node.is_reserved() && seen.fits_label(node);
            let is_blocked = |node: &Node| seen.wish().is_some_and(|wish| wish.blocks(&node.name));
            let with_room = count(&|_, node| roomy(node));
            let blocked = count(&|_, node| roomy(node) && is_blocked(node));
            let nodes = seen.labelled();
            let and = if nodes == "nodes" { "" } else { " and" };
            format!(
                "{nodes}{and} with room for the ask: {with_room} of {all}; on its block list: {blocked} of {with_room}; wait for another node to have room, or ask again with a shorter list"
            )
        }
        _ => format!(
            "{}: {} of {all}; add nodes of that kind, or ask again with another label",
            seen.labelled(),
            count(&|_, node| seen.fits_label(node))
        ),
    }
}
