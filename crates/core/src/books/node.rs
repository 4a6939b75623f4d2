//! One node: its capacity and its free amounts.

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
    /// Partition of the node.
    pub partition: PartitionId,
    /// Node id, unique in its partition.
    pub name: Name,
    /// Capacity, without types of amount zero.
    pub capacity: Resources,
    /// Sum of its allocations, without types of amount zero.
    pub allocated: Resources,
    /// Sum of its foreign allocations, without types of amount zero.
    pub occupied: Resources,
    /// Part of `occupied` that belongs to foreign allocations that cannot be preempted.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) fixed: Resources,
    /// Capacity minus allocated and occupied amounts. Negative after the node shrank below its usage.
    pub available: Resources,
    /// Attributes, which never change.
    pub attributes: NodeAttributes,
    /// Number of changes that can alter the verdicts of the RM: of its size, its state, and its allocations.
    pub version: u64,
    /// Whether the scheduler can place asks on it.
    pub schedulable: bool,
    /// Number of its allocations.
    pub allocation_count: u32,
    /// Asks that have it reserved: one, or several that require it.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::stored::few"))]
    pub(super) reservations: SmallVec<[AllocationId; 1]>,
    /// Newest allocation, the start of the list.
    pub(super) first_allocation: Option<AllocationId>,
    /// Label, from its attributes.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) label: Option<Name>,
    /// Whether its label is exclusive, so that only asks that select it can use the node.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) closed: bool,
    /// Whether asks without a label can borrow it while it is idle.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) lends: bool,
}

impl Node {
    /// Returns whether only asks that select its label can use it.
    #[inline]
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns whether asks without a label can borrow it while it is idle.
    #[inline]
    pub const fn lends(&self) -> bool {
        self.lends
    }

    /// Returns the label whose types it is counted in: its own exclusive label.
    #[inline]
    pub fn own_types(&self) -> Option<&Name> {
        self.label.as_ref().filter(|_| self.closed)
    }

    /// Returns its label. `None` for most nodes.
    #[inline]
    pub const fn label(&self) -> Option<&Name> {
        self.label.as_ref()
    }

    /// Returns the asks that have it reserved, in the order of their reservations.
    pub fn reservations(&self) -> &[AllocationId] {
        &self.reservations
    }

    /// Returns whether it is reserved for an ask.
    #[inline]
    pub fn is_reserved(&self) -> bool {
        !self.reservations.is_empty()
    }

    /// Returns whether any ask can be placed on it.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.schedulable && self.reservations.is_empty()
    }

    /// Returns whether this amount fits if only foreign allocations run on the node. Otherwise, the node is never
    /// reserved for such an ask.
    pub fn could_hold(&self, ask: &Resources) -> bool {
        let is_free = self.occupied.is_empty();
        self.capacity.fits(ask) && (is_free || self.capacity.minus(&self.occupied).fits(ask))
    }

    /// Returns whether this amount fits if only foreign allocations and `others` run on the node.
    pub(crate) fn could_hold_beside(&self, others: &Resources, ask: &Resources) -> bool {
        self.capacity.minus(&self.occupied).minus(others).fits(ask)
    }

    /// Returns whether this amount fits if only foreign allocations that cannot be preempted run on the node. Other
    /// foreign allocations can end.
    #[inline]
    pub fn could_ever_hold(&self, ask: &Resources) -> bool {
        self.usable().fits(ask)
    }

    /// Returns its capacity minus foreign allocations that cannot be preempted.
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

    /// Replaces `before` with `after` in the amounts of foreign allocations that cannot be preempted.
    pub(super) fn fix(&mut self, before: &Resources, after: &Resources) {
        self.fixed = self.fixed.minus(before).plus(after).pruned();
    }

    /// Replaces `before` with `after` in the amounts of foreign allocations.
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
