//! One node: its size and what is left of it.

use alloc::borrow::Cow;

use smallvec::SmallVec;

use crate::id::{AllocationId, PartitionId};
use crate::name::Name;
use crate::resource::Resources;

use super::attributes::NodeAttributes;

/// One node.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Node {
    /// Its partition.
    pub partition: PartitionId,
    /// Node id, unique in its partition.
    pub name: Name,
    /// Its size; no type with amount zero.
    pub capacity: Resources,
    /// Sum of the allocations on it; no type with amount zero.
    pub allocated: Resources,
    /// Taken by what the core does not schedule; no type with amount zero.
    pub occupied: Resources,
    /// The part of `occupied` that nobody takes back: of static allocations.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) fixed: Resources,
    /// Capacity less what is allocated and occupied; negative after the node shrank below its
    /// use.
    pub available: Resources,
    /// What else is known of it; never changes.
    pub attributes: NodeAttributes,
    /// Counts what changes what the RM may say of it: its size, its state, what runs on it.
    pub version: u64,
    /// Whether asks may be placed on it.
    pub schedulable: bool,
    /// How many allocations it carries.
    pub allocation_count: u32,
    /// The asks that it is reserved for: one, or several that may run nowhere else.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::stored::few"))]
    pub(super) reservations: SmallVec<[AllocationId; 1]>,
    /// Its newest allocation; the others follow from there.
    pub(super) first_allocation: Option<AllocationId>,
    /// Its label, as its attributes say.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) label: Option<Name>,
    /// Whether it is for asks that name its label, and for no others.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) closed: bool,
    /// Whether it is lent while it is idle to asks that name no label.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) lends: bool,
}

impl Node {
    /// Whether it is for asks that name its label, and for no others.
    #[inline]
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether it is lent while it is idle to asks that name no label.
    #[inline]
    pub const fn lends(&self) -> bool {
        self.lends
    }

    /// The label in whose types it is counted: its own, where it is for asks that name it alone.
    #[inline]
    pub fn own_types(&self) -> Option<&Name> {
        self.label.as_ref().filter(|_| self.closed)
    }

    /// Its label. None for most.
    #[inline]
    pub const fn label(&self) -> Option<&Name> {
        self.label.as_ref()
    }

    /// The asks that it is reserved for, in the order in which that began.
    pub fn reservations(&self) -> &[AllocationId] {
        &self.reservations
    }

    /// Whether it is reserved for some ask.
    #[inline]
    pub fn is_reserved(&self) -> bool {
        !self.reservations.is_empty()
    }

    /// Whether any ask may be placed on it.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.schedulable && self.reservations.is_empty()
    }

    /// Whether an ask that needs this much would fit if only what the core does not schedule ran on
    /// it. A node that could not hold an ask is never reserved for it.
    pub fn could_hold(&self, ask: &Resources) -> bool {
        let is_free = self.occupied.is_empty();
        self.capacity.fits(ask) && (is_free || self.capacity.minus(&self.occupied).fits(ask))
    }

    /// Whether an ask that needs this much would fit if only static allocations ran there. What else is foreign may
    /// end.
    #[inline]
    pub fn could_ever_hold(&self, ask: &Resources) -> bool {
        self.usable().fits(ask)
    }

    /// Its size less what static allocations take.
    pub fn usable(&self) -> Cow<'_, Resources> {
        if self.fixed.is_empty() {
            return Cow::Borrowed(&self.capacity);
        }
        Cow::Owned(self.capacity.minus_floored(&self.fixed))
    }

    pub(super) fn set_capacity(&mut self, capacity: Resources) {
        self.version += 1;
        self.available = capacity.minus(&self.allocated).minus(&self.occupied).pruned();
        self.capacity = capacity;
    }

    /// Have static allocations take `after` in place of `before`, as a part of what is foreign.
    pub(super) fn fix(&mut self, before: &Resources, after: &Resources) {
        self.fixed = self.fixed.minus(before).plus(after).pruned();
    }

    /// Have what the core does not schedule take `after` in place of `before`.
    pub(super) fn reoccupy(&mut self, before: &Resources, after: &Resources) {
        self.version += 1;
        self.occupied = self.occupied.minus(before).plus(after).pruned();
        self.available = self.available.plus(before).minus(after).pruned();
    }

    #[inline]
    pub(super) fn charge(&mut self, amount: &Resources) {
        self.version += 1;
        self.allocated.add(amount);
        self.available.subtract(amount);
        self.available.prune();
    }

    #[inline]
    pub(super) fn refund(&mut self, amount: &Resources) {
        self.version += 1;
        self.allocated.subtract(amount);
        self.allocated.prune();
        self.available.add(amount);
        self.available.prune();
    }
}
