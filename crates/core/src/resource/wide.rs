//! Sums that stay exact beyond 64 bits.
//!
//! Waiting asks can have any size, so their sums can exceed 64 bits. A saturating sum loses the excess and becomes
//! wrong when amounts are subtracted again. [`Beyond`] stores the excess over the largest amount, in addition to the
//! vector that is shown. It is almost always empty, and then costs one comparison.

use alloc::collections::BTreeMap;

use super::{Quantity, ResourceType, Resources};

/// Excess of each sum over [`Quantity::MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beyond(BTreeMap<ResourceType, i128>);

impl Beyond {
    /// Adds an amount to the sum whose vector is `shown`.
    #[inline]
    pub(crate) fn add(&mut self, shown: &mut Resources, amount: &Resources) {
        if !self.0.is_empty() || !shown.add_within(amount) {
            self.shift(shown, amount, 1);
        }
    }

    /// Subtracts an amount that was added before.
    #[inline]
    pub(crate) fn subtract(&mut self, shown: &mut Resources, amount: &Resources) {
        if self.0.is_empty() {
            shown.subtract(amount);
        } else {
            self.shift(shown, amount, -1);
        }
    }

    /// Adds an amount `times` times. `times` can be negative.
    #[cold]
    pub(crate) fn shift(&mut self, shown: &mut Resources, amount: &Resources, times: i64) {
        for (resource, amount) in amount.iter() {
            let beyond = self.0.remove(&resource).unwrap_or_default();
            let change = i128::from(times) * i128::from(amount.get());
            let exact = i128::from(shown.get_or_zero(resource).get()) + beyond + change;
            let cut = exact.min(i128::from(i64::MAX));
            let cut = i64::try_from(cut).map_or(Quantity::MIN, Quantity::of);
            shown.set(resource, cut);
            let beyond = exact - i128::from(cut.get());
            if beyond > 0 {
                self.0.insert(resource, beyond);
            }
        }
    }

    /// Returns whether no sum has an excess.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the exact sums of the types that `shown` has at the largest amount.
    pub(crate) fn largest(&self, shown: &Resources) -> BTreeMap<ResourceType, i128> {
        let largest = shown.iter().filter(|(_, amount)| *amount == Quantity::MAX);
        let beyond = |resource| self.0.get(&resource).copied().unwrap_or_default();
        largest.map(|(one, amount)| (one, i128::from(amount.get()) + beyond(one))).collect()
    }
}
