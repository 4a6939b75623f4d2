//! The formula of CapacityScheduler 3, with numbers that the specification computed by a script.

use headroom_core::resource::Resources;
use headroom_core::userlimit::{Among, Calculator, Decimal, Formula, Leaf, Rules, ShareQuery};

use super::{decimal, in_memory, leaf, limit, limits, memory, vector, yarn};

fn rules(floor: &str, factor: Option<&str>) -> Rules {
    yarn(Formula::Yarn3, floor, factor)
}

#[test]
#[doc(alias = "UH-06")]
fn a_weight_is_applied_last() {
    let rules = rules("25", Some("1"));
    let of = |used: i64, weight: &str| {
        let leaf = Leaf { active_weight: decimal("2.5"), ..leaf(100, used, 2) };
        in_memory(&limits(&rules, &leaf, decimal(weight), 8).limit)
    };
    assert_eq!([of(60, "1.5"), of(60, "1")], [37, 25]);
    assert_eq!([of(100, "1.5"), of(100, "1")], [61, 41]);
}

#[test]
#[doc(alias = "UH-07")]
fn without_a_factor_the_maximum_of_the_queue_bounds() {
    let leaf = leaf(40, 90, 1);
    assert_eq!(limit(&rules("30", None), &leaf, 8), 91);
    assert_eq!(limit(&rules("30", Some("1")), &leaf, 8), 40);
}

#[test]
#[doc(alias = "UH-08")]
fn a_queue_without_a_capacity_has_no_factor() {
    let leaf = Leaf { max: memory(60), ..leaf(0, 5, 1) };
    assert_eq!(limit(&rules("100", Some("1")), &leaf, 8), 6);
}

#[test]
#[doc(alias = "UH-09")]
fn active_users_split_what_they_use_and_all_users_the_capacity() {
    let leaf = Leaf { used_active: memory(30), ..leaf(100, 70, 2) };
    let rules = rules("10", Some("2"));
    assert_eq!(limit(&rules, &leaf, 8), 16);
    let all = Among::All(Decimal::whole(4));
    let part = ShareQuery { weight: Decimal::ONE, among: all, ask: &memory(8) };
    assert_eq!(rules.limit(&leaf, part).limit, memory(25));
}

#[test]
#[doc(alias = "UH-10")]
fn dominant_shares_add_up_over_types() {
    let rules =
        Rules { calculator: Calculator::Dominant, step: vector(&[1, 1]), ..rules("25", Some("2")) };
    // One user has a fifth of all memory, the other three tenths of all cores.
    let leaf = Leaf {
        total: vector(&[1_000, 1_000]),
        guaranteed: vector(&[400, 400]),
        max: vector(&[1_000, 1_000]),
        dominant: vector(&[200, 300]),
        ..Leaf::default()
    };
    let all = Among::All(Decimal::whole(2));
    let part = ShareQuery { weight: Decimal::ONE, among: all, ask: &vector(&[8, 1]) };
    assert_eq!(rules.limit(&leaf, part).limit, vector(&[251, 251]));
}

#[test]
#[doc(alias = "UH-11")]
fn the_floor_counts_where_nothing_is_used() {
    assert_eq!(limit(&rules("50", Some("1")), &leaf(100, 0, 2), 8), 50);
}

#[test]
#[doc(alias = "UH-16")]
fn the_larger_vector_is_a_whole_one_or_each_type_by_itself() {
    let (x, y) = (vector(&[300, 30]), vector(&[200, 50]));
    // The share of one user is the capacity, x. The maximum, y, is the user cap.
    let of = |calculator| {
        let rules = Rules { calculator, step: Resources::new(), ..rules("100", None) };
        let leaf = Leaf {
            total: vector(&[1_000, 200]),
            guaranteed: x.clone(),
            max: y.clone(),
            ..leaf(0, 0, 1)
        };
        rules.limit(&leaf, ShareQuery { weight: Decimal::ONE, among: Among::Active, ask: &y }).limit
    };
    assert_eq!(of(Calculator::Dominant), y, "0.25 is less than 0.30");
    assert_eq!(of(Calculator::Componentwise), vector(&[200, 30]));
    // And the larger of capacity and ask.
    let of = |calculator| {
        let rules = Rules { formula: Formula::Yarn27, calculator, ..rules("100", None) };
        let rules = Rules { step: Resources::new(), ..rules };
        let leaf = Leaf { total: vector(&[1_000, 200]), guaranteed: x.clone(), ..leaf(0, 0, 1) };
        rules.limit(&leaf, ShareQuery { weight: Decimal::ONE, among: Among::Active, ask: &y }).limit
    };
    assert_eq!(of(Calculator::Dominant), x);
    assert_eq!(of(Calculator::Componentwise), vector(&[300, 50]));
}
