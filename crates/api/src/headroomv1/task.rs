//! `/headroom/v1/tenants/{tenant}/tasks` and `/headroom/v1/tasks`: tasks of tenants.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Amount, Amounts};
use crate::wsv1::Resources;

/// The header of a request that is to happen once, however often it is sent.
pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// How many letters such a key has at most; one at least.
pub const IDEMPOTENCY_KEY_MAX: usize = 255;

/// A task that is submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskSubmission {
    /// Its id, unique among tasks and applications; absent: one is made. Sent again with the same
    /// content it is the same task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Whose it is; absent: the caller's. Role `admin` may name anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// What it needs on one node; at least one amount above zero. `instances` counts by itself.
    #[schema(value_type = BTreeMap<String, Amount>)]
    pub resources: Amounts,
    /// How many instances it has, each of which needs that: all of them start together or none does. At most
    /// 1,000.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schema(minimum = 1, maximum = 1_000)]
    pub members: u32,
    /// Higher goes first where the tenant's tasks go by priority. From -100 to 100 for a tenant's own; role
    /// `admin` may say any.
    #[serde(default)]
    pub priority: i32,
    /// When it is to be done, for the strategy `urgency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// How long it takes, for the strategy `urgency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_seconds: Option<u32>,
    /// Whether it may be stopped for others; absent: it may.
    #[serde(default = "yes")]
    pub preemptible: bool,
    /// Whether it waits again after it was evicted.
    #[serde(default)]
    pub requeue: bool,
    /// How often it waits again after it failed.
    #[serde(default)]
    pub restarts: u32,
    /// How long it may wait before it expires; 0 is for ever, absent as the tenant says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait_seconds: Option<u32>,
    /// The label of the nodes that it may have; absent: as its queue says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_label: Option<String>,
    /// The nodes that it may not have.
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

/// Where a task stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum TaskState {
    /// It has no node yet.
    #[default]
    Waiting,
    /// It has a node and is charged; whoever runs it has not said yet that it runs.
    Starting,
    /// It runs.
    Running,
    /// It is not wanted any more: whoever runs it stops it and says so.
    Cancelling,
    /// It is to make way for others: whoever runs it stops it and says so.
    Evicting,
    /// It has ended well.
    Succeeded,
    /// It has ended badly, or its node was lost.
    Failed,
    /// It was not wanted any more.
    Cancelled,
    /// It made way for others.
    Evicted,
    /// It has waited for as long as it may.
    Expired,
}

/// A task, as of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id.
    pub id: String,
    /// Its tenant.
    pub tenant: String,
    /// Whose it is.
    pub user: String,
    /// Where it stands.
    pub state: TaskState,
    /// How many instances it has, which start together.
    pub members: u32,
    /// What all of it needs, or has; of one that has ended, what it needed last.
    pub resources: Resources,
    /// How urgent it is.
    pub priority: i32,
    /// When it is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Where it runs, or ran last; of several members the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Where each of its members runs, in their order; absent while it waits. Of one that has ended, where the first 100
    /// ran last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// When it got its node last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// How often it waited again after it had failed.
    pub restarted: u32,
    /// How often it waited again after it had been evicted.
    pub evicted: u32,
    /// When it was first told that it has to wait, since it last began to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_throttled_at: Option<Timestamp>,
    /// What it used up to `asOf`, since it was submitted: core units times seconds, exact.
    #[serde(default)]
    pub resource_seconds: Resources,
    /// What whoever runs it measured last, since it last got its nodes; absent where nothing was said. Nothing is decided
    /// by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<TaskMeasured>,
    /// Number of the last record that the answer knows.
    pub ledger_version: u64,
    /// When that record was made.
    pub as_of: Timestamp,
}

/// What a task really uses, as it was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskMeasured {
    /// When it was said.
    pub at: Timestamp,
    /// What all of its members use together.
    pub resources: Resources,
}

/// What a task really uses, as whoever runs it measures it; it takes the place of what was said before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskMeasurement {
    /// What all of its members use together; it may be more than was asked for.
    #[schema(value_type = BTreeMap<String, Amount>)]
    pub resources: Amounts,
}

/// The end of a task, as whoever ran it reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRelease {
    /// How it ended.
    pub outcome: ReleaseOutcome,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseOutcome {
    /// Well.
    #[default]
    Succeeded,
    /// Badly, or it was stopped.
    Failed,
}

/// Another size of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskResize {
    /// What it needs from now on, all types that it needs.
    #[schema(value_type = BTreeMap<String, Amount>)]
    pub resources: Amounts,
}

/// How urgent a task that waits is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRank {
    /// Its priority from now on; absent: as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// When it is to be done; absent: as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}
