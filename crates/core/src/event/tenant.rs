//! What happened to a tenant.

use alloc::vec::Vec;

use crate::config::{TenantDefaults, TenantSettings};
use crate::event::TenantDrift;
use crate::id::PartitionId;
use crate::name::Name;

/// What happened to a tenant.
#[derive(Clone, Debug, PartialEq)]
pub enum TenantEvent {
    /// A tenant is new, or its settings have changed; other events carry the effects on queues and
    /// limits.
    Set {
        partition: PartitionId,
        tenant: Name,
        /// All of its settings.
        settings: TenantSettings,
    },
    /// A tenant takes in nothing any more, and goes with its last task.
    Draining { partition: PartitionId, tenant: Name },
    /// A tenant is gone; it had no tenant below it and no task.
    Removed { partition: PartitionId, tenant: Name },
    /// This holds for tenants that do not say otherwise.
    DefaultsSet {
        partition: PartitionId,
        /// All that holds.
        defaults: TenantDefaults,
    },
    /// What is counted of tenants is not what their tasks have. Nothing is mended by that: it is to be known.
    DriftFound {
        partition: PartitionId,
        /// All of it, by tenant and type.
        drift: Vec<TenantDrift>,
    },
}
