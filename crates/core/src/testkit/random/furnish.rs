//! Settings of a queue of a random file, in addition to its name and its children.

use alloc::vec;
use alloc::vec::Vec;

use crate::config::{
    ApplicationLimitsConfig, LifetimesConfig, NodeLabelsConfig, QueueConfig, QueuePreemptionConfig,
    QueueStart, UserFactor, UserLimitsConfig, WithinQueue,
};
use crate::name::Name;
use crate::resource::Quantity;
use crate::testkit::{amounts, limit};
use crate::time::Millis;
use crate::userlimit::{Calculator, Decimal, Enforcement, Formula};

/// Adds random limits, properties, and other settings to a queue.
pub(super) fn furnish(mut queue: QueueConfig, dice: &mut impl Iterator<Item = u8>) -> QueueConfig {
    let mut die = || dice.next().unwrap_or_default();
    let bound = die();
    if bound % 3 == 0 {
        queue.max = amounts([("vcore", i64::from(bound % 12)), ("memory", i64::from(bound % 20))]);
    } else if bound % 7 == 1 {
        queue.max = amounts([("gpu", 0), ("vcore", 9)]);
    }
    if die() % 3 > 0 {
        queue.guaranteed = amounts([("vcore", i64::from(die() % 8))]);
    }
    for (key, value) in match die() % 12 {
        0 => [("preemption.policy", "fence"), ("preemption.delay", "1s")],
        1 => [("preemption.policy", "disabled"), ("quota.preemption.delay", "2s")],
        2 => [("priority.policy", "fence"), ("priority.offset", "1")],
        3 => [("priority.offset", "-1"), ("preemption.delay", "5s")],
        4..8 => [("preemption.delay", "10s"), ("quota.preemption.delay", "1s")],
        _ => [("quota.preemption.delay", "5s"), ("preemption.delay", "40s")],
    } {
        queue.properties.insert(Name::new(key), Name::new(value));
    }
    if die() % 4 == 0 {
        queue.max_applications = u64::from(die() % 3 + 1);
    }
    let limits = die();
    if limits % 2 == 0 {
        let max = amounts([("vcore", i64::from(limits % 8) + 1)]);
        queue.limits.push(limit(&["ann"], &["dev"], max, u64::from(limits % 3)));
    }
    if limits % 5 < 2 {
        let max = amounts([("memory", i64::from(limits % 16) + 2)]);
        queue.limits.push(limit(&["*"], &["ops"], max, u64::from(limits % 4)));
    }
    if limits % 5 == 3 {
        let max = amounts([("vcore", 7)]);
        queue.limits.push(limit(&[], &["qa"], max.clone(), 2));
        queue.limits.push(limit(&[], &["*"], max, 1));
    }
    for (key, value, odds) in [
        ("application.sort.policy", "fair", 12),
        ("application.sort.priority", "disabled", 4),
        ("priority.offset", "2", 5),
        ("priority.policy", "fence", 6),
        ("application.unschedasks.backoff", "2", 7),
        ("application.unschedasks.backoff.delay", "5s", 3),
    ] {
        if die() % odds == 0 {
            queue.properties.insert(Name::new(key), Name::new(value));
        }
    }
    derive_from(&mut queue, bound, limits);
    queue
}

/// Adds settings that are derived from earlier numbers. No additional numbers are drawn, so that files without these
/// settings do not change.
fn derive_from(queue: &mut QueueConfig, bound: u8, limits: u8) {
    if limits % 7 == 3 {
        let mut state = u32::from(limits) << 8 | u32::from(bound);
        queue.user_limits = Some(share(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        }));
    }
    if queue.user_limits.is_some() && !limits.is_multiple_of(3) {
        // A short delay, so that users of a leaf preempt each other before their asks are placed otherwise.
        queue.properties.insert(Name::new("preemption.delay"), Name::new("1s"));
    }
    queue.preemption = preemption(bound ^ limits.rotate_left(3));
    queue.application_limits = (limits % 13 == 4).then(|| counts(bound, limits));
    queue.start = (bound % 47 == 6).then_some(QueueStart::Stopped);
    if limits % 17 == 6 {
        let (gpu, default) = (Name::new("gpu"), bound.is_multiple_of(2).then(|| Name::new("gpu")));
        queue.node_labels = Some(NodeLabelsConfig {
            accessible: Some(vec![gpu]),
            default,
            exclusive: Vec::new(),
            lends: Vec::new(),
        });
    }
    if limits % 11 == 5 {
        queue.lifetimes = lifetimes(bound);
    }
    for (key, value) in line(bound, limits) {
        queue.properties.insert(Name::new(key), Name::new(value));
    }
}

