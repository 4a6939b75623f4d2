//! What is counted of tenants, and is not so.

use crate::name::Name;
use crate::resource::Quantity;

/// An amount of a tenant that is counted as something else than its tasks have. There is none, or there is
/// a bug.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantDrift {
    /// Whose.
    pub tenant: Name,
    /// The type.
    pub resource: Name,
    /// What is counted.
    pub counted: Quantity,
    /// What its allocations, and those of the tenants below it, come to.
    pub found: Quantity,
}

impl TenantDrift {
    /// How much more is counted than was found.
    pub const fn by(&self) -> Quantity {
        self.counted.minus(self.found)
    }
}
