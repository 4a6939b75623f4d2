//! What happens to a tenant and its tasks, as it is told on its stream.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::event::Streamed;
use super::task::TaskState;
use super::tenant::TenantQuota;
use super::waiting::TaskReason;
use crate::wsv1::Resources;

/// Something that happened to a tenant, or to a task of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantEvent {
    /// Number of the record that it belongs to: what is read with this `ledgerVersion` or a later one knows of it.
    pub ledger_version: u64,
    /// When.
    pub at: Timestamp,
    /// What, such as `taskThrottled`.
    pub kind: String,
    /// To which tenant: that of the stream, or one below it.
    pub tenant: String,
    /// To which of its tasks, or applications; absent if it is about the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Where the task stands now; absent of what is no task, and of one that was declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
    /// Why it has to wait, or was declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<TaskReason>,
    /// What it has from now on, of one that was given another size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// What the tenant may use from now on. Absent if that is as for all, and where the tenant was put below another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<TenantQuota>,
    /// Whether places among the tenant's tasks that wait may be others than before: a list that was read with a
    /// smaller `ledgerVersion` is old.
    pub waiting_changed: bool,
}

impl Streamed for TenantEvent {
    fn number(&self) -> u64 {
        self.ledger_version
    }
}
