//! Asks, within applications.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{IntegerText, Resources, is_default};

/// An ask without a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the wire")]
pub struct Ask {
    /// Key of the ask, which is also the key of its allocation.
    pub allocation_key: String,
    /// Tags from the resource manager.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_tags: BTreeMap<String, String>,
    /// Creation time, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub request_time: i64,
    /// Requested amounts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource: Resources,
    /// Priority. Higher priorities start first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<IntegerText>,
    /// ID of the only node that it can use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub required_node_id: String,
    /// ID of the application.
    #[serde(default, skip_serializing_if = "is_default")]
    pub application_id: String,
    /// Whether it is a placeholder of a gang.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placeholder: bool,
    /// Task group of the gang.
    #[serde(default, skip_serializing_if = "is_default")]
    pub task_group_name: String,
    /// Wait reasons, by `lastOccurrence`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_log: Vec<AllocationLogEntry>,
    /// Whether others were asked to stop for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub triggered_preemption: bool,
    /// Whether it is the originator of the application.
    #[serde(default, skip_serializing_if = "is_default")]
    pub originator: bool,
    /// Whether the scheduler has checked it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scheduling_attempted: bool,
    /// Whether the resource manager was notified that more nodes would help.
    #[serde(default, skip_serializing_if = "is_default")]
    pub triggered_scale_up: bool,
}

/// A wait reason of an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllocationLogEntry {
    /// The reason.
    #[serde(default, skip_serializing_if = "is_default")]
    pub message: String,
    /// Time when it last applied, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub last_occurrence: i64,
    /// Number of times that it applied.
    #[serde(default, skip_serializing_if = "is_default")]
    pub count: i32,
}
