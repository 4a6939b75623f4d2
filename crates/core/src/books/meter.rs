//! What tenants and their tasks used over time, for billing. Source: tenants §2.6.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::id::ApplicationId;
use crate::name::Name;
use crate::resource::{ResourceType, Resources};
use crate::time::Timestamp;

use super::Books;

/// Amounts times milliseconds, by type: exact, whatever came and went.
///
/// What is used at a rate from some moment on comes to the rate times now, less the rate times that moment;
/// so it is enough to add up both, and nothing has to be looked at while time passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Meter {
    /// What is used now.
    rate: Resources,
    /// By the number of the type, each change of the rate times when it was, in milliseconds.
    moments: Vec<i128>,
}

impl Meter {
    /// From now on so much more is used, or less where it is below zero.
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

    /// What is used now.
    pub const fn rate(&self) -> &Resources {
        &self.rate
    }

    /// How many types it has numbers for.
    #[cfg(feature = "snapshot")]
    pub(super) const fn types(&self) -> usize {
        self.moments.len()
    }

    /// What was used up to a moment, of each type that ever was: core units times milliseconds.
    pub fn spent(&self, now: Timestamp) -> impl Iterator<Item = (ResourceType, i128)> {
        self.moments.iter().enumerate().filter_map(move |(lane, moments)| {
            let resource = ResourceType::at(lane);
            let rate = i128::from(self.rate.get_or_zero(resource).get());
            let spent = rate.saturating_mul(i128::from(now.as_millis())).saturating_sub(*moments);
            (rate != 0 || *moments != 0).then_some((resource, spent))
        })
    }
}

/// What an application used over time, and on whose account. It stays with the tenant that it came with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Metered {
    /// The tenant.
    pub tenant: Name,
    /// What it used.
    pub meter: Meter,
}

impl Books {
    /// What an application uses is counted on account of this tenant.
    pub(super) fn begin_meter(&mut self, application: ApplicationId, tenant: &Name) {
        let metered = Metered { tenant: tenant.clone(), meter: Meter::default() };
        self.applications[application].metered = Some(Arc::new(metered));
    }

    /// An application uses so much more from now on, or less where it is below zero; and so does its tenant.
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
        // A year, and 7 bytes a millisecond less.
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
