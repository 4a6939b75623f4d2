//! `GET /ws/v1/partitions`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Percentages, Resources, is_default};

/// A partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Partition {
    /// ID of the resource manager that registered it.
    pub cluster_id: String,
    /// Name of the partition, without the resource manager.
    pub name: String,
    /// Capacity and usage of its nodes.
    pub capacity: PartitionCapacity,
    /// Order of its nodes.
    pub node_sorting_policy: NodeSortingPolicy,
    /// Whether allocations can be stopped for others.
    pub preemption_enabled: bool,
    /// Whether allocations can be stopped because a maximum was lowered.
    pub quota_preemption_enabled: bool,
    /// Number of registered nodes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub total_nodes: u64,
    /// Number of active, completed, and rejected applications by state. `total` is their sum, and
    /// is always present.
    #[serde(default, skip_serializing_if = "is_default")]
    pub applications: BTreeMap<String, u64>,
    /// Number of allocations, without foreign ones.
    #[serde(default, skip_serializing_if = "is_default")]
    pub total_containers: u64,
    /// `Active`, `Draining`, or `Stopped`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub state: String,
    /// Time of the last state change, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub last_state_transition_time: i64,
}

/// The capacity and usage of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartitionCapacity {
    /// Sum of the node capacities.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capacity: Resources,
    /// Allocated amounts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub used_capacity: Resources,
    /// Percentage of the capacity that is allocated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub utilization: Percentages,
}

/// The order of nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeSortingPolicy {
    /// `fair` or `binpacking`.
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    pub policy: String,
    /// Weight of each resource type.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource_weights: BTreeMap<String, f64>,
}
