//! Settings of a queue for its users and for preemption, in one word each.

use crate::config::{
    ApplicationLimitsConfig, QueuePreemptionConfig, UserFactor, UserLimitsConfig, WithinQueue,
};
use crate::name::Name;
use crate::resource::{Amounts, Quantity};
use crate::time::Millis;
use crate::userlimit::{Calculator, Decimal, Enforcement, Formula};

/// Reads `max=4;per-user=2;parallel=3;parallel-per-user=1;driver=0.1;ann=5`. The last number has the meaning of
/// `parallel-per-user` for one user.
pub(super) fn counts(numbers: &str) -> ApplicationLimitsConfig {
    let mut limits = ApplicationLimitsConfig::default();
    for number in numbers.split(';') {
        let (key, value) = number.split_once('=').expect("key=value");
        let count = |value: &str| value.parse().expect("a number");
        match key {
            "max" => limits.max = Some(count(value)),
            "per-user" => limits.max_per_user = Some(count(value)),
            "each" => limits.max_per_queue = Some(count(value)),
            "parallel" => limits.max_parallel = Some(count(value)),
            "parallel-per-user" => limits.max_parallel_per_user = Some(count(value)),
            "driver" => limits.driver = Some(Decimal::parse(value).expect("a decimal")),
            user => limits.max_parallel_by_user.push((Name::new(user), count(value))),
        }
    }
    limits
}

/// Reads `smooth;strict;dominant;p=30;f=2.5;min=1;ann=1.5`: formula, enforcement, calculator, percentage, factor,
/// minimum allocation in cores, and the weights of users. Each part is optional.
pub(super) fn share(rules: &str) -> UserLimitsConfig {
    let mut limits = UserLimitsConfig::default();
    let decimal = |text: &str| Decimal::parse(text).expect("a decimal");
    for rule in rules.split(';') {
        match rule {
            "yarn27" => limits.formula = Some(Formula::Yarn27),
            "yarn3" => limits.formula = Some(Formula::Yarn3),
            "smooth" => limits.formula = Some(Formula::Smooth),
            "progress" => limits.enforcement = Some(Enforcement::Progress),
            "strict" => limits.enforcement = Some(Enforcement::Strict),
            "overshoot" => limits.enforcement = Some(Enforcement::Overshoot),
            "dominant" => limits.calculator = Some(Calculator::Dominant),
            "memory" => limits.calculator = Some(Calculator::Memory),
            "f=off" => limits.factor = Some(UserFactor::Off),
            _ => match rule.split_once('=').expect("name=decimal") {
                ("p", floor) => limits.floor = Some(decimal(floor)),
                ("min", cores) => {
                    let least = Quantity::parse("vcore", cores).expect("an amount");
                    limits.minimum_allocation = Some(Amounts::from([("vcore", least.get())]));
                }
                ("f", factor) => limits.factor = Some(UserFactor::Times(decimal(factor))),
                (user, weight) => limits.weights.push((Name::new(user), decimal(weight))),
            },
        }
    }
    limits.weights.sort();
    limits
}

/// Reads `balance;disabled;within=no`. With `=no`, a switch has the opposite value. Also reads `priority` within the
/// queue, and `spare=60` for the minimum run time in seconds.
pub(super) fn preempt(switches: &str) -> QueuePreemptionConfig {
    let mut all = QueuePreemptionConfig::default();
    for switch in switches.split(';') {
        let (name, on) = match switch.split_once('=') {
            Some((name, "no")) => (name, false),
            Some(("spare", seconds)) => {
                let seconds = seconds.parse().expect("whole seconds");
                all.min_runtime = Some(Millis::from_secs(seconds));
                continue;
            }
            None => (switch, true),
            Some(_) => panic!("nobody understands `{switch}`"),
        };
        match name {
            "disabled" => all.disabled = Some(on),
            "within" => all.intra_queue_disabled = Some(!on),
            "balance" => all.balance = Some(on),
            "priority" => {
                all.within_queue = Some(if on { WithinQueue::Priority } else { WithinQueue::None });
            }
            other => panic!("{other} is no switch of preemption"),
        }
    }
    all
}
