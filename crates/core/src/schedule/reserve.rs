//! Nodes that are kept for asks, and asks that may run on one node only. Scheduling §9, §6.3.

use crate::books::Books;
use crate::id::{AllocationId, NodeId, QueueId};
use crate::resource::Resources;
use crate::wait::Blocker;

use super::judge::{Verdict, on_any_node, wait};
use super::nodes::NodeIndex;

/// Try the node that is kept for an ask, then all others.
pub(super) fn on_kept_node(
    books: &Books,
    nodes: &mut NodeIndex,
    leaf: QueueId,
    ask: AllocationId,
) -> Verdict {
    let (row, wanted) = (books.allocation(ask), books.resources_of(ask));
    let kept = row.reservation().expect("a kept ask has its reservation").node;
    // Whether the node is drained does not matter: it was kept before.
    if books.node(kept).available.fits(wanted) {
        return Verdict::Place(kept);
    }
    if row.required_node().is_some() {
        return wait(Blocker::RequiredNode(kept));
    }
    on_any_node(books, nodes, leaf, wanted)
}

/// Try the one node that an ask may run on; that it is drained does not matter.
pub(super) fn on_required_node(books: &Books, node: NodeId, ask: &Resources) -> Verdict {
    let row = books.node(node);
    if !row.is_reserved() && row.available.fits(ask) {
        return Verdict::Place(node);
    }
    wait(Blocker::RequiredNode(node))
}
