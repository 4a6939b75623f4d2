//! Both sides of a comparison.

use alloc::vec::Vec;

use crate::resource::{Quantity, ResourceType, Resources, Shortfall};

/// Limit, usage, and request of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Resource type. `None` if applications are counted.
    pub resource: Option<ResourceType>,
    /// Limit.
    pub limit: Quantity,
    /// Current usage.
    pub used: Quantity,
    /// Requested amount.
    pub asked: Quantity,
}

impl Amount {
    /// Returns the missing amount. Zero or negative if there is enough.
    pub fn short(&self) -> Quantity {
        self.used.plus(self.asked).minus(self.limit)
    }

    /// Returns a count of applications, with a request of one more.
    pub(super) fn count(used: u64, limit: u64) -> Self {
        let of = |count: u64| Quantity::of(i64::try_from(count).unwrap_or(i64::MAX));
        Self { resource: None, limit: of(limit), used: of(used), asked: Quantity::of(1) }
    }

    /// Returns the sides of a bound that is computed on demand, from the available amount and the usage.
    pub(super) const fn of_shortfall(short: Shortfall, used: Quantity) -> Self {
        let Shortfall { resource, needed, available } = short;
        let limit = used.plus(available);
        Self { resource: Some(resource), limit, used, asked: needed }
    }
}

/// Returns both sides for each type that is requested and limited.
pub(super) fn compared_amounts(
    limit: &Resources,
    used: &Resources,
    asked: &Resources,
) -> Vec<Amount> {
    let some = asked.iter().filter(|(_, asked)| *asked > Quantity::ZERO);
    let both = some.filter_map(|(resource, asked)| {
        let (limit, used) = (limit.get(resource)?, used.get_or_zero(resource));
        Some(Amount { resource: Some(resource), limit, used, asked })
    });
    both.collect()
}

/// Returns both sides for each requested type on a node. A type that the node does not have counts as zero.
pub(super) fn on_node(capacity: &Resources, free: &Resources, asked: &Resources) -> Vec<Amount> {
    let some = asked.iter().filter(|(_, asked)| *asked > Quantity::ZERO);
    let both = some.map(|(resource, asked)| {
        let limit = capacity.get_or_zero(resource);
        let used = limit.minus(free.get_or_zero(resource));
        Amount { resource: Some(resource), limit, used, asked }
    });
    both.collect()
}

/// Keeps only the types that are short if the check failed.
pub(super) fn short_only(amounts: &mut Vec<Amount>, failed: bool) {
    if failed {
        amounts.retain(|one| one.short() > Quantity::ZERO);
    }
}
