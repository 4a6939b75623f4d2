//! How much of a leaf queue drivers may have: the first allocation of an application, its
//! originator, or the placeholders of its first task group.

use crate::resource::{Quantity, ResourceType, Resources};

use super::decimal::{Decimal, Fraction, up};
use super::{Calculator, Formula, Leaf, Rules};

/// What a leaf queue says of drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverRules {
    /// How much of the queue drivers may have, as a factor (YARN's `maximum-am-resource-percent`,
    /// where 0.1 is a tenth).
    pub part: Decimal,
}

/// A tenth, as in CapacityScheduler.
impl Default for DriverRules {
    fn default() -> Self {
        Self { part: Decimal::TENTH }
    }
}

impl DriverRules {
    /// What all drivers of a leaf may have. `current` is what the queue may use now: the lower of its
    /// maximum and what its parent leaves it. The guarantee counts where it is more than that: in
    /// all types, or as a whole vector with 2.7.3.
    pub fn of_queue(&self, rules: &Rules, leaf: &Leaf, current: &Resources) -> Resources {
        let ops = rules.ops(leaf);
        let usable = match rules.formula {
            Formula::Yarn27 => ops.larger(&leaf.guaranteed, current),
            // Of what has a label no more than what is guaranteed counts.
            Formula::Yarn3 | Formula::Smooth => ops.choose(current, &leaf.guaranteed, |section| {
                section == 0 && ops.fits_in(section, current, &leaf.guaranteed)
            }),
        };
        ops.map(&usable, |resource, amount| {
            rounded(rules, resource, Fraction::of(amount).times(self.part))
        })
    }

    /// What the drivers of one user may have. `users` are those who are active, and others who
    /// have an application that has not begun; one at least.
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
            // The larger of the floor and an equal part, and all of it at most.
            let parts = [all.share(weight, users), all.percent(rules.floor).times(weight), all];
            let [equal, floor, all] =
                parts.map(|part| rounded(rules, resource, part.times(factor)));
            equal.max(floor).min(all)
        });
        match rules.formula {
            // 2.7.3 does not look at the queue's.
            Formula::Yarn27 => own,
            Formula::Yarn3 => ops.smaller(&own, of_queue),
            // A type of which nothing is guaranteed is not split.
            Formula::Smooth => {
                let split = |(resource, _): &(ResourceType, Quantity)| {
                    leaf.guaranteed.get_or_zero(*resource) > Quantity::ZERO
                };
                let own: Resources = own.iter().filter(split).collect();
                own.minimum(of_queue)
            }
        }
    }

    /// Whether one more driver is within a limit of which this much is used: one that needs something
    /// of which the limit says nothing is not.
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

/// How many of a leaf's `max` applications one user may have where nothing else is configured. It
/// is the floor of the user's share of them, times the factor. Without a floor, or a factor, any of
/// them.
pub fn max_applications(max: u64, floor: Decimal, factor: Option<Decimal>) -> u64 {
    let Some(factor) = factor.filter(|_| floor > Decimal::ZERO) else { return max };
    let all = Fraction::of(i64::try_from(max).unwrap_or(i64::MAX));
    let part = all.percent(floor).times(factor).floor();
    u64::try_from(part).unwrap_or(0).min(max)
}

/// Up to a whole unit and the next step; with the memory calculator of CapacityScheduler to the
/// nearest unit first.
fn rounded(rules: &Rules, resource: ResourceType, part: Fraction) -> i64 {
    let is_as_yarn = rules.formula != Formula::Smooth;
    let unit = if is_as_yarn && rules.calculator == Calculator::Memory {
        part.nearest()
    } else {
        part.ceil()
    };
    up(unit, rules.step.get_or_zero(resource).get())
}
