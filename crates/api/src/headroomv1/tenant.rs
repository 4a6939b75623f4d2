//! `/headroom/v1/tenants`: what is said of tenants, and what they use.
//!
//! What is read can be sent back: fields that are for reading alone are taken, and not looked at.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Amount, Amounts};
use crate::wsv1::Resources;

/// A unit of isolation with a quota: a user, a project or a department.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tenant {
    /// Its name: lower case, legal for a queue. Where the path names it, it may be left out.
    #[serde(default)]
    pub id: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub display_name: String,
    /// What it stands for.
    #[serde(default)]
    pub kind: TenantKind,
    /// The tenant whose quota holds for it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Whether its tasks start.
    #[serde(default)]
    pub state: TenantState,
    /// What it may use at once; absent: as by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<TenantQuota>,
    /// What it can always get back.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Amount>)]
    pub guaranteed: Amounts,
    /// Whether the quotas of the tenants right below it may not sum up to more than its own.
    #[serde(default)]
    pub strict_sum: bool,
    /// In which order its tasks start; absent: as by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingPolicy>,
    /// What becomes of tasks that run when its quota is lowered below its use; absent: as by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_lower: Option<OnLower>,
    /// What becomes of a task that is larger than its quota; absent: as by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oversized: Option<Oversized>,
    /// What it is in the partition; absent: a queue of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<TenantMapping>,
    /// Free keys and values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// For reading alone: how often it was changed; the `ETag` of it.
    #[serde(default)]
    pub version: u64,
    /// For reading alone: whether it takes in nothing any more, and goes with its last task.
    #[serde(default, skip_serializing_if = "is_false")]
    pub draining: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// What a tenant stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TenantKind {
    /// One who submits.
    User,
    /// What several work on.
    #[default]
    Project,
    /// Several projects or users.
    Department,
}

/// Whether tasks of a tenant start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TenantState {
    /// They do.
    #[default]
    Active,
    /// They wait, as do those of the tenants below.
    Suspended,
}

/// What a tenant may use at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantQuota {
    /// By resource type: one that is not named is not limited, of one with 0 there is none. Absent
    /// together with `instances`: as by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<BTreeMap<String, Amount>>)]
    pub resources: Option<Amounts>,
    /// How many instances of tasks may run at once; absent, or -1: not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<i64>,
    /// How many tasks may wait; absent: as by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_waiting: Option<u64>,
    /// How many tasks may run at once, however many instances each has; absent: not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_applications: Option<u64>,
    /// For reading alone: `resources` for people.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub display: BTreeMap<String, String>,
    /// For reading alone, answered to a change: whether more is used than may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_quota: Option<bool>,
    /// For reading alone, answered to a change: how much more, by type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess: Option<Resources>,
    /// For reading alone, answered to a dry run: what would be stopped, in this order; nothing unless the
    /// tenant says so (`onLower`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub victims: Option<Vec<TenantVictim>>,
    /// For reading alone, answered to a dry run: how much more would be used when these have gone, by
    /// type. Absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remains: Option<Resources>,
}

/// What would be stopped for a quota.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantVictim {
    /// The task.
    pub task: String,
    /// Which of its instances.
    pub key: String,
    /// How urgent it is: the least urgent goes first.
    pub priority: i32,
    /// What it gives back.
    pub resources: Resources,
}

/// In which order tasks start, and who may overtake. What is absent is as usual.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitingPolicy {
    /// The order.
    #[serde(default)]
    pub strategy: WaitingStrategy,
    /// After how long a task counts as more urgent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aging_interval_seconds: Option<u32>,
    /// By how much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aging_step: Option<u32>,
    /// By how much at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aging_max: Option<u32>,
    /// How often the first may be overtaken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_overtakes: Option<u32>,
    /// How long it may be overtaken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_head_wait_seconds: Option<u32>,
    /// How long a task may wait; absent, or 0: for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait_seconds: Option<u32>,
}

/// In which order tasks start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaitingStrategy {
    /// The oldest first; nobody overtakes.
    #[default]
    Fifo,
    /// The oldest first; one that fits may overtake one that does not.
    FifoBackfill,
    /// The highest priority first, which rises with time.
    Priority,
    /// The one that has least time left first.
    Urgency,
}

