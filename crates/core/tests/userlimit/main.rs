//! User limits as numbers: the worked examples of the specification by their ids, the tables of its
//! scenes, and what holds for all numbers.

mod admission;
mod closed_forms;
mod driver;
mod headroom;
mod headroom_by_formula;
mod no_dead_zone;
mod properties;
mod scenes;
mod smooth;
mod worked;
mod yarn27;
mod yarn3;

use headroom_core::resource::{Quantity, ResourceType, Resources};
use headroom_core::userlimit::{
    Among, Calculator, Decimal, Formula, Leaf, Limit, Rules, ShareQuery,
};

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).expect("a test writes decimals")
}

/// Memory and nothing else.
fn memory(amount: i64) -> Resources {
    vector(&[amount])
}

/// Memory, cores, and others.
fn vector(amounts: &[i64]) -> Resources {
    let mut resources = Resources::new();
    let types = ResourceType::MEMORY.lane()..;
    for (lane, amount) in types.zip(amounts) {
        resources.set(kind(lane), Quantity::of(*amount));
    }
    resources
}

/// The types that every partition knows, and one more.
fn kind(lane: usize) -> ResourceType {
    let some = headroom_core::testkit::vector([(lane, 1)]);
    some.iter().next().expect("it has one").0
}

/// The amount of memory.
fn in_memory(of: &Resources) -> i64 {
    of.get_or_zero(ResourceType::MEMORY).get()
}

/// Rules with a formula of YARN as its users know it: memory counts, one may be passed by one.
fn yarn(formula: Formula, floor: &str, factor: Option<&str>) -> Rules {
    Rules {
        formula,
        calculator: Calculator::Memory,
        floor: decimal(floor),
        factor: factor.map(decimal),
        step: memory(1),
        ..Rules::default()
    }
}

/// Ours, in units of one.
fn smooth(floor: &str, factor: Option<&str>) -> Rules {
    Rules { calculator: Calculator::default(), ..yarn(Formula::Smooth, floor, factor) }
}

/// A leaf of a partition of 100, all of which is used by so many equal users who are active.
fn leaf(guaranteed: i64, used: i64, active: u64) -> Leaf {
    Leaf {
        total: memory(100),
        guaranteed: memory(guaranteed),
        max: memory(100),
        used: memory(used),
        used_active: memory(used),
        active,
        active_weight: Decimal::whole(u32::try_from(active).expect("few")),
        dominant: memory(used),
        sections: None,
    }
}

/// The limit of a user of weight one, in memory, where the next ask is as large as that.
fn limit(rules: &Rules, leaf: &Leaf, ask: i64) -> i64 {
    in_memory(&limits(rules, leaf, Decimal::ONE, ask).limit)
}

fn limits(rules: &Rules, leaf: &Leaf, weight: Decimal, ask: i64) -> Limit {
    let ask = memory(ask);
    rules.limit(leaf, ShareQuery { weight, among: Among::Active, ask: &ask })
}
