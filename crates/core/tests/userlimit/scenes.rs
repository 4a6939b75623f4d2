//! The tables of the seed's scenes, row by row.

use headroom_core::userlimit::{Decimal, Formula};

use super::{in_memory, leaf, limit, limits, smooth, yarn};

#[test]
fn scene_1_one_user_takes_all_under_each_formula() {
    let rules = |formula| yarn(formula, "30", Some("100"));
    let used: Vec<i64> = (0..=12).map(|count| count * 8).collect();
    let column = |formula| -> Vec<i64> {
        used.iter().map(|used| limit(&rules(formula), &leaf(40, *used, 1), 8)).collect()
    };
    assert_eq!(column(Formula::Yarn27), [40, 40, 40, 40, 40, 48, 56, 64, 72, 80, 88, 96, 104]);
    assert_eq!(column(Formula::Yarn3), [12, 12, 17, 25, 33, 41, 49, 57, 65, 73, 81, 89, 97]);
    assert_eq!(column(Formula::Smooth), [40, 40, 40, 40, 40, 48, 56, 64, 72, 80, 88, 96, 100]);
}

#[test]
fn scene_3_the_limit_of_each_of_three_users() {
    let rules = yarn(Formula::Yarn27, "30", Some("100"));
    let of = |used| limit(&rules, &leaf(30, used, 3), 8);
    assert_eq!([0, 24, 32, 40, 48, 56].map(of), [10, 10, 14, 16, 19, 22]);
    let soft = |used| {
        let rules = smooth("30", Some("100"));
        in_memory(&limits(&rules, &leaf(30, used, 3), Decimal::ONE, 8).soft)
    };
    assert_eq!([24, 32, 40].map(soft), [11, 14, 16]);
}
