//! Asks, within applications.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{IntegerText, Resources, is_default};

/// A request that has no node yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the wire")]
pub struct Ask {
    /// Its key, which will be the allocation's.
    pub allocation_key: String,
    /// As the RM sent them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_tags: BTreeMap<String, String>,
    /// When it was made, nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub request_time: i64,
    /// What it asks for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource: Resources,
    /// Higher goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<IntegerText>,
    /// The only node that it may have.
    #[serde(default, skip_serializing_if = "is_default")]
    pub required_node_id: String,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub application_id: String,
    /// Is to hold room for a member of a gang.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placeholder: bool,
    /// The task group of a gang.
    #[serde(default, skip_serializing_if = "is_default")]
    pub task_group_name: String,
    /// Why it was not placed, by `lastOccurrence`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_log: Vec<AllocationLogEntry>,
    /// Others were asked to stop for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub triggered_preemption: bool,
    /// The container that the application begins with.
    #[serde(default, skip_serializing_if = "is_default")]
    pub originator: bool,
    /// The scheduler has looked at it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scheduling_attempted: bool,
    /// The RM was told that more nodes would help.
    #[serde(default, skip_serializing_if = "is_default")]
    pub triggered_scale_up: bool,
}

/// A reason why an ask was not placed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllocationLogEntry {
    /// The reason.
    #[serde(default, skip_serializing_if = "is_default")]
    pub message: String,
    /// When it was so last, nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub last_occurrence: i64,
    /// How often it was so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub count: i32,
}
