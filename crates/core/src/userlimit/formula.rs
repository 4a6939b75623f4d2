//! The three formulas. `yarn27` and `yarn3` give the numbers of the real CapacityScheduler.

use crate::resource::{Quantity, ResourceType, Resources};

use super::calculator::Ops;
use super::decimal::{Decimal, Fraction, down, saturate, up};
use super::{Among, Leaf, Limit, Part, Rules};

fn step_of(rules: &Rules, resource: ResourceType) -> i64 {
    rules.step.get_or_zero(resource).get()
}

/// All types raised to multiples of the step.
fn rounded_up(ops: Ops<'_>, rules: &Rules, of: &Resources) -> Resources {
    ops.map(of, |resource, amount| up(amount, step_of(rules, resource)))
}

fn rounded_down(ops: Ops<'_>, rules: &Rules, of: &Resources) -> Resources {
    ops.map(of, |resource, amount| down(amount, step_of(rules, resource)))
}

/// So many percent, down to a whole percent part as CapacityScheduler does: ⌈⌊C × p⌋ / 100⌉.
fn floor_part(ops: Ops<'_>, of: &Resources, percent: Decimal) -> Resources {
    ops.map(of, |_, amount| {
        let hundredfold = Fraction::of(amount).times(percent).floor();
        Fraction::of(hundredfold).percent(Decimal::ONE).ceil()
    })
}

/// CapacityScheduler 2.7.3, `LeafQueue.computeUserLimit`:
/// `up(min(max(⌈C / n⌉, ⌈⌊C × p⌋ / 100⌉), ⌊q × f⌋))`, `q` = max(Q, ask), `C` = `q` below it, what is used
/// and the ask else.
pub(super) fn yarn27(rules: &Rules, leaf: &Leaf, part: Part<'_>) -> Limit {
    let ops = rules.ops(leaf);
    let queue = ops.larger(&leaf.guaranteed, part.ask);
    let beyond = ops.sum(&leaf.used, part.ask);
    let split = ops.below_or_else(&leaf.used, &queue, &queue, &beyond);
    // With nobody active only the floor counts.
    let users = i64::try_from(leaf.active).unwrap_or(i64::MAX);
    let equal = ops.map(&split, |_, amount| {
        if users == 0 { 0 } else { (amount / users) + i64::from(amount % users > 0) }
    });
    let share = ops.larger(&equal, &floor_part(ops, &split, rules.floor));
    let cap = rules
        .factor
        .map(|factor| ops.map(&queue, |_, amount| Fraction::of(amount).times(factor).floor()));
    limits(ops, rules, &share, cap.as_ref(), |of| of)
}

/// CapacityScheduler 3, `UsersManager.computeUserLimit`.
pub(super) fn yarn3(rules: &Rules, leaf: &Leaf, part: Part<'_>) -> Limit {
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
    let share = ops.larger(&equal, &floor_part(ops, &split, rules.floor));
    let cap = match rules.factor {
        Some(factor) if !leaf.guaranteed.is_zero() => {
            ops.map(&queue, |_, amount| Fraction::of(amount).times(factor).floor())
        }
        _ => rounded_down(ops, rules, &leaf.max),
    };
    // The weight comes last, above the cap, too.
    limits(ops, rules, &share, Some(&cap), |of| {
        let weighed = ops.map(&of, |_, amount| Fraction::of(amount).times(part.weight).floor());
        rounded_down(ops, rules, &weighed)
    })
}

/// The lower of a share and a cap, rounded up, and what is done with it in the end.
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

/// As much of the cluster, in each type, as the dominant shares of all users are together.
fn consumed(ops: Ops<'_>, rules: &Rules, leaf: &Leaf) -> Resources {
    ops.map(&leaf.total, |resource, total| {
        let (mut whole, mut rest) = (0_i128, 0_i128);
        for (dominant, amount) in leaf.dominant.iter() {
            let of = i128::from(leaf.total.get_or_zero(dominant).get());
            if of > 0 {
                let product = i128::from(amount.get()) * i128::from(total);
                whole += product.div_euclid(of);
                // 63 bits behind the point: what is lost is far less than one unit.
                rest += (product.rem_euclid(of) << 63) / of;
            }
        }
        let (carried, is_more) = (rest >> 63, rest & ((1 << 63) - 1) != 0);
        up(saturate(whole + carried + i128::from(is_more)), step_of(rules, resource))
    })
}

/// Ours. All is said type by type; a type of which nothing is guaranteed is neither split nor
/// capped by the factor.
pub(super) fn smooth(rules: &Rules, leaf: &Leaf, part: Part<'_>) -> Limit {
    let ops = rules.ops(leaf);
    let amount = |of: &Resources, resource: ResourceType| of.get_or_zero(resource).get();
    let (among, is_alone) = match part.among {
        Among::Active => (leaf.active_weight, leaf.active == 0),
        Among::All(weights) => (weights, false),
    };
    // Nobody is active: as if he alone were.
    let among = if is_alone { part.weight } else { among };
    let used_inactive = leaf.used.minus(&leaf.used_active);
    let soft = ops.map(&leaf.guaranteed, |resource, guaranteed| {
        let ask = amount(part.ask, resource);
        let plus =
            |used: &Resources| Quantity::of(amount(used, resource)).plus(Quantity::of(ask)).get();
        let left = Quantity::of(guaranteed).minus(used_inactive.get_or_zero(resource)).get();
        let split = match part.among {
            Among::Active => left.max(plus(&leaf.used_active)),
            Among::All(_) => guaranteed.max(plus(&leaf.used)),
        };
        let all = guaranteed.max(plus(&leaf.used));
        let share = Fraction::of(split).share(part.weight, among).ceil();
        let floor = Fraction::of(all).percent(rules.floor).times(part.weight).ceil();
        up(share.max(floor), step_of(rules, resource))
    });
    let hard = smooth_cap(rules, leaf, part.weight, part.ask);
    let limit = soft.minimum(&hard);
    Limit { soft, hard, limit }
}

/// Never more than that, by type: the queue's maximum, and so many times its guarantee, or the ask
/// where that is more.
pub(super) fn smooth_cap(
    rules: &Rules,
    leaf: &Leaf,
    weight: Decimal,
    ask: &Resources,
) -> Resources {
    let ops = rules.ops(leaf);
    let mut hard = ops.map(&leaf.max, |_, max| max);
    let Some(factor) = rules.factor else { return hard };
    let guaranteed = leaf
        .guaranteed
        .iter()
        .filter(|(resource, amount)| ops.counts(*resource) && *amount > Quantity::ZERO);
    for (resource, guaranteed) in guaranteed {
        let queue = guaranteed.max(ask.get_or_zero(resource));
        let cap = Fraction::of(queue.get()).times(factor).times(weight).floor();
        let max = leaf.max.get(resource).map_or(i64::MAX, Quantity::get);
        hard.set(resource, Quantity::of(cap.min(max)));
    }
    hard
}
