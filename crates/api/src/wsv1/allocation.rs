//! Allocations, within nodes and applications.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{IntegerText, Resources, is_default};

/// An allocation: an ask that has a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the wire")]
pub struct Allocation {
    /// Key of the allocation, which is also the key of its ask.
    pub allocation_key: String,
    /// Tags from the resource manager.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_tags: BTreeMap<String, String>,
    /// Creation time of the ask, or of the placeholder that it replaced, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub request_time: i64,
    /// Creation time, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_time: i64,
    /// Nanoseconds from `requestTime` to `allocationTime`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_delay: i64,
    /// Allocated amounts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource: Resources,
    /// Priority. Higher priorities start first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<IntegerText>,
    /// ID of the node.
    #[serde(default, skip_serializing_if = "is_default")]
    pub node_id: String,
    /// ID of the application.
    #[serde(default, skip_serializing_if = "is_default")]
    pub application_id: String,
    /// Whether it is a placeholder of a gang.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placeholder: bool,
    /// Whether it replaced a placeholder.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placeholder_used: bool,
    /// Task group of the gang.
    #[serde(default, skip_serializing_if = "is_default")]
    pub task_group_name: String,
    /// Whether it was asked to stop for others.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preempted: bool,
    /// Whether it is the originator of the application.
    #[serde(default, skip_serializing_if = "is_default")]
    pub originator: bool,
}

/// An allocation that another scheduler placed on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForeignAllocation {
    /// Key of the allocation.
    pub allocation_key: String,
    /// Tags from the resource manager.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_tags: BTreeMap<String, String>,
    /// Creation time, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_time: i64,
    /// Allocated amounts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource: Resources,
    /// Priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<IntegerText>,
    /// ID of the node.
    #[serde(default, skip_serializing_if = "is_default")]
    pub node_id: String,
    /// Whether it can be stopped. Allocations of the node itself cannot.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preemptable: bool,
}
