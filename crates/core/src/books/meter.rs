//! Usage of tenants and their tasks over time, for billing. Source: tenants §2.6.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::id::ApplicationId;
use crate::name::Name;
use crate::resource::{ResourceType, Resources};
use crate::time::Timestamp;

use super::Books;

/// Exact sum of amounts times milliseconds, by type.
///
/// Usage at a constant rate since a moment is the rate times now, minus the rate times that moment. It is therefore
/// sufficient to store both sums, and nothing must be updated as time passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Meter {
    /// Current rate: the amounts in use now.
    rate: Resources,
    /// Sum over all changes of the rate times their moment in milliseconds, by the lane of the type.
    moments: Vec<i128>,
}

impl Meter {
    /// Changes the rate from now on. A negative amount reduces it.
    fn change(&mut self, now: Timestamp, by: &Resources) {
        for (resource, amount) in by.iter() {
            let lane = resource.lane();
            if self.moments.len() <= lane {
                self.moments.resize(lane + 1, 0);
            }
            let moment = i128::from(amount.get()).saturating_mul(i128::from(now.as_millis()));
            self.moments[lane] = self.moments[lane].saturating_add(moment);
        }
        self.rate.add(by);
        self.rate.prune();
    }

    /// Returns the amounts in use now.
    pub const fn rate(&self) -> &Resources {
        &self.rate
    }

    /// Returns the number of types with sums.
    #[cfg(feature = "snapshot")]
    pub(super) const fn types(&self) -> usize {
        self.moments.len()
    }

    /// Returns the usage up to a moment of each type that was ever used, in core units times milliseconds.
    pub fn spent(&self, now: Timestamp) -> impl Iterator<Item = (ResourceType, i128)> {
        self.moments.iter().enumerate().filter_map(move |(lane, moments)| {
            let resource = ResourceType::at(lane);
            let rate = i128::from(self.rate.get_or_zero(resource).get());
            let spent = rate.saturating_mul(i128::from(now.as_millis())).saturating_sub(*moments);
            (rate != 0 || *moments != 0).then_some((resource, spent))
        })
    }
}

/// Usage of an application over time, and the tenant that is charged. The tenant does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Metered {
    /// Name of the tenant.
    pub tenant: Name,
    /// Usage over time.
    pub meter: Meter,
}

impl Books {
    /// Starts to charge the usage of an application to this tenant.
    pub(super) fn begin_meter(&mut self, application: ApplicationId, tenant: &Name) {
        let metered = Metered { tenant: tenant.clone(), meter: Meter::default() };
        self.applications[application].metered = Some(Arc::new(metered));
    }

    /// Changes the rate of an application and its tenant. A negative amount reduces it.
    #[inline]
    pub(super) fn meter(
        &mut self,
        now: Timestamp,
        application: ApplicationId,
        by: impl FnOnce(&Self) -> Resources,
    ) {
        if self.applications[application].metered.is_some() {
            let by = by(self);
            self.meter_it(now, application, &by);
        }
    }

    fn meter_it(&mut self, now: Timestamp, application: ApplicationId, by: &Resources) {
        let row = &mut self.applications[application];
        let Some(metered) = &mut row.metered else { return };
        let metered = Arc::make_mut(metered);
        metered.meter.change(now, by);
        let (tenant, partition) = (metered.tenant.clone(), row.partition);
        self.partition_mut(partition).tenants.meter(&tenant, |meter| meter.change(now, by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Quantity;

    #[test]
    #[doc(alias = "TR-56")]
    fn what_was_used_is_exact_to_the_millisecond_however_much_it_is() {
        let at = Timestamp::from_millis;
        let of = |memory: i64| -> Resources {
            [(ResourceType::MEMORY, Quantity::of(memory))].into_iter().collect()
        };
        let mut meter = Meter::default();
        assert_eq!(meter.spent(at(5)).count(), 0);
        let terabytes = 4_000_000_000_000_000;
        meter.change(at(1_764_000_000_000), &of(terabytes));
        meter.change(at(1_764_000_000_001), &of(7));
        meter.change(at(1_795_536_000_000), &of(-terabytes));
        // One year, less 7 bytes for one millisecond.
        let year = 31_536_000_000_i128;
        let expected = i128::from(terabytes) * year + 7 * (year - 1);
        assert!(expected > i128::from(i64::MAX), "beyond what an amount can be");
        let spent: Vec<_> = meter.spent(at(1_795_536_000_000)).collect();
        assert_eq!(spent, [(ResourceType::MEMORY, expected)]);
        meter.change(at(1_795_536_000_010), &of(-7));
        let last = meter.spent(at(1_999_999_999_999)).collect::<Vec<_>>();
        assert_eq!(last, [(ResourceType::MEMORY, expected + 70)], "what has ended grows no more");
        assert_eq!(meter.rate(), &Resources::new());
    }
}
