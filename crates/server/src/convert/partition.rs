//! Partitions.

use std::collections::BTreeMap;

use headroom_api::wsv1::{NodeSortingPolicy, Partition, PartitionCapacity};
use headroom_core::view::PartitionView;

use super::value::{nanos, percentages, resources};

/// Returns a partition with its totals.
pub(crate) fn partition(view: &PartitionView, manager: &str) -> Partition {
    let states = view.applications.iter();
    let mut applications: BTreeMap<String, u64> =
        states.map(|(state, count)| (state.to_string(), whole(*count))).collect();
    if view.rejected > 0 {
        applications.insert("Rejected".to_owned(), whole(view.rejected));
    }
    applications.insert("total".to_owned(), applications.values().sum());
    Partition {
        capacity: PartitionCapacity {
            capacity: resources(&view.capacity),
            used_capacity: resources(&view.used),
            utilization: percentages(&view.used_percent),
        },
        total_nodes: whole(view.nodes),
        applications,
        total_containers: view.allocations,
        ..named(view, manager)
    }
}

/// Returns a partition without totals, for a caller who can see only that the partition exists.
pub(crate) fn named(view: &PartitionView, manager: &str) -> Partition {
    let weights = view.node_weights.iter();
    Partition {
        cluster_id: manager.to_owned(),
        name: view.name.to_string(),
        node_sorting_policy: NodeSortingPolicy {
            policy: view.node_order.word().to_owned(),
            resource_weights: weights.map(|(name, one)| (name.to_string(), *one)).collect(),
        },
        preemption_enabled: view.preemption.enabled,
        quota_preemption_enabled: view.preemption.quota_enabled,
        // The stock web UI reads the sum without a check.
        applications: [("total".to_owned(), 0)].into(),
        state: view.state.to_string(),
        last_state_transition_time: nanos(view.since),
        ..Partition::default()
    }
}

fn whole(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
