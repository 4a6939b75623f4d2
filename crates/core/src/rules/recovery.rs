//! Recovery: nothing starts before all nodes have reported. Source: tenants §2.6, decision page 36.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Books, Recovery};
use crate::event::{Event, NodeEvent, PartitionEvent};
use crate::id::{NodeId, PartitionId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::time::Timestamp;

use super::partition_named;

/// Begins recovery in a partition with tenants. A partition without nodes has nothing to wait for.
pub(super) fn begin(
    books: &Books,
    now: Timestamp,
    partition: &Name,
) -> Result<Vec<Event>, Rejection> {
    let id = partition_named(books, partition)?;
    let row = books.partition(id);
    let Some(tenants) = row.settings.tenants.as_deref().filter(|_| !row.nodes.is_empty()) else {
        return Ok(Vec::new());
    };
    let until = now + tenants.recovery_timeout;
    Ok(vec![Event::Partition(PartitionEvent::RecoverySet { partition: id, until: Some(until) })])
}

/// Records that a node has reported.
pub(super) fn report(books: &Books, partition: PartitionId, node: NodeId, events: &mut Vec<Event>) {
    events.push(Event::Node(NodeEvent::Reported { node }));
    end_with(books, partition, node, events);
}

/// Ends recovery if this was the last node that had not reported.
pub(super) fn end_with(
    books: &Books,
    partition: PartitionId,
    node: NodeId,
    events: &mut Vec<Event>,
) {
    let recovery = books.partition(partition).recovery.as_ref();
    if recovery.is_some_and(|recovery| recovery.waits_for(node)) {
        events.push(Event::Partition(PartitionEvent::RecoverySet { partition, until: None }));
    }
}

/// Ends recovery after its timeout. Nodes that have not reported keep their allocations, and are drained until they
/// report. Nothing is stopped.
pub(super) fn give_up(books: &Books, partition: PartitionId, events: &mut Vec<Event>) {
    let recovery = books.partition(partition).recovery.iter();
    for node in recovery.flat_map(Recovery::missing) {
        if books.node(*node).schedulable {
            events.push(Event::Node(NodeEvent::Scheduling { node: *node, schedulable: false }));
        }
    }
    events.push(Event::Partition(PartitionEvent::RecoverySet { partition, until: None }));
}
