//! `GET /ws/v1/partition/{partition}/applications/{state}`, `…/application/{application}` and
//! those below a queue.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Allocation, Ask, Resources, is_default};

/// An application.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Application {
    /// Its id.
    #[serde(rename = "applicationID")]
    pub application_id: String,
    /// Allocated, placeholders left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub used_resource: Resources,
    /// The most that `usedResource` has been, type by type.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_used_resource: Resources,
    /// Asked for and not allocated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pending_resource: Resources,
    /// Name of the partition.
    pub partition: String,
    /// Full path of its queue.
    pub queue_name: String,
    /// When it or its oldest ask was made, nanoseconds.
    pub submission_time: i64,
    /// When it ended, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_time: Option<i64>,
    /// Asks without a node.
    #[serde(default, skip_serializing_if = "is_default")]
    pub requests: Vec<Ask>,
    /// Asks with one, placeholders among them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocations: Vec<Allocation>,
    /// `New`, `Accepted`, `Running`, `Rejected`, `Completing`, `Completed`, `Failing`, `Failed`,
    /// `Expired` or `Resuming`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub application_state: String,
    /// Who submitted it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub user: String,
    /// The groups of the user.
    #[serde(default, skip_serializing_if = "is_default")]
    pub groups: Vec<String>,
    /// Why it was rejected.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rejected_message: String,
    /// The states it was in, oldest first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub state_log: Vec<StateChange>,
    /// How its placeholders fare, by task group.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placeholder_data: Vec<PlaceholderData>,
    /// Whether nodes are kept for its asks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub has_reserved: bool,
    /// Keys of the asks for which nodes are kept.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reservations: Vec<String>,
    /// Highest priority of its asks; the smallest number there is when it has none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_request_priority: i32,
    /// When it began to run, in **milliseconds** since 1970-01-01T00:00:00Z. The reference sends
    /// its zero time, -62135596800000, for one that never did.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_time: i64,
    /// What it used over time. Complete when it ends.
    pub resource_history: ResourceHistory,
    /// Until when it is left alone, because none of its asks could be placed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff_deadline: Option<Timestamp>,
    /// Ours: when its lifetime is over and it is stopped. Absent: it may live for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime_deadline: Option<Timestamp>,
}

/// A state that an application entered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateChange {
    /// When, nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub time: i64,
    /// Which.
    #[serde(default, skip_serializing_if = "is_default")]
    pub application_state: String,
}

/// The placeholders of a task group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaceholderData {
    /// The task group.
    #[serde(default, skip_serializing_if = "is_default")]
    pub task_group_name: String,
    /// How many were asked for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub count: i64,
    /// What one holds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub min_resource: Resources,
    /// How many members have taken a place.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replaced: i64,
    /// How many waited too long. The spelling of the name is the reference's.
    #[serde(rename = "timedout", default, skip_serializing_if = "is_default")]
    pub timed_out: i64,
}

/// Amount times seconds, by instance type of the node and then by resource type. A node without
/// an instance type counts as `UNKNOWN`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceHistory {
    /// Of allocations that ended by themselves.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource_usage: BTreeMap<String, Resources>,
    /// Of allocations that were stopped for others.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preempted_resource: BTreeMap<String, Resources>,
    /// Of placeholders.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placeholder_resource: BTreeMap<String, Resources>,
}
