//! `/headroom/v1/tenants/{tenant}/waiting`: waiting tasks, their order, and their wait reasons.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::WaitingStrategy;
use crate::wsv1::Resources;

/// A page of the waiting tasks of a tenant, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingList {
    /// The tenant.
    pub tenant: String,
    /// Number of the newest record that the response includes.
    pub ledger_version: u64,
    /// Creation time of that record.
    pub as_of: Timestamp,
    /// The tasks, the first to start first.
    pub items: Vec<WaitingTask>,
    /// Total number of waiting tasks.
    pub total: u64,
    /// The `cursor` of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A waiting task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingTask {
    /// ID of the task.
    pub task: String,
    /// Position of the task, starting at 1.
    pub position: u64,
    /// Number of waiting tasks.
    pub of: u64,
    /// The order in which tasks start.
    pub strategy: WaitingStrategy,
    /// Priority of the task, including its rise with waiting time.
    pub effective_priority: i64,
    /// Wait so far, in seconds.
    pub waited_seconds: u64,
    /// Sum of the requested amounts that wait.
    pub resources: Resources,
    /// The wait reason. Absent if the scheduler checks the task next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<TaskReason>,
    /// Time of the first wait reason since the task last began to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_throttled_at: Option<Timestamp>,
    /// Number of times that other tasks overtook it while it was first.
    pub overtaken_by: u32,
    /// The task that overtook it last. Absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_overtaken_by: Option<String>,
    /// Whether tasks that would take its amounts can no longer overtake it.
    pub hold: bool,
    /// Whether the task could not start even if nothing else ran.
    pub unsatisfiable: bool,
}

/// The predicted outcome of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuotaCheck {
    /// The tenant.
    pub tenant: String,
    /// Whether the task would start immediately.
    pub fits: bool,
    /// Position among the waiting tasks, starting at 1. Absent if the task would start or be
    /// rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Number of waiting tasks. Absent like `position`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// Reason for the wait or rejection: the first failed check, with all types that are short.
    /// Empty if the task would start.
    pub reasons: Vec<TaskReason>,
    /// Number of the newest record that the response includes.
    pub ledger_version: u64,
    /// Creation time of that record.
    pub as_of: Timestamp,
}

/// The reason why a task waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskReason {
    /// The failed check, such as `TENANT_QUOTA`.
    pub code: String,
    /// The object whose limit applies, such as a tenant. Absent if the caller cannot see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// For a quota: each type that is short.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<ShortType>,
    /// The reason as a sentence: both sides, and an action. Absent if it names what the caller
    /// cannot see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
}

/// A resource type that is short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShortType {
    /// Name of the type.
    #[serde(rename = "type")]
    pub resource: String,
    /// Amount in use by the tenant. Absent, like `short`, for a tenant that the caller cannot see,
    /// because other tenants below it use part of the amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<i64>,
    /// Amount that the task needs.
    pub asked: i64,
    /// The quota.
    pub limit: i64,
    /// Amount by which the task would exceed the quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<i64>,
}
