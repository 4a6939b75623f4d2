//! The audit log of tenants.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::Stamp;

/// The type of an audit record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuditType {
    /// A tenant was created.
    TenantCreated,
    /// Settings of a tenant other than its quota and task order were changed.
    #[default]
    TenantChanged,
    /// A tenant was deleted.
    TenantDeleted,
    /// A quota, or a setting that belongs to it, was changed.
    QuotaChanged,
    /// A task was accepted.
    TaskSubmitted,
    /// A task waits, or has a new wait reason.
    TaskThrottled,
    /// A task, or one of its members, received a node.
    TaskStarted,
    /// A task, or one of its members, released its amounts.
    TaskEnded,
    /// A waiting task was withdrawn.
    TaskCancelled,
    /// A task was asked to stop for others.
    TaskEvicted,
    /// The runner of a task confirmed that it runs.
    TaskConfirmed,
    /// The measured usage of a task was reported.
    TaskMeasured,
    /// A task, or one of its members, was resized.
    TaskResized,
    /// The priority or deadline of a task was changed.
    TaskRanked,
    /// A task was rejected.
    TaskRejected,
    /// The task order of a tenant was changed.
    OrderChanged,
    /// The usage of tenants was recomputed.
    LedgerRebuilt,
    /// The recorded usage of tenants differed from their tasks.
    LedgerDrift,
}

/// A record of the audit log, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditRecord {
    /// Record number, counted from 1 without gaps.
    pub seq: u64,
    /// Time in UTC, always with milliseconds, because the hash includes this text.
    #[schema(format = DateTime)]
    pub at: String,
    /// The authenticated actor. `scheduler` for decisions of the scheduler, and `headroom` for
    /// timers.
    pub actor: String,
    /// ID of the request, as in responses and logs.
    pub request_id: Option<String>,
    /// Type of the record.
    pub r#type: AuditType,
    /// The tenant. `null` for records about all tenants.
    pub tenant: Option<String>,
    /// The task.
    pub task: Option<String>,
    /// Changed values before the change.
    #[schema(value_type = Object)]
    pub before: BTreeMap<String, Value>,
    /// Values after the change.
    #[schema(value_type = Object)]
    pub after: BTreeMap<String, Value>,
    /// Stable code of the reason.
    pub reason: Option<String>,
    /// Number of the journal record that caused the change.
    pub ledger_version: u64,
    /// Hash of the previous record.
    pub prev_hash: String,
    /// SHA-256 of the record without this field, as one line of JSON with the fields in this order.
    pub hash: String,
}

/// A page of the audit log, in order. Records that the caller cannot see are omitted, and not
/// counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    /// The moment of the page.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// The records.
    pub items: Vec<AuditRecord>,
    /// The `cursor` of the next page, which can exist even if this page is not full. Absent on the
    /// last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
