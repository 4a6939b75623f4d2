//! Preemption on the required node of an ask. Source: scheduling §11.6.
//!
//! Always enabled, regardless of the settings of the partition, the queues, and the allocations.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::{Allocation, Books};
use crate::id::{AllocationId, NodeId};
use crate::resource::Resources;
use crate::time::Timestamp;

/// Order of victims: preferred victims, other victims, and then originators. Within these, a lower priority, a newer
/// creation time, and a smaller size precede.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    class: u8,
    priority: i32,
    created: Reverse<Timestamp>,
    size: i128,
    number: Reverse<u64>,
}

impl Turn {
    fn of(row: &Allocation, size: &Resources) -> Self {
        Self {
            class: match (row.originator, row.preemptable) {
                (true, _) => 3,
                (false, false) => 2,
                (false, true) => 1,
            },
            priority: row.priority,
            created: Reverse(row.created),
            size: size.total(),
            number: Reverse(row.number.unsigned_abs()),
        }
    }
}

/// Returns the victims on the reserved node of an ask that requires it and does not fit. Empty if all possible victims
/// are not sufficient.
///
/// Free capacity counts only at the end, so more victims can stop than necessary, as in YuniKorn (decision D-6). Costs
/// the allocations of the node, sorted.
pub(crate) fn victims(books: &Books, ask: AllocationId, node: NodeId) -> Vec<AllocationId> {
    let (row, wanted) = (books.allocation(ask), books.node_request(ask));
    let mut candidates: Vec<(Turn, AllocationId)> = books
        .allocations_on(node)
        .map(|(id, one)| (id, one, books.shapes().on_node(one.shape)))
        .filter(|(_, one, size)| {
            one.priority <= row.priority && one.is_eligible_victim(size, wanted)
        })
        .map(|(id, one, size)| (Turn::of(one, size), id))
        .collect();
    candidates.sort_unstable();
    let (mut sum, mut victims) = (Resources::new(), Vec::new());
    for (_, id) in candidates {
        if sum.is_at_least(wanted) {
            break;
        }
        sum.add(books.node_request(id));
        victims.push(id);
    }
    sum.add(&books.node(node).available);
    if sum.is_at_least(wanted) { victims } else { Vec::new() }
}
