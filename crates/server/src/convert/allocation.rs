//! Allocations of this scheduler, and foreign allocations.

use headroom_api::wsv1::{Allocation, ForeignAllocation, IntegerText};
use headroom_core::view::{AllocationView, ForeignView, NodeView};

use crate::rest::RmMetadata;

use super::value::{name_or_empty, nanos, resources};

/// Returns a current allocation.
pub(crate) fn allocation(
    view: &AllocationView,
    partition: &str,
    metadata: &dyn RmMetadata,
) -> Allocation {
    let tags = metadata.tags(partition, &view.key);
    let (requested, placed) = (nanos(view.requested), nanos(view.placed));
    // An allocation that was reported with its node can be older than its report.
    let requested = requested.min(placed);
    Allocation {
        allocation_key: view.key.to_string(),
        allocation_tags: tags.unwrap_or_default(),
        request_time: requested,
        allocation_time: placed,
        allocation_delay: placed - requested,
        resource: resources(&view.resources),
        priority: Some(IntegerText(i64::from(view.priority))),
        node_id: view.node.to_string(),
        application_id: view.application.to_string(),
        placeholder: view.placeholder,
        placeholder_used: view.took_place,
        task_group_name: name_or_empty(view.task_group.as_ref()),
        preempted: view.preempted,
        originator: view.originator,
    }
}

/// Returns a foreign allocation. Its time and priority are not stored.
pub(crate) fn foreign(
    view: &ForeignView,
    node: &NodeView,
    metadata: &dyn RmMetadata,
) -> ForeignAllocation {
    let tags = metadata.tags(&node.partition, &view.key);
    ForeignAllocation {
        allocation_key: view.key.to_string(),
        allocation_tags: tags.unwrap_or_default(),
        allocation_time: 0,
        resource: resources(&view.resources),
        priority: Some(IntegerText(0)),
        node_id: node.node.to_string(),
        preemptable: view.preemptable,
    }
}
