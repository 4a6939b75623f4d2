//! The three formulas. `yarn27` and `yarn3` return the same numbers as CapacityScheduler.

use crate::resource::{Quantity, ResourceType, Resources};

use super::calculator::Ops;
use super::decimal::{Decimal, Fraction, down, percent_up, saturate, share_up, times_down, up};
use super::{Among, Leaf, Limit, LimitDerivation, Rules, ShareQuery};

fn step_of(rules: &Rules, resource: ResourceType) -> i64 {
    rules.step.get_or_zero(resource).get()
}

/// Rounds all types up to multiples of the step.
fn rounded_up(ops: Ops<'_>, rules: &Rules, of: &Resources) -> Resources {
    ops.map(of, |resource, amount| up(amount, step_of(rules, resource)))
}

fn rounded_down(ops: Ops<'_>, rules: &Rules, of: &Resources) -> Resources {
    ops.map(of, |resource, amount| down(amount, step_of(rules, resource)))
}

/// Returns a percentage with the rounding of CapacityScheduler: ⌈⌊C × p⌋ / 100⌉.
fn floor_part(ops: Ops<'_>, of: &Resources, percent: Decimal) -> Resources {
    ops.map(of, |_, amount| {
        let hundredfold = Fraction::of(amount).times(percent).floor();
        Fraction::of(hundredfold).percent(Decimal::ONE).ceil()
    })
}

/// CapacityScheduler 2.7.3, `LeafQueue.computeUserLimit`: `up(min(max(⌈C / n⌉, ⌈⌊C × p⌋ / 100⌉), ⌊q × f⌋))` with `q` =
/// max(Q, ask). `C` is `q` if the usage is less than that, and otherwise the usage plus the ask.
pub(super) fn yarn27(rules: &Rules, leaf: &Leaf, part: ShareQuery<'_>) -> LimitDerivation {
    let ops = rules.ops(leaf);
    let queue = ops.larger(&leaf.guaranteed, part.ask);
    let beyond = ops.sum(&leaf.used, part.ask);
    let split = ops.below_or_else(&leaf.used, &queue, &queue, &beyond);
    // Without active users, only the floor counts.
    let users = i64::try_from(leaf.active).unwrap_or(i64::MAX);
    let equal = ops.map(&split, |_, amount| {
        if users == 0 { 0 } else { (amount / users) + i64::from(amount % users > 0) }
    });
    let floor = floor_part(ops, &split, rules.floor);
    let share = ops.larger(&equal, &floor);
    let cap = rules
        .factor
        .map(|factor| ops.map(&queue, |_, amount| Fraction::of(amount).times(factor).floor()));
    let limit = limits(ops, rules, &share, cap.as_ref(), |of| of);
    LimitDerivation {
        capacity: queue,
        consumed: None,
        base: split.clone(),
        whole: split,
        equal,
        floor,
        cap,
        limit,
    }
}

/// CapacityScheduler 3, `UsersManager.computeUserLimit`.
pub(super) fn yarn3(rules: &Rules, leaf: &Leaf, part: ShareQuery<'_>) -> LimitDerivation {
    let ops = rules.ops(leaf);
    let queue = ops.larger(&leaf.guaranteed, &rules.step);
    let consumed = consumed(ops, rules, leaf);
    let beyond = ops.sum(&consumed, &rules.step);
    let split = ops.below_or_else(&consumed, &queue, &queue, &beyond);
    let (base, weights) = match part.among {
        Among::Active => (ops.sum(&leaf.used_active, &rules.step), leaf.active_weight),
        Among::All(weights) => (split.clone(), weights),
    };
    let equal =
        ops.map(&base, |_, amount| Fraction::of(amount).share(Decimal::ONE, weights).ceil());
    let floor = floor_part(ops, &split, rules.floor);
    let share = ops.larger(&equal, &floor);
    let cap = match rules.factor {
        Some(factor) if !leaf.guaranteed.is_zero() => {
            ops.map(&queue, |_, amount| Fraction::of(amount).times(factor).floor())
        }
        _ => rounded_down(ops, rules, &leaf.max),
    };
    // The weight is applied last, even to the cap.
    let limit = limits(ops, rules, &share, Some(&cap), |of| {
        let weighed = ops.map(&of, |_, amount| Fraction::of(amount).times(part.weight).floor());
        rounded_down(ops, rules, &weighed)
    });
    let (consumed, cap) = (Some(consumed), Some(cap));
    LimitDerivation { capacity: queue, consumed, base, whole: split, equal, floor, cap, limit }
}

