//! How the formulas differ in what they report as headroom.

use headroom_core::id::{Id, QueueId, Slot};
use headroom_core::resource::Resources;
use headroom_core::userlimit::{Bound, Calculator, Formula, Leaf, Limit, Remaining, Rules};

use super::{leaf, memory, smooth, vector, yarn};

/// For a user who may have `limit` and uses `used`, in a queue that may have `queue`, where so much is
/// free.
fn headroom(rules: &Rules, leaf: &Leaf, of: [&Resources; 4]) -> Resources {
    let [limit, used, queue, free] = of;
    let limit = Limit { soft: limit.clone(), hard: Resources::new(), limit: limit.clone() };
    let queues = QueueId::from_slot(Slot::new(0, 0));
    let left =
        queue.iter().map(|(resource, all)| (resource, all.minus(leaf.used.get_or_zero(resource))));
    let others = [Remaining { bound: Bound::QueueMax(queues), left: left.collect() }];
    rules.headroom(leaf, (&limit, used), &others, free).amounts
}

fn all() -> [Rules; 3] {
    let [old, new] =
        [Formula::Yarn27, Formula::Yarn3].map(|formula| yarn(formula, "100", Some("1")));
    [old, new, smooth("100", Some("1"))]
}

#[test]
fn the_formulas_differ_in_what_is_free_and_in_what_is_negative() {
    // A user above the limit in cores. Memory is free, and no cores are.
    let total = vector(&[1_000, 100]);
    let leaf = Leaf { used: vector(&[300, 60]), total: total.clone(), ..leaf(0, 0, 1) };
    let of = [vector(&[400, 40]), vector(&[300, 60]), total, vector(&[700, 10])];
    let got = all().map(|rules| {
        let calculator = match rules.formula {
            Formula::Smooth => Calculator::Componentwise,
            _ => Calculator::Dominant,
        };
        let rules = Rules { calculator, step: vector(&[1, 1]), ..rules };
        headroom(&rules, &leaf, of.each_ref())
    });
    assert_eq!(got, [vector(&[100, -20]), vector(&[100, 0]), vector(&[100, 0])]);
    // Whole vectors: 0.05 of the cluster is free, 0.1 would be left.
    let free = vector(&[50, 5]);
    let of = [&vector(&[400, 60]), &vector(&[300, 60]), &vector(&[1_000, 100]), &free];
    let rules = Rules {
        calculator: Calculator::Dominant,
        step: vector(&[1, 1]),
        ..yarn(Formula::Yarn3, "100", Some("1"))
    };
    assert_eq!(headroom(&rules, &leaf, of), free);
}

#[test]
fn a_type_that_is_not_limited_is_bounded_by_the_rest() {
    let leaf = Leaf { used: vector(&[10, 4]), ..leaf(0, 0, 1) };
    let of = [&memory(30), &vector(&[10, 4]), &vector(&[100]), &vector(&[90, 6])];
    assert_eq!(headroom(&smooth("100", None), &leaf, of), vector(&[20, 6]));
}
