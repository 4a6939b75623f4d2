//! `GET /ws/v1/partitions`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Percentages, Resources, is_default};

/// A partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Partition {
    /// Id of the RM that registered it.
    pub cluster_id: String,
    /// Its name, without the RM.
    pub name: String,
    /// What its nodes have, and what is allocated of it.
    pub capacity: PartitionCapacity,
    /// How its nodes are ordered.
    pub node_sorting_policy: NodeSortingPolicy,
    /// Whether allocations may be stopped for others.
    pub preemption_enabled: bool,
    /// Whether allocations may be stopped because a maximum was lowered.
    pub quota_preemption_enabled: bool,
    /// Registered nodes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub total_nodes: u64,
    /// Active, completed and rejected applications by state; `total` is their sum, and always
    /// there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub applications: BTreeMap<String, u64>,
    /// Allocations, foreign ones left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub total_containers: u64,
    /// `Active`, `Draining` or `Stopped`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub state: String,
    /// When it entered the state, nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub last_state_transition_time: i64,
}

/// What a partition has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartitionCapacity {
    /// Sum of its nodes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capacity: Resources,
    /// Allocated of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub used_capacity: Resources,
    /// Percent of the capacity that is allocated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub utilization: Percentages,
}

/// How nodes are ordered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeSortingPolicy {
    /// `fair` or `binpacking`.
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    pub policy: String,
    /// How much each resource type counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource_weights: BTreeMap<String, f64>,
}
