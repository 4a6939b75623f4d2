//! Who may do what.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an identity may do. One identity may have several.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Everything.
    Admin,
    /// Read all, drain nodes, reload, plan.
    Operator,
    /// Read all.
    Viewer,
    /// Submit where a queue's access list allows it; read what is his.
    Submitter,
    /// As submitter in the queues whose admin access list allows it, and act there.
    QueueAdmin,
    /// Act and read within one tenant.
    TenantAdmin,
    /// Read within one tenant.
    TenantViewer,
    /// The scheduler interface: nodes, applications, allocations.
    Rm,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 8] = [
        Self::Admin,
        Self::Operator,
        Self::Viewer,
        Self::Submitter,
        Self::QueueAdmin,
        Self::TenantAdmin,
        Self::TenantViewer,
        Self::Rm,
    ];
}
