//! Roles of identities.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A role of an identity. An identity can have several roles.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Can do everything.
    Admin,
    /// Can read everything, drain nodes, reload, and plan.
    Operator,
    /// Can read everything.
    Viewer,
    /// Can submit where the access list of a queue allows it, and read their own objects.
    Submitter,
    /// Can do the same as a submitter in queues whose admin access list allows it, and can act
    /// there.
    QueueAdmin,
    /// Can act and read within a tenant.
    TenantAdmin,
    /// Can read within a tenant.
    TenantViewer,
    /// Can use the scheduler interface: nodes, applications, and allocations.
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
