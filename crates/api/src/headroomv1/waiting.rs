//! `/headroom/v1/tenants/{tenant}/waiting`: which tasks wait, in which order, and why.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::WaitingStrategy;
use crate::wsv1::Resources;

/// A part of the tasks of a tenant that wait, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingList {
    /// The tenant.
    pub tenant: String,
    /// Number of the last record that the answer knows.
    pub ledger_version: u64,
    /// When that record was made.
    pub as_of: Timestamp,
    /// The tasks, first come first.
    pub items: Vec<WaitingTask>,
    /// How many there are in all.
    pub total: u64,
    /// To be sent as `cursor` for the next part; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A task that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingTask {
    /// Its id.
    pub task: String,
    /// Its place in the order, from 1 on.
    pub position: u64,
    /// How many wait.
    pub of: u64,
    /// In which order they start.
    pub strategy: WaitingStrategy,
    /// Its priority, with what it has gained by waiting.
    pub effective_priority: i64,
    /// How long it has waited.
    pub waited_seconds: u64,
    /// What it asks for that waits, in sum.
    pub resources: Resources,
    /// Why; absent if it is about to be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<TaskReason>,
    /// When it was first told that it has to wait, since it last began to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_throttled_at: Option<Timestamp>,
    /// How often others went before it while it was the first.
    pub overtaken_by: u32,
    /// Whether nobody goes before it any more who would take what it needs.
    pub hold: bool,
    /// Whether it could not even start if nothing else ran.
    pub unsatisfiable: bool,
}

/// What would become of a task, were it submitted now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuotaCheck {
    /// The tenant.
    pub tenant: String,
    /// Whether it would start at once.
    pub fits: bool,
    /// Its place among those that would wait, from 1 on; absent if it would start, or be declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// How many would wait; absent like `position`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// Why it would wait, or be declined: the first check that it fails, with all types of which too little is
    /// left. None if it would start.
    pub reasons: Vec<TaskReason>,
    /// Number of the last record that the answer knows.
    pub ledger_version: u64,
    /// When that record was made.
    pub as_of: Timestamp,
}

/// Why a task waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskReason {
    /// The check that it fails, such as `TENANT_QUOTA`.
    pub code: String,
    /// Whose bound it is: a tenant, or what else holds it back. Absent if the caller may not see
    /// that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Of a quota: each type of which too little is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<ShortType>,
    /// In a sentence: both sides, and what would help. Absent if it tells what the caller may not
    /// see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
}

/// A type of which too little is left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShortType {
    /// Its name.
    #[serde(rename = "type")]
    pub resource: String,
    /// What the tenant uses. Absent, like `short`, of a tenant that the caller may not see: others
    /// below it use part of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<i64>,
    /// What the task needs.
    pub asked: i64,
    /// The quota.
    pub limit: i64,
    /// By how much the task would be above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<i64>,
}
