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
    /// ID of the application.
    #[serde(rename = "applicationID")]
    pub application_id: String,
    /// Allocated amounts without placeholders.
    #[serde(default, skip_serializing_if = "is_default")]
    pub used_resource: Resources,
    /// Maximum of `usedResource` so far, for each type.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_used_resource: Resources,
    /// Requested amounts that are not allocated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pending_resource: Resources,
    /// Name of the partition.
    pub partition: String,
    /// Full path of the queue.
    pub queue_name: String,
    /// Creation time of the application or of its oldest ask, in nanoseconds.
    pub submission_time: i64,
    /// End time, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_time: Option<i64>,
    /// Asks without a node.
    #[serde(default, skip_serializing_if = "is_default")]
    pub requests: Vec<Ask>,
    /// Allocations, including placeholders.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocations: Vec<Allocation>,
    /// `New`, `Accepted`, `Running`, `Rejected`, `Completing`, `Completed`, `Failing`, `Failed`,
    /// `Expired`, or `Resuming`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub application_state: String,
    /// User of the application.
    #[serde(default, skip_serializing_if = "is_default")]
    pub user: String,
    /// The groups of the user.
    #[serde(default, skip_serializing_if = "is_default")]
    pub groups: Vec<String>,
    /// Reason for the rejection.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rejected_message: String,
    /// States of the application, the oldest first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub state_log: Vec<StateChange>,
    /// Placeholders by task group.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placeholder_data: Vec<PlaceholderData>,
    /// Whether its asks have reservations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub has_reserved: bool,
    /// Keys of the asks with reservations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reservations: Vec<String>,
    /// Highest priority of its asks. Without asks, the smallest possible number.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_request_priority: i32,
    /// Start time in **milliseconds** since 1970-01-01T00:00:00Z. If it has not started, the zero
    /// time of `YuniKorn`, -62135596800000.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_time: i64,
    /// Usage over time. Complete after the application ends.
    pub resource_history: ResourceHistory,
    /// Time until which the scheduler does not check it, because none of its asks found a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff_deadline: Option<Timestamp>,
    /// Headroom extension: time when its lifetime is over and it is stopped. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime_deadline: Option<Timestamp>,
}

/// A state that an application entered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateChange {
    /// Time of the change, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub time: i64,
    /// The state.
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
    /// Number of requested placeholders.
    #[serde(default, skip_serializing_if = "is_default")]
    pub count: i64,
    /// Amounts of one placeholder.
    #[serde(default, skip_serializing_if = "is_default")]
    pub min_resource: Resources,
    /// Number of replaced placeholders.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replaced: i64,
    /// Number of placeholders that timed out. The spelling of the name is that of `YuniKorn`.
    #[serde(rename = "timedout", default, skip_serializing_if = "is_default")]
    pub timed_out: i64,
}

/// Amounts times seconds, by instance type of the node and then by resource type. Nodes without an
/// instance type count as `UNKNOWN`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceHistory {
    /// Usage of allocations that ended normally.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource_usage: BTreeMap<String, Resources>,
    /// Usage of preempted allocations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preempted_resource: BTreeMap<String, Resources>,
    /// Usage of placeholders.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placeholder_resource: BTreeMap<String, Resources>,
}
