//! `/headroom/v1/tenants/{tenant}/tasks` and `/headroom/v1/tasks`: tasks of tenants.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Amount, Amounts};
use crate::wsv1::Resources;

/// The header that makes a request idempotent.
pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// Maximum number of letters of such a key. The minimum is 1.
pub const IDEMPOTENCY_KEY_MAX: usize = 255;

/// A task to submit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskSubmission {
    /// ID of the task, unique among tasks and applications. Absent: the server generates one. A
    /// request with the same ID and content submits the same task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// User of the task. Absent: the caller. The role `admin` can name any user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Amounts that each instance needs on one node. At least one must be positive. `instances` is
    /// counted automatically.
    #[schema(value_type = BTreeMap<String, Amount>)]
    pub resources: Amounts,
    /// Number of instances with these amounts, at most 1,000. All of them start together, or none.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schema(minimum = 1, maximum = 1_000)]
    pub members: u32,
    /// Priority. Higher priorities start first if the tenant orders tasks by priority. Tenants can
    /// set -100 to 100 for their own tasks. The role `admin` can set any value.
    #[serde(default)]
    pub priority: i32,
    /// Deadline, for the strategy `urgency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Estimated run time in seconds, for the strategy `urgency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_seconds: Option<u32>,
    /// Whether the task can be preempted. The default is `true`.
    #[serde(default = "yes")]
    pub preemptible: bool,
    /// Whether the task waits again after it is evicted.
    #[serde(default)]
    pub requeue: bool,
    /// Number of restarts after failures.
    #[serde(default)]
    pub restarts: u32,
    /// Longest wait before the task expires, in seconds. 0: no limit. Absent: the setting of the
    /// tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait_seconds: Option<u32>,
    /// Label of the nodes that it can use. Absent: the default of its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_label: Option<String>,
    /// Nodes that it cannot use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_nodes: Vec<String>,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(members: &u32) -> bool {
    *members == 1
}

const fn yes() -> bool {
    true
}

/// The state of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum TaskState {
    /// It has no node.
    #[default]
    Waiting,
    /// It has a node and is charged. Its runner has not confirmed that it runs.
    Starting,
    /// It runs.
    Running,
    /// It was cancelled. Its runner must stop it and release it.
    Cancelling,
    /// It must stop for others. Its runner must stop it and release it.
    Evicting,
    /// It has succeeded.
    Succeeded,
    /// It has failed, or its node was lost.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// It was stopped for others.
    Evicted,
    /// Its longest wait is over.
    Expired,
}

/// A task at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// ID of the task.
    pub id: String,
    /// Tenant of the task.
    pub tenant: String,
    /// User of the task.
    pub user: String,
    /// State of the task.
    pub state: TaskState,
    /// Number of instances, which start together.
    pub members: u32,
    /// Total amounts that it needs or has. For an ended task, the last amounts.
    pub resources: Resources,
    /// Priority.
    pub priority: i32,
    /// Deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Node where it runs or last ran. With several members, the node of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Nodes of its members, in order. Absent while it waits. For an ended task, the last nodes of
    /// the first 100 members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Time of submission.
    pub submitted_at: Timestamp,
    /// Time when it last received its node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Time when it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Number of restarts after failures.
    pub restarted: u32,
    /// Number of times that it waited again after an eviction.
    pub evicted: u32,
    /// Time of the first wait reason since the task last began to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_throttled_at: Option<Timestamp>,
    /// Usage over time from its submission to `asOf`: core units times seconds, exact.
    #[serde(default)]
    pub resource_seconds: Resources,
    /// Last measured usage since it received its nodes. Absent without a report. It affects no
    /// decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<TaskMeasured>,
    /// Number of the newest record that the response includes.
    pub ledger_version: u64,
    /// Creation time of that record.
    pub as_of: Timestamp,
}

/// The measured usage of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskMeasured {
    /// Time of the report.
    pub at: Timestamp,
    /// Amounts that all members use together.
    pub resources: Resources,
}

/// A report of the measured usage of a task. It replaces the previous report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskMeasurement {
    /// Amounts that all members use together. They can exceed the requested amounts.
    #[schema(value_type = BTreeMap<String, Amount>)]
    pub resources: Amounts,
}

/// The end of a task, as its runner reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRelease {
    /// The outcome.
    pub outcome: ReleaseOutcome,
}

/// The outcome of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseOutcome {
    /// The task succeeded.
    #[default]
    Succeeded,
    /// The task failed or was stopped.
    Failed,
}

/// The new size of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskResize {
    /// New amounts of all types.
    #[schema(value_type = BTreeMap<String, Amount>)]
    pub resources: Amounts,
}

/// The new rank of a waiting task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRank {
    /// New priority. Absent: no change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// New deadline. Absent: no change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}
