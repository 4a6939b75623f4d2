//! Changes of a tenant.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::config::{TenantDefaults, TenantSettings};
use crate::event::TenantDrift;
use crate::id::PartitionId;
use crate::name::Name;

/// A change of a tenant.
#[derive(Clone, Debug, PartialEq)]
pub enum TenantEvent {
    /// A tenant was created, or its settings changed. Other events have the effects on queues and limits.
    Set {
        partition: PartitionId,
        tenant: Name,
        /// All settings of the tenant.
        settings: Box<TenantSettings>,
    },
    /// A tenant began to drain. It accepts no tasks, and is removed after its last task ends.
    Draining { partition: PartitionId, tenant: Name },
    /// A tenant without children and tasks was removed.
    Removed { partition: PartitionId, tenant: Name },
    /// The defaults for tenants changed.
    DefaultsSet {
        partition: PartitionId,
        /// All defaults.
        defaults: Box<TenantDefaults>,
    },
    /// Counters of tenants differ from the sums of their tasks. The event only reports the differences and corrects
    /// nothing.
    DriftFound {
        partition: PartitionId,
        /// All differences, by tenant and type.
        drift: Vec<TenantDrift>,
    },
}