/// Returns the lower of a share and a cap, rounded up, after the final adjustment.
fn limits(
    ops: Ops<'_>,
    rules: &Rules,
    share: &Resources,
    cap: Option<&Resources>,
    last: impl Fn(Resources) -> Resources,
) -> Limit {
    let lower = cap.map_or_else(|| share.clone(), |cap| ops.smaller(share, cap));
    let whole = |of: &Resources| last(rounded_up(ops, rules, of));
    Limit { soft: whole(share), hard: cap.map_or_else(Resources::new, whole), limit: whole(&lower) }
}

/// Returns the fraction of the cluster, in each type, that is the sum of the dominant shares of all users.
fn consumed(ops: Ops<'_>, rules: &Rules, leaf: &Leaf) -> Resources {
    ops.map(&leaf.total, |resource, total| {
        let (mut whole, mut rest) = (0_i128, 0_i128);
        let section = ops.section(resource);
        let same_section = leaf.dominant.iter().filter(|(one, _)| ops.section(*one) == section);
        for (dominant, amount) in same_section {
            let of = i128::from(leaf.total.get_or_zero(dominant).get());
            if of > 0 {
                let product = i128::from(amount.get()) * i128::from(total);
                whole += product.div_euclid(of);
                // 63 fractional bits: the error is far less than one unit.
                rest += (product.rem_euclid(of) << 63) / of;
            }
        }
        let (carried, is_more) = (rest >> 63, rest & ((1 << 63) - 1) != 0);
        up(saturate(whole + carried + i128::from(is_more)), step_of(rules, resource))
    })
}

/// Formula of Headroom. Every value is by type. A type without a guarantee is neither split nor limited by the factor.
pub(super) fn smooth(rules: &Rules, leaf: &Leaf, part: ShareQuery<'_>) -> Limit {
    let split = Smooth::new(rules, leaf, part);
    let soft = split.ops.map(&leaf.guaranteed, |resource, amount| split.soft(resource, amount));
    let hard = smooth_cap(rules, leaf, part.weight, part.ask);
    let limit = soft.minimum(&hard);
    Limit { soft, hard, limit }
}

/// Returns the share of one type that counts. `None` without a guarantee.
pub(super) fn smooth_share(
    rules: &Rules,
    leaf: &Leaf,
    part: ShareQuery<'_>,
    resource: ResourceType,
) -> Option<i64> {
    let guaranteed = leaf.guaranteed.get(resource)?.get();
    Some(Smooth::new(rules, leaf, part).soft(resource, guaranteed))
}

/// Returns the cap of one type that counts. `None` if it is not limited.
pub(super) fn smooth_cap_of(
    rules: &Rules,
    leaf: &Leaf,
    weight: Decimal,
    (resource, asked): (ResourceType, Quantity),
) -> Option<Quantity> {
    let max = leaf.max.get(resource);
    let guaranteed = leaf.guaranteed.get_or_zero(resource);
    let Some(factor) = rules.factor.filter(|_| guaranteed > Quantity::ZERO) else { return max };
    let cap = Quantity::of(times_down(guaranteed.max(asked).get(), factor, weight));
    Some(max.map_or(cap, |max| cap.min(max)))
}

/// Returns the limit with all intermediate values.
pub(super) fn smooth_worked(rules: &Rules, leaf: &Leaf, part: ShareQuery<'_>) -> LimitDerivation {
    let split = Smooth::new(rules, leaf, part);
    let each = |value: fn(Shares) -> i64| {
        split.ops.map(&leaf.guaranteed, |resource, amount| value(split.shares(resource, amount)))
    };
    let mut cap = rules.factor.map(|_| Resources::new());
    for (resource, most) in factor_caps(rules, leaf, part.weight, part.ask) {
        if let Some(cap) = &mut cap {
            cap.set(resource, most);
        }
    }
    LimitDerivation {
        capacity: split.ops.map(&leaf.guaranteed, |resource, amount| {
            amount.max(part.ask.get_or_zero(resource).get())
        }),
        consumed: None,
        base: each(|of| of.base),
        whole: each(|of| of.whole),
        equal: each(|of| of.equal),
        floor: each(|of| of.floor),
        cap,
        limit: smooth(rules, leaf, part),
    }
}