/// What becomes of tasks that run when a quota is lowered below what is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnLower {
    /// What is done.
    pub action: OnLowerAction,
    /// With `preempt`: how long they go on; absent: 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u32>,
}

/// What is done when a quota is lowered below what is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnLowerAction {
    /// Tasks go on; nothing starts that asks for what is exceeded.
    #[default]
    Block,
    /// After a while, room is asked back.
    Preempt,
    /// The quota is not lowered.
    Refuse,
}

/// What becomes of a task that is larger than the quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Oversized {
    /// It is refused.
    #[default]
    Reject,
    /// It waits until the quota is raised.
    Park,
}

/// What a tenant is in its partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantMapping {
    /// A queue of its own, or a limit in a queue that others use too.
    #[serde(default)]
    pub mode: TenantMode,
    /// Path of the queue. Of one of its own it follows from the names, and may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// With `limit`: the user who is limited; this or `group`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// With `limit`: the group that is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// Whether a tenant is a queue or a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TenantMode {
    /// A queue of its own.
    #[default]
    Queue,
    /// A limit of a user or group in a queue that others use too.
    Limit,
}

/// What holds for tenants that do not say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantDefaults {
    /// What each may use at once; absent: not limited. `maxApplications` is not among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<TenantQuota>,
    /// In which order tasks start.
    #[serde(default)]
    pub waiting: WaitingPolicy,
    /// What becomes of tasks that run when a quota is lowered below what is used.
    #[serde(default)]
    pub on_lower: OnLower,
    /// What becomes of a task that is larger than the quota.
    #[serde(default)]
    pub oversized: Oversized,
    /// For reading alone: how often they were said; the `ETag` of them.
    #[serde(default)]
    pub version: u64,
}

/// What a tenant may use and uses, all of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantUsage {
    /// Its name.
    pub tenant: String,
    /// Number of the last record that the answer knows.
    pub ledger_version: u64,
    /// When that record was made.
    pub as_of: Timestamp,
    /// Whether more is used than may be, of some type.
    pub over_quota: bool,
    /// What it may use at once, its own quota or the default; a type that is not named is not
    /// limited.
    pub quota: Resources,
    /// What its tasks use, and those of the tenants below it.
    pub used: Resources,
    /// What is left of the quota: quota less used, so below zero where it was lowered.
    pub free: Resources,
    /// What is used above the quota; absent where nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess: Option<Resources>,
    /// What waits.
    pub waiting: TenantWaiting,
    /// The tenants above it, the nearest first.
    pub by_ancestor: Vec<AncestorLimit>,
    /// How often its tasks, and those of the tenants below it, were told that they have to wait, since the
    /// server started.
    pub throttled_total: u64,
    /// What its tasks, and those of the tenants below it, used up to `asOf`, since it was made: core units
    /// times seconds, exact.
    #[serde(default)]
    pub resource_seconds: Resources,
    /// What was measured of those of its tasks that have their nodes, and of the tenants below it; absent where nothing was.
    /// Nothing is decided by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<TenantMeasured>,
}

/// What of the tasks of a tenant was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantMeasured {
    /// How many tasks were measured.
    pub tasks: u64,
    /// What they use together, as it was said last of each.
    pub resources: Resources,
}

/// What of a tenant waits, with the tenants below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantWaiting {
    /// How many tasks.
    pub tasks: u64,
    /// What they ask for together.
    pub resources: Resources,
    /// How long the oldest of them waits.
    pub oldest_seconds: u64,
}

/// A tenant above another, and whether it leaves that less than its own quota does. No figures:
/// they would tell what its other tenants use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AncestorLimit {
    /// Its name.
    pub tenant: String,
    /// Whether less of some type is left of its quota than of the one in question.
    pub limited: bool,
}

/// What came of comparing what is counted of tenants with what their tasks have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerVerified {
    /// Number of the last record that was looked at.
    pub ledger_version: u64,
    /// When it was compared.
    pub as_of: Timestamp,
    /// What disagrees, by tenant and type: nothing, or there is a bug.
    pub drift: Vec<LedgerDrift>,
}

/// An amount of a tenant that is counted as something else than its tasks have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerDrift {
    /// Whose.
    pub tenant: String,
    /// The type.
    pub r#type: String,
    /// What is counted, in core units.
    pub counted: i64,
    /// What its tasks have, and those of the tenants below it.
    pub found: i64,
    /// How much more is counted than was found.
    pub by: i64,
}
