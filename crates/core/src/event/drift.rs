//! Differences between counted and actual usage of tenants.

use crate::name::Name;
use crate::resource::Quantity;

/// Amount of a tenant whose counter differs from the sum of its tasks. A difference indicates a bug.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantDrift {
    /// Name of the tenant.
    pub tenant: Name,
    /// Resource type.
    pub resource: Name,
    /// Counted amount.
    pub counted: Quantity,
    /// Sum of the allocations of the tenant and its descendants.
    pub found: Quantity,
}

impl TenantDrift {
    /// Returns the counted amount minus the actual sum.
    pub const fn by(&self) -> Quantity {
        self.counted.minus(self.found)
    }
}