/// Returns the properties of a head-of-line policy, with limits that are soon reached. Mostly none.
fn line(bound: u8, limits: u8) -> impl Iterator<Item = (&'static str, &'static str)> {
    let policy = match limits % 10 {
        1 => Some("fifo-strict"),
        3 => Some("fifo-backfill"),
        7 => Some("priority"),
        9 if bound.is_multiple_of(2) => Some("urgency"),
        _ => None,
    };
    let often = ["0", "1", "2", "5"][usize::from(bound % 4)];
    let values = [
        ("application.sort.policy", policy),
        ("application.sort.aging.interval", Some("3s")),
        ("application.sort.aging.max", Some(["2", "4"][usize::from(bound % 2)])),
        ("application.sort.maxovertakes", Some(often)),
        ("application.sort.maxheadwait", Some("45s").filter(|_| !bound.is_multiple_of(3))),
    ];
    let properties = values.into_iter().filter_map(|(key, value)| Some((key, value?)));
    properties.filter(move |_| policy.is_some())
}

/// Returns the preemption settings of a queue. Most of them are not set.
fn preemption(switch: u8) -> QueuePreemptionConfig {
    QueuePreemptionConfig {
        disabled: (switch % 19 == 5).then_some(!switch.is_multiple_of(5)),
        intra_queue_disabled: (switch % 7 == 4).then_some(!switch.is_multiple_of(4)),
        balance: (switch % 5 == 1).then_some(!switch.is_multiple_of(3)),
        within_queue: (switch % 4 == 2).then_some(if switch.is_multiple_of(11) {
            WithinQueue::None
        } else {
            WithinQueue::Priority
        }),
        min_runtime: (switch % 13 == 3).then_some(Millis::from_secs(u64::from(switch % 3) * 20)),
    }
}

/// Returns the lifetimes of applications, zero included.
fn lifetimes(die: u8) -> LifetimesConfig {
    let span = |die: u8| Some(Millis::from_secs(u64::from(die % 4) * 20));
    LifetimesConfig {
        maximum: span(die).filter(|_| !die.is_multiple_of(5)),
        default: span(die / 4).filter(|_| !die.is_multiple_of(3)),
    }
}

/// Returns the limits of the number of applications of a queue and of their drivers.
fn counts(bound: u8, limits: u8) -> ApplicationLimitsConfig {
    let of = |die: u8| (!die.is_multiple_of(3)).then_some(u64::from(die / 16 % 4) + 1);
    let driver = Decimal::parse(["0", "0.1", "0.5", "1"][usize::from(limits / 16 % 4)]);
    ApplicationLimitsConfig {
        max: of(bound).map(|max| max + 2),
        max_per_user: of(limits),
        max_parallel: of(bound.wrapping_mul(7)),
        max_parallel_per_user: of(limits.wrapping_mul(11)),
        max_parallel_by_user: vec![(Name::new("bob"), 2)],
        driver: driver.filter(|_| !limits.is_multiple_of(4)),
        max_per_queue: None,
    }
}

/// Returns random rules for users that share a queue.
fn share(mut die: impl FnMut() -> u8) -> UserLimitsConfig {
    let some = |die: u8| !die.is_multiple_of(3);
    let (floor, factor) = (die(), die());
    let weights = if die().is_multiple_of(3) {
        vec![(Name::new("ann"), Decimal::whole(2)), (Name::new("cid"), Decimal::whole(0))]
    } else {
        Vec::new()
    };
    UserLimitsConfig {
        formula: Some(match die() % 5 {
            0 => Formula::Yarn27,
            1 => Formula::Yarn3,
            _ => Formula::Smooth,
        }),
        enforcement: Some(match die() % 6 {
            0 => Enforcement::Strict,
            1 => Enforcement::Overshoot,
            _ => Enforcement::Progress,
        }),
        calculator: Some(match die() % 6 {
            0 => Calculator::Dominant,
            1 => Calculator::Memory,
            _ => Calculator::Componentwise,
        }),
        floor: some(floor).then(|| Decimal::whole(u32::from(floor % 51))),
        factor: some(factor).then(|| match factor % 4 {
            0 => UserFactor::Off,
            times => UserFactor::Times(Decimal::whole(u32::from(times))),
        }),
        weights,
        minimum_allocation: die().is_multiple_of(4).then(|| amounts([("vcore", 1), ("memory", 2)])),
        increment: die().is_multiple_of(5).then(|| amounts([("vcore", 2)])),
        maximum_allocation: die().is_multiple_of(4).then(|| amounts([("vcore", 2), ("gpu", 2)])),
    }
}

/// Makes a leaf request nodes of a label with a guarantee for their types, so that it can reclaim lent nodes.
pub(super) fn call_back(leaf: &mut QueueConfig) {
    for name in ["vcore@gpu", "memory@gpu"] {
        leaf.guaranteed.set(Name::new(name), Quantity::of(6));
    }
    leaf.properties.insert(Name::new("preemption.delay"), Name::new("1s"));
    let gpu = Name::new("gpu");
    let labels = leaf.node_labels.get_or_insert_default();
    (labels.accessible, labels.default) = (Some(vec![gpu.clone()]), Some(gpu));
}
