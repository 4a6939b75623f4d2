//! `/headroom/v1/tenants`: settings and usage of tenants.
//!
//! Clients can send a response back as a request. The server ignores read-only fields.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Amount, Amounts};
use crate::wsv1::Resources;

/// A unit of isolation with a quota: a user, a project, or a department.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tenant {
    /// Name of the tenant, in lowercase and valid as a queue name. Can be omitted if the path has
    /// it.
    #[serde(default)]
    pub id: String,
    /// Display name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub display_name: String,
    /// Kind of the tenant.
    #[serde(default)]
    pub kind: TenantKind,
    /// Parent tenant, whose quota also applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Whether tasks of the tenant can start.
    #[serde(default)]
    pub state: TenantState,
    /// Quota of the tenant. Absent: the default applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<TenantQuota>,
    /// Guarantee of the tenant.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Amount>)]
    pub guaranteed: Amounts,
    /// Whether the sum of the quotas of the child tenants is limited to the quota of the tenant.
    #[serde(default)]
    pub strict_sum: bool,
    /// Order in which tasks start. Absent: the default applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingPolicy>,
    /// Action for running tasks when the quota is lowered below the usage. Absent: the default
    /// applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_lower: Option<OnLower>,
    /// Action for a task that is larger than the quota. Absent: the default applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oversized: Option<Oversized>,
    /// How the partition represents the tenant. Absent: as its own queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<TenantMapping>,
    /// Labels, as keys and values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Read-only: version of the tenant, which is also its `ETag`.
    #[serde(default)]
    pub version: u64,
    /// Read-only: whether the tenant accepts no more tasks and will be deleted after its last task
    /// ends.
    #[serde(default, skip_serializing_if = "is_false")]
    pub draining: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The kind of a tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TenantKind {
    /// A user.
    User,
    /// A project of several users.
    #[default]
    Project,
    /// A department of several projects or users.
    Department,
}

/// Whether tasks of a tenant can start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TenantState {
    /// Tasks can start.
    #[default]
    Active,
    /// Tasks wait, also those of the tenants below.
    Suspended,
}

/// The quota of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantQuota {
    /// Maximum amounts by resource type. A missing type has no limit, and 0 allows none. Absent
    /// together with `instances`: the default applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<BTreeMap<String, Amount>>)]
    pub resources: Option<Amounts>,
    /// Maximum number of running task instances. Absent or -1: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<i64>,
    /// Maximum number of waiting tasks. Absent: the default applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_waiting: Option<u64>,
    /// Maximum number of running tasks, regardless of their instances. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_applications: Option<u64>,
    /// Read-only: `resources` as text for people.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub display: BTreeMap<String, String>,
    /// Read-only, in responses to a change: whether the usage is above the quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_quota: Option<bool>,
    /// Read-only, in responses to a change: amounts above the quota, by type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess: Option<Resources>,
    /// Read-only, in responses to a dry run: tasks that would be stopped, in this order. Empty
    /// unless `onLower` of the tenant allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub victims: Option<Vec<TenantVictim>>,
    /// Read-only, in responses to a dry run: excess after preemption, by type. Absent if there is
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remains: Option<Resources>,
}

/// A task instance that would be stopped for a quota.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantVictim {
    /// The task.
    pub task: String,
    /// Key of the instance.
    pub key: String,
    /// Priority of the task. Lower priorities stop first.
    pub priority: i32,
    /// Amounts that it releases.
    pub resources: Resources,
}

/// The order in which tasks start, and the rules for overtaking. Absent fields have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitingPolicy {
    /// The order.
    #[serde(default)]
    pub strategy: WaitingStrategy,
    /// Interval after which the priority of a waiting task rises, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aging_interval_seconds: Option<u32>,
    /// Rise of the priority after each interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aging_step: Option<u32>,
    /// Maximum rise of the priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aging_max: Option<u32>,
    /// Maximum number of tasks that can overtake the first waiting task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_overtakes: Option<u32>,
    /// Longest time during which tasks can overtake the first waiting task, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_head_wait_seconds: Option<u32>,
    /// Longest wait of a task, in seconds. Absent or 0: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait_seconds: Option<u32>,
}

/// The order in which tasks start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaitingStrategy {
    /// The oldest task first. No task overtakes another.
    #[default]
    Fifo,
    /// The oldest task first. A later task can overtake if it fits and the first does not.
    FifoBackfill,
    /// The highest priority first. Priorities rise with waiting time.
    Priority,
    /// The task with the least time before its deadline first.
    Urgency,
}

