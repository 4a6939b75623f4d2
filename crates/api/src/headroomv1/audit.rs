//! The audit of tenants.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::Stamp;

/// What happened to a tenant or a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuditType {
    /// A tenant is there.
    TenantCreated,
    /// Something else is said of a tenant than its quota and the order of its tasks.
    #[default]
    TenantChanged,
    /// A tenant is gone.
    TenantDeleted,
    /// A quota, or what belongs to it, is another.
    QuotaChanged,
    /// A task was taken in.
    TaskSubmitted,
    /// A task waits, or waits for another reason.
    TaskThrottled,
    /// A task, or a member of it, was given a node.
    TaskStarted,
    /// A task, or a member of it, gave its room back.
    TaskEnded,
    /// A task that waited was withdrawn.
    TaskCancelled,
    /// A task is to stop for the sake of others.
    TaskEvicted,
    /// Whoever runs a task has said that it runs.
    TaskConfirmed,
    /// What a task really uses was measured.
    TaskMeasured,
    /// A task, or a member of it, has another size.
    TaskResized,
    /// A task has another priority or deadline.
    TaskRanked,
    /// A task was not taken in.
    TaskRejected,
    /// The tasks of a tenant start in another order.
    OrderChanged,
    /// What tenants use was counted anew.
    LedgerRebuilt,
    /// What tenants use was not what was counted.
    LedgerDrift,
}

/// One record of the audit, as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditRecord {
    /// Counts records from 1, without gaps.
    pub seq: u64,
    /// When, in UTC, always to the millisecond: the hash is over this text.
    #[schema(format = DateTime)]
    pub at: String,
    /// Who: as authenticated; `scheduler` where it moved by itself, `headroom` for what is done by the clock.
    pub actor: String,
    /// The request that it comes from, as responses and logs name it.
    pub request_id: Option<String>,
    /// What.
    pub r#type: AuditType,
    /// Which tenant; `null` for what holds for all.
    pub tenant: Option<String>,
    /// Which task.
    pub task: Option<String>,
    /// What was so before, as far as it is another now.
    #[schema(value_type = Object)]
    pub before: BTreeMap<String, Value>,
    /// What is so from then on.
    #[schema(value_type = Object)]
    pub after: BTreeMap<String, Value>,
    /// Why, by a code that does not change.
    pub reason: Option<String>,
    /// The number of the record of the journal that it follows from.
    pub ledger_version: u64,
    /// The hash of the record before.
    pub prev_hash: String,
    /// SHA-256 over the record without this field, as one line of JSON with the fields in this order.
    pub hash: String,
}

/// A part of the audit, in its order. What the caller may not see is left out, and not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    /// The moment that it shows.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// Records.
    pub items: Vec<AuditRecord>,
    /// To be sent as `cursor` for the next part, which may come although this one is not full; absent on
    /// the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
