//! Allocations, within nodes and applications.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{IntegerText, Resources, is_default};

/// An ask that was given a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the wire")]
pub struct Allocation {
    /// Its key, which was the ask's.
    pub allocation_key: String,
    /// As the RM sent them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_tags: BTreeMap<String, String>,
    /// When the ask was made, or the placeholder whose place it took; nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub request_time: i64,
    /// When it was made, nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_time: i64,
    /// Nanoseconds from `requestTime` to `allocationTime`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_delay: i64,
    /// What it takes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource: Resources,
    /// Higher goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<IntegerText>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub node_id: String,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub application_id: String,
    /// Holds room for a member of a gang.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placeholder: bool,
    /// Took the place of a placeholder.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placeholder_used: bool,
    /// The task group of a gang.
    #[serde(default, skip_serializing_if = "is_default")]
    pub task_group_name: String,
    /// Was asked to stop for others.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preempted: bool,
    /// The container that the application began with.
    #[serde(default, skip_serializing_if = "is_default")]
    pub originator: bool,
}

/// What another scheduler placed on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForeignAllocation {
    /// Its key.
    pub allocation_key: String,
    /// As the RM sent them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_tags: BTreeMap<String, String>,
    /// When it was made, nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation_time: i64,
    /// What it takes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource: Resources,
    /// Higher goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<IntegerText>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub node_id: String,
    /// Whether it may be stopped; those that belong to the node itself may not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preemptable: bool,
}