/// The action for running tasks when a quota is lowered below the usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnLower {
    /// The action.
    pub action: OnLowerAction,
    /// With `preempt`: time before tasks are stopped, in seconds. Absent: 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u32>,
}

/// The action when a quota is lowered below the usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnLowerAction {
    /// Running tasks continue. No task starts that needs an exceeded type.
    #[default]
    Block,
    /// Tasks are stopped after a grace period.
    Preempt,
    /// The change is rejected.
    Refuse,
}

/// The action for a task that is larger than the quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Oversized {
    /// The task is rejected.
    #[default]
    Reject,
    /// The task waits until the quota is raised.
    Park,
}

/// How the partition represents a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantMapping {
    /// Its own queue, or a limit in a shared queue.
    #[serde(default)]
    pub mode: TenantMode,
    /// Path of the queue. Can be omitted for its own queue, because the names determine it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// With `limit`: the limited user. Set this or `group`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// With `limit`: the limited group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// Whether a tenant is a queue or a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TenantMode {
    /// Its own queue.
    #[default]
    Queue,
    /// A limit of a user or group in a shared queue.
    Limit,
}

/// The default settings of tenants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantDefaults {
    /// Default quota. Absent: no limit. It has no `maxApplications`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<TenantQuota>,
    /// Order in which tasks start.
    #[serde(default)]
    pub waiting: WaitingPolicy,
    /// Action for running tasks when a quota is lowered below the usage.
    #[serde(default)]
    pub on_lower: OnLower,
    /// Action for a task that is larger than the quota.
    #[serde(default)]
    pub oversized: Oversized,
    /// Read-only: version of the defaults, which is also their `ETag`.
    #[serde(default)]
    pub version: u64,
}

/// The quota and usage of a tenant, all at the same moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantUsage {
    /// Name of the tenant.
    pub tenant: String,
    /// Number of the newest record that the response includes.
    pub ledger_version: u64,
    /// Creation time of that record.
    pub as_of: Timestamp,
    /// Whether the usage of a type is above the quota.
    pub over_quota: bool,
    /// Quota of the tenant, or the default. A missing type has no limit.
    pub quota: Resources,
    /// Usage of its tasks, and of those of the tenants below it.
    pub used: Resources,
    /// Quota minus usage. Negative if the quota was lowered below the usage.
    pub free: Resources,
    /// Usage above the quota. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess: Option<Resources>,
    /// Waiting tasks.
    pub waiting: TenantWaiting,
    /// The tenants above it, the nearest first.
    pub by_ancestor: Vec<AncestorLimit>,
    /// Number of waits of its tasks, and of those of the tenants below it, since the server
    /// started.
    pub throttled_total: u64,
    /// Usage over time of its tasks, and of those of the tenants below it, from its creation to
    /// `asOf`: core units times seconds, exact.
    #[serde(default)]
    pub resource_seconds: Resources,
    /// Measured usage of its running tasks, and of those of the tenants below it. Absent without
    /// reports. It affects no decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<TenantMeasured>,
}

/// The measured usage of the tasks of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantMeasured {
    /// Number of measured tasks.
    pub tasks: u64,
    /// Sum of the last reports of the tasks.
    pub resources: Resources,
}

/// The waiting tasks of a tenant and of the tenants below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantWaiting {
    /// Number of tasks.
    pub tasks: u64,
    /// Sum of the requested amounts.
    pub resources: Resources,
    /// Wait of the oldest task, in seconds.
    pub oldest_seconds: u64,
}

/// A tenant above another, and whether it leaves less than the quota of that tenant does. It has no
/// amounts, because they would reveal the usage of other tenants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AncestorLimit {
    /// Name of the tenant.
    pub tenant: String,
    /// Whether its quota leaves less of a type than the quota of the tenant in question.
    pub limited: bool,
}

/// The result of comparing the recorded usage of tenants with the sum of their tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerVerified {
    /// Number of the newest record that the comparison includes.
    pub ledger_version: u64,
    /// Time of the comparison.
    pub as_of: Timestamp,
    /// Differences by tenant and type. An entry is a bug.
    pub drift: Vec<LedgerDrift>,
}

/// A recorded amount of a tenant that differs from the sum of its tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerDrift {
    /// The tenant.
    pub tenant: String,
    /// The type.
    pub r#type: String,
    /// Recorded amount, in core units.
    pub counted: i64,
    /// Sum of its tasks, and of those of the tenants below it.
    pub found: i64,
    /// Recorded amount minus the sum.
    pub by: i64,
}
