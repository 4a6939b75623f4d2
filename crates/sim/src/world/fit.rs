//! Whether a task could ever run: on some node, under every maximum and limit.

use headroom_core::books::Books;
use headroom_core::id::AllocationId;
use headroom_core::resource::{Amounts, Quantity};

use crate::nodes::NodeSpec;

/// Whether a node of this size has room for a task of this size.
pub(super) fn fits(node: &Amounts, task: &Amounts) -> bool {
    task.iter().all(|(name, needed)| needed <= node.get(name).unwrap_or(Quantity::ZERO))
}

/// Why an ask can never be placed, whatever is released; none if it can.
pub(super) fn impossible(books: &Books, nodes: &[NodeSpec], ask: AllocationId) -> Option<String> {
    let row = books.allocation(ask);
    let application = books.application(row.application);
    let task = books.types().amounts(books.resources_of(ask));
    if !nodes.iter().any(|node| fits(&node.resources, &task)) {
        return Some(format!("a task needs {task}, more than any single node has"));
    }
    let wanted = books.resources_of(ask);
    for (_, queue) in books.up(application.queue) {
        if let Some(max) = queue.max.as_ref().filter(|_| queue.parent.is_some())
            && !max.allows(wanted)
        {
            let max = books.types().amounts(max);
            return Some(format!(
                "a task needs {task}, queue {} may never use more than {max}",
                queue.path
            ));
        }
    }
    let trackers = &books.partition(application.partition).trackers;
    for (_, level) in books.limiting_levels(row.application) {
        if let Some(max) = level.max()
            && !max.allows(wanted)
        {
            let max = books.types().amounts(max);
            let name = &trackers.tracker(level.tracker).name;
            let queue = &books.queue(level.queue).path;
            return Some(format!(
                "a task needs {task}, {name} may never use more than {max} in {queue}"
            ));
        }
    }
    None
}
