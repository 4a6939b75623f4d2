//! What drivers may have.

use headroom_core::userlimit::{Calculator, Decimal, DriverRules, Formula, Leaf, Rules};

use super::{decimal, in_memory, leaf, memory, smooth, vector, yarn};

#[test]
#[doc(alias = "UH-18")]
fn the_guarantee_counts_where_the_queue_may_use_less() {
    let (rules, leaf) = (smooth("25", Some("1")), leaf(40, 0, 1));
    let of = |current| {
        let limit = DriverRules::default().of_queue(&rules, &leaf, &memory(current));
        in_memory(&limit)
    };
    assert_eq!([80, 30].map(of), [8, 4]);
}

#[test]
#[doc(alias = "UH-19")]
fn a_user_has_a_share_of_it() {
    let (drivers, leaf) = (DriverRules::default(), leaf(40, 0, 1));
    let of = |(users, weight, factor)| {
        let rules = smooth("25", Some(factor));
        let of_queue = drivers.of_queue(&rules, &leaf, &memory(40));
        in_memory(&drivers.of_user(&rules, &leaf, &of_queue, users, decimal(weight)))
    };
    let rows = [(2, "1", "1"), (2, "1", "2"), (2, "1.5", "1"), (5, "1", "1"), (1, "1", "1")];
    assert_eq!(rows.map(of), [2, 4, 3, 1, 4]);
}

#[test]
fn the_memory_calculator_of_yarn_rounds_to_the_nearest_first() {
    // 40 × 0.1 / 3 is 1.33.
    let of = |rules: Rules| {
        let rules = Rules { calculator: Calculator::Memory, ..rules };
        let (drivers, leaf) = (DriverRules::default(), leaf(40, 0, 3));
        let of_queue = drivers.of_queue(&rules, &leaf, &memory(40));
        in_memory(&drivers.of_user(&rules, &leaf, &of_queue, 3, Decimal::ONE))
    };
    assert_eq!(of(yarn(Formula::Yarn27, "25", Some("1"))), 1);
    assert_eq!(of(yarn(Formula::Yarn3, "25", Some("1"))), 1);
    assert_eq!(of(smooth("25", Some("1"))), 2);
}

#[test]
fn where_the_queue_may_use_less_of_one_type_the_formulas_differ() {
    // 80 of 100 memory is the larger share, 10 of 100 cores are less than are guaranteed.
    let vectors = [vector(&[40, 40]), vector(&[80, 10])];
    let leaf = Leaf { guaranteed: vectors[0].clone(), total: vector(&[100, 100]), ..leaf(0, 0, 1) };
    let of = |formula| {
        let rules = Rules {
            calculator: Calculator::Dominant,
            step: vector(&[1, 1]),
            ..yarn(formula, "100", Some("1"))
        };
        DriverRules::default().of_queue(&rules, &leaf, &vectors[1])
    };
    assert_eq!(of(Formula::Yarn27), vector(&[8, 1]));
    assert_eq!(of(Formula::Yarn3), vector(&[4, 4]));
}
