//! Our formula, with numbers that the specification computed by a script.

use headroom_core::userlimit::{Among, Decimal, Leaf, ShareQuery};

use super::{in_memory, leaf, limits, memory, smooth, vector};

#[test]
#[doc(alias = "UH-33")]
fn active_users_split_what_the_inactive_leave() {
    let of = |active: i64| {
        let leaf = Leaf {
            total: memory(200),
            max: memory(150),
            used_active: memory(active),
            ..leaf(100, active + 40, 2)
        };
        in_memory(&limits(&smooth("10", Some("2")), &leaf, Decimal::ONE, 8).soft)
    };
    assert_eq!([30, 70].map(of), [30, 39]);
}

#[test]
#[doc(alias = "UH-34")]
fn each_type_is_split_by_itself() {
    let of = |active| {
        let used = vector(&[100, 30, 4]);
        let leaf = Leaf {
            total: vector(&[1_000, 1_000, 100]),
            guaranteed: vector(&[160, 40, 4]),
            max: vector(&[1_000, 1_000, 100]),
            used: used.clone(),
            used_active: used,
            active,
            active_weight: Decimal::whole(u32::try_from(active).expect("few")),
            ..Leaf::default()
        };
        let ask = vector(&[16, 4, 1]);
        let part = ShareQuery { weight: Decimal::ONE, among: Among::Active, ask: &ask };
        let rules = smooth("30", Some("100"));
        rules.limit(&leaf, part).soft
    };
    assert_eq!(of(1), vector(&[160, 40, 5]));
    assert_eq!(of(2), vector(&[80, 20, 3]));
    assert_eq!(of(4), vector(&[48, 12, 2]));
}

#[test]
#[doc(alias = "UH-35")]
fn above_the_capacity_all_that_is_used_and_the_ask_are_split() {
    let leaf = Leaf { total: memory(200), max: memory(160), ..leaf(100, 120, 2) };
    assert_eq!(limits(&smooth("25", Some("2")), &leaf, Decimal::ONE, 8).soft, memory(64));
}

#[test]
fn the_floor_is_one_of_all_that_is_used_too() {
    // Four users split 160; the floor is half of it for each.
    let leaf = Leaf { total: memory(400), max: memory(400), ..leaf(100, 150, 4) };
    assert_eq!(limits(&smooth("50", None), &leaf, Decimal::ONE, 10).soft, memory(80));
}

#[test]
#[doc(alias = "UH-39")]
fn who_is_at_a_hard_limit_takes_nothing_from_others() {
    let rules = smooth("10", Some("2"));
    let total = memory(200);
    // u1 uses 20 and may have no more, u2 uses 70: u2 alone is active, or both are.
    let alone = Leaf { total: total.clone(), used_active: memory(70), ..leaf(100, 90, 1) };
    let limit = limits(&rules, &alone, Decimal::ONE, 8);
    assert_eq!(limit.soft, memory(80));
    assert!(rules.admits(&alone, &limit, &memory(70), &memory(8)));
    let both = Leaf { total, ..leaf(100, 90, 2) };
    let limit = limits(&rules, &both, Decimal::ONE, 8);
    assert_eq!(limit.soft, memory(50));
    assert!(!rules.admits(&both, &limit, &memory(70), &memory(8)), "blocked for nothing");
}

#[test]
fn a_type_without_a_guarantee_is_neither_split_nor_capped() {
    let leaf = Leaf {
        total: vector(&[100, 100]),
        guaranteed: memory(40),
        max: vector(&[80, 90]),
        active: 1,
        active_weight: Decimal::ONE,
        ..Leaf::default()
    };
    let rules = smooth("50", Some("1"));
    let ask = vector(&[1, 1]);
    let part = ShareQuery { weight: Decimal::ONE, among: Among::Active, ask: &ask };
    let limit = rules.limit(&leaf, part);
    assert_eq!((limit.soft, limit.hard), (memory(40), vector(&[40, 90])));
}
