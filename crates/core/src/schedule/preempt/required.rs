//! Room on the one node that an ask may run on. Scheduling §11.6.
//!
//! It is always on, whatever the partition, the queues and the allocations say about preemption.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::{Allocation, Books};
use crate::id::{AllocationId, NodeId};
use crate::resource::Resources;
use crate::time::Timestamp;

/// Who goes first: who offers himself, who does not, the firsts of their applications; then the
/// least urgent, the newest, the smallest.
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

/// What is to be stopped on the node that is reserved for an ask, which may run nowhere else and
/// does not fit. Empty if nothing that may be stopped is enough.
///
/// What is free counts at the end and not before, so that more may go than is needed: as in the
/// reference (decision D-6). Costs the allocations on the node and their order.
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
