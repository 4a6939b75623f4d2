//! Both sides of a comparison.

use alloc::vec::Vec;

use crate::resource::{Quantity, ResourceType, Resources, Shortfall};

/// What there may be of something, what is used, and what is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Of what; none where applications are counted.
    pub resource: Option<ResourceType>,
    /// What may be used.
    pub limit: Quantity,
    /// What is used.
    pub used: Quantity,
    /// What is asked for.
    pub asked: Quantity,
}

impl Amount {
    /// By how much it is too little: nothing, or less than that, where it is enough.
    pub fn short(&self) -> Quantity {
        self.used.plus(self.asked).minus(self.limit)
    }

    /// A count of applications, of which there is to be one more.
    pub(super) fn count(used: u64, limit: u64) -> Self {
        let of = |count: u64| Quantity::of(i64::try_from(count).unwrap_or(i64::MAX));
        Self { resource: None, limit: of(limit), used: of(used), asked: Quantity::of(1) }
    }

    /// What is known of a bound that is recomputed at every look: what is left of it.
    pub(super) const fn of_shortfall(short: Shortfall, used: Quantity) -> Self {
        let Shortfall { resource, needed, available } = short;
        let limit = used.plus(available);
        Self { resource: Some(resource), limit, used, asked: needed }
    }
}

/// Both sides for each type of which something is asked for and there may be only so much.
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

/// The same on a node, where what is not there is nothing.
pub(super) fn on_node(capacity: &Resources, free: &Resources, asked: &Resources) -> Vec<Amount> {
    let some = asked.iter().filter(|(_, asked)| *asked > Quantity::ZERO);
    let both = some.map(|(resource, asked)| {
        let limit = capacity.get_or_zero(resource);
        let used = limit.minus(free.get_or_zero(resource));
        Amount { resource: Some(resource), limit, used, asked }
    });
    both.collect()
}

/// Of these, those of which there is too little, if only they count.
pub(super) fn short_only(amounts: &mut Vec<Amount>, failed: bool) {
    if failed {
        amounts.retain(|one| one.short() > Quantity::ZERO);
    }
}
