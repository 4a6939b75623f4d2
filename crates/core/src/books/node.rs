//! One node: its size and what is left of it.

use crate::id::{AllocationId, PartitionId};
use crate::name::Name;
use crate::resource::Resources;

/// One node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its partition.
    pub partition: PartitionId,
    /// Node id, unique in its partition.
    pub name: Name,
    /// Its size; no type with amount zero.
    pub capacity: Resources,
    /// Sum of the allocations on it; no type with amount zero.
    pub allocated: Resources,
    /// Capacity less what is allocated; negative after the node shrank below its use.
    pub available: Resources,
    /// Whether asks may be placed on it.
    pub schedulable: bool,
    /// How many allocations it carries.
    pub allocation_count: u32,
    /// Its newest allocation; the others follow from there.
    pub(super) first_allocation: Option<AllocationId>,
}

impl Node {
    pub(super) fn set_capacity(&mut self, capacity: Resources) {
        self.available = capacity.minus(&self.allocated).pruned();
        self.capacity = capacity;
    }

    #[inline]
    pub(super) fn charge(&mut self, amount: &Resources) {
        self.allocated.add(amount);
        self.available.subtract(amount);
        self.available.prune();
    }

    #[inline]
    pub(super) fn refund(&mut self, amount: &Resources) {
        self.allocated.subtract(amount);
        self.allocated.prune();
        self.available.add(amount);
        self.available.prune();
    }
}