/// Returns a lower bound of the share of an active user with weight 1. It is valid while the active users and the usage
/// of inactive users do not change.
pub(super) fn smooth_least_share(rules: &Rules, leaf: &Leaf) -> Resources {
    let (ask, weight) = (&Resources::new(), Decimal::ONE);
    let split = Smooth::new(rules, leaf, ShareQuery { weight, among: Among::Active, ask });
    split.ops.map(&leaf.guaranteed, |resource, guaranteed| {
        let left = split.left(resource, guaranteed);
        split.rounded(resource, split.equal(left), split.floor(guaranteed))
    })
}

/// Returns a lower bound of the cap of a user with weight 1.
pub(super) fn smooth_least_cap(rules: &Rules, leaf: &Leaf) -> Resources {
    smooth_cap(rules, leaf, Decimal::ONE, &Resources::new())
}

/// Inputs of a share of `smooth`.
struct Smooth<'a> {
    rules: &'a Rules,
    leaf: &'a Leaf,
    part: ShareQuery<'a>,
    ops: Ops<'a>,
    /// Sum of the weights of the users who split.
    among: Decimal,
}

/// Intermediate values of one type.
struct Shares {
    base: i64,
    whole: i64,
    equal: i64,
    floor: i64,
}

impl<'a> Smooth<'a> {
    fn new(rules: &'a Rules, leaf: &'a Leaf, part: ShareQuery<'a>) -> Self {
        let among = match part.among {
            // Without active users, only this user counts.
            Among::Active if leaf.active == 0 => part.weight,
            Among::Active => leaf.active_weight,
            Among::All(weights) => weights,
        };
        Self { rules, leaf, part, ops: rules.ops(leaf), among }
    }

    fn shares(&self, resource: ResourceType, guaranteed: i64) -> Shares {
        let amount = |of: &Resources| of.get_or_zero(resource);
        let ask = amount(self.part.ask);
        let plus = |used: &Resources| amount(used).plus(ask).get();
        let whole = guaranteed.max(plus(&self.leaf.used));
        let base = match self.part.among {
            Among::Active => self.left(resource, guaranteed).max(plus(&self.leaf.used_active)),
            Among::All(_) => whole,
        };
        Shares { base, whole, equal: self.equal(base), floor: self.floor(whole) }
    }

    /// Returns the guarantee minus the usage of inactive users.
    fn left(&self, resource: ResourceType, guaranteed: i64) -> i64 {
        let amount = |of: &Resources| of.get_or_zero(resource);
        let used_inactive = amount(&self.leaf.used).minus(amount(&self.leaf.used_active));
        Quantity::of(guaranteed).minus(used_inactive).get()
    }

    fn equal(&self, base: i64) -> i64 {
        share_up(base, self.part.weight, self.among)
    }

    fn floor(&self, whole: i64) -> i64 {
        percent_up(whole, self.rules.floor, self.part.weight)
    }

    fn rounded(&self, resource: ResourceType, equal: i64, floor: i64) -> i64 {
        up(equal.max(floor), step_of(self.rules, resource))
    }

    fn soft(&self, resource: ResourceType, guaranteed: i64) -> i64 {
        let Shares { equal, floor, .. } = self.shares(resource, guaranteed);
        self.rounded(resource, equal, floor)
    }
}

/// Returns the cap by type: the maximum of the queue, and the factor times the guarantee or the ask, whichever is
/// larger.
pub(super) fn smooth_cap(
    rules: &Rules,
    leaf: &Leaf,
    weight: Decimal,
    ask: &Resources,
) -> Resources {
    let mut hard = rules.ops(leaf).map(&leaf.max, |_, max| max);
    for (resource, cap) in factor_caps(rules, leaf, weight, ask) {
        let max = leaf.max.get(resource);
        hard.set(resource, max.map_or(cap, |max| cap.min(max)));
    }
    hard
}

/// Returns the caps by the factor, in the types with a guarantee. Empty without a factor.
fn factor_caps<'a>(
    rules: &'a Rules,
    leaf: &'a Leaf,
    weight: Decimal,
    ask: &'a Resources,
) -> impl Iterator<Item = (ResourceType, Quantity)> {
    let ops = rules.ops(leaf);
    rules.factor.into_iter().flat_map(move |factor| {
        let some = leaf.guaranteed.iter();
        let some = some
            .filter(move |(resource, amount)| ops.counts(*resource) && *amount > Quantity::ZERO);
        some.map(move |(resource, guaranteed)| {
            let queue = guaranteed.max(ask.get_or_zero(resource));
            (resource, Quantity::of(times_down(queue.get(), factor, weight)))
        })
    })
}
