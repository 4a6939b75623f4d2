//! Events of a tenant and its tasks, as its stream sends them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::event::Streamed;
use super::task::TaskState;
use super::tenant::TenantQuota;
use super::waiting::TaskReason;
use crate::wsv1::Resources;

/// An event of a tenant or of one of its tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantEvent {
    /// Number of the record of the event. Responses with this or a later `ledgerVersion` include
    /// it.
    pub ledger_version: u64,
    /// Time of the event.
    pub at: Timestamp,
    /// Kind of the event, such as `taskThrottled`.
    pub kind: String,
    /// The tenant of the stream, or a tenant below it.
    pub tenant: String,
    /// The task or application. Absent if the event is about the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// State of the task after the event. Absent for applications and rejected tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
    /// Reason for a wait or rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<TaskReason>,
    /// New amounts of a resized task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// New quota of the tenant. Absent if the default applies, or if the tenant has a new parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<TenantQuota>,
    /// Whether the positions of waiting tasks can have changed. A list with a smaller
    /// `ledgerVersion` is then outdated.
    pub waiting_changed: bool,
}

impl Streamed for TenantEvent {
    fn number(&self) -> u64 {
        self.ledger_version
    }
}
