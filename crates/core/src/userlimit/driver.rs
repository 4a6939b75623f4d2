//! Limits on the drivers in a leaf. A driver is the first allocation of an application, its originator, or the
//! placeholders of its first task group.

use crate::resource::{Quantity, ResourceType, Resources};

use super::decimal::{Decimal, Fraction, up};
use super::{Calculator, Formula, Leaf, Rules};

/// Driver settings of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverRules {
    /// Fraction of the queue for drivers, as a factor (YARN's `maximum-am-resource-percent`). 0.1 is a tenth.
    pub part: Decimal,
}

/// Defaults to a tenth, as in CapacityScheduler.
impl Default for DriverRules {
    fn default() -> Self {
        Self { part: Decimal::TENTH }
    }
}

impl DriverRules {
    /// Returns the limit on all drivers of a leaf.
    ///
    /// `current` is the capacity that the queue can use now: the lower of its maximum and what its parent leaves. The
    /// guarantee counts if it is larger: in all types, or as a whole vector with version 2.7.3.
    pub fn of_queue(&self, rules: &Rules, leaf: &Leaf, current: &Resources) -> Resources {
        let ops = rules.ops(leaf);
        let usable = match rules.formula {
            Formula::Yarn27 => ops.larger(&leaf.guaranteed, current),
            // For a label, at most the guarantee counts.
            Formula::Yarn3 | Formula::Smooth => ops.choose(current, &leaf.guaranteed, |section| {
                section == 0 && ops.fits_in(section, current, &leaf.guaranteed)
            }),
        };
        ops.map(&usable, |resource, amount| {
            rounded(rules, resource, Fraction::of(amount).times(self.part))
        })
    }

    /// Returns the limit on the drivers of one user. `users` is the number of active users and of others with an
    /// application that waits for activation, at least one.
    pub fn of_user(
        &self,
        rules: &Rules,
        leaf: &Leaf,
        of_queue: &Resources,
        users: u64,
        weight: Decimal,
    ) -> Resources {
        let ops = rules.ops(leaf);
        let users = Decimal::whole(u32::try_from(users.max(1)).unwrap_or(u32::MAX));
        let own = ops.map(&leaf.guaranteed, |resource, amount| {
            let all = Fraction::of(amount).times(self.part);
            let Some(factor) = rules.factor else { return rounded(rules, resource, all) };
            // The larger of the floor and an equal share, at most the whole.
            let parts = [all.share(weight, users), all.percent(rules.floor).times(weight), all];
            let [equal, floor, all] =
                parts.map(|part| rounded(rules, resource, part.times(factor)));
            equal.max(floor).min(all)
        });
        match rules.formula {
            // Version 2.7.3 ignores the limit of the queue.
            Formula::Yarn27 => own,
            Formula::Yarn3 => ops.smaller(&own, of_queue),
            // A type without a guarantee is not split.
            Formula::Smooth => {
                let split = |(resource, _): &(ResourceType, Quantity)| {
                    leaf.guaranteed.get_or_zero(*resource) > Quantity::ZERO
                };
                let own: Resources = own.iter().filter(split).collect();
                own.minimum(of_queue)
            }
        }
    }

    /// Returns whether one more driver is within a limit with this usage. A driver that needs a type without a limit is
    /// not.
    pub fn admits(
        &self,
        rules: &Rules,
        leaf: &Leaf,
        limit: &Resources,
        used: &Resources,
        driver: &Resources,
    ) -> bool {
        let (ops, with) = (rules.ops(leaf), used.plus(driver));
        if rules.calculator != Calculator::Componentwise {
            return ops.is_at_most(&with, limit, driver);
        }
        let mut needed = driver.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        needed.all(|(resource, _)| with.get_or_zero(resource) <= limit.get_or_zero(resource))
    }
}

/// Returns the default limit on applications of one user in a leaf with the limit `max`: the smallest share of the user
/// times the factor. Without a floor or a factor, it is `max`.
pub fn max_applications(max: u64, floor: Decimal, factor: Option<Decimal>) -> u64 {
    let Some(factor) = factor.filter(|_| floor > Decimal::ZERO) else { return max };
    let all = Fraction::of(i64::try_from(max).unwrap_or(i64::MAX));
    let part = all.percent(floor).times(factor).floor();
    u64::try_from(part).unwrap_or(0).min(max)
}

/// Rounds up to a unit and the next step. With the memory calculator of CapacityScheduler, rounds to the nearest unit
/// first.
fn rounded(rules: &Rules, resource: ResourceType, part: Fraction) -> i64 {
    let is_as_yarn = rules.formula != Formula::Smooth;
    let unit = if is_as_yarn && rules.calculator == Calculator::Memory {
        part.nearest()
    } else {
        part.ceil()
    };
    up(unit, rules.step.get_or_zero(resource).get())
}
