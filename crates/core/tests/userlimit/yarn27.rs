//! The seed's formula, with numbers that the specification computed by a script.

use headroom_core::userlimit::{Enforcement, Formula, Leaf, Rules};

use super::{decimal, leaf, limit, limits, memory, yarn};

fn rules(floor: &str, factor: &str) -> Rules {
    yarn(Formula::Yarn27, floor, Some(factor))
}

#[test]
#[doc(alias = "UH-01")]
fn the_share_shrinks_with_each_user_down_to_the_floor() {
    let shares = [1, 2, 3, 4, 5, 9].map(|users| limit(&rules("30", "1"), &leaf(100, 0, users), 1));
    assert_eq!(shares, [100, 50, 34, 30, 30, 30]);
}

#[test]
#[doc(alias = "UH-02")]
fn a_share_is_rounded_up_to_whole_steps() {
    let rules = Rules { step: memory(1_024), ..rules("30", "1") };
    let leaf = Leaf { total: memory(204_800), ..leaf(102_400, 0, 3) };
    assert_eq!(limit(&rules, &leaf, 1_024), 34_816);
}

#[test]
#[doc(alias = "UH-03")]
fn above_the_capacity_what_is_used_and_the_ask_are_split() {
    let of = |users| limit(&rules("30", "100"), &leaf(40, 44, users), 8);
    assert_eq!([1, 2].map(of), [52, 26]);
}

#[test]
#[doc(alias = "UH-04")]
fn the_factor_bounds_one_user() {
    assert_eq!(limit(&rules("30", "1"), &leaf(40, 60, 1), 8), 40);
    assert_eq!(limit(&rules("100", "0.5"), &leaf(40, 0, 1), 8), 20);
    assert_eq!(limit(&rules("30", "2.5"), &leaf(40, 100, 1), 8), 100);
}

#[test]
#[doc(alias = "UH-05")]
fn a_tiny_queue_gets_on() {
    let alone = limits(&rules("25", "1"), &leaf(2, 0, 1), decimal("1"), 8);
    assert_eq!(alone.limit, memory(8));
    let (leaf, ask, nothing) = (leaf(2, 0, 4), memory(8), memory(0));
    let of_four = limits(&rules("25", "1"), &leaf, decimal("1"), 8);
    assert_eq!(of_four.limit, memory(2));
    let starts = |enforcement| {
        let rules = Rules { enforcement, ..rules("25", "1") };
        rules.admits(&leaf, &of_four, &nothing, &ask)
    };
    assert!(starts(Enforcement::Overshoot), "0 of 2");
    assert!(!starts(Enforcement::Strict), "8 of 2");
    assert!(starts(Enforcement::Progress), "0 of 2, and 8 of a cap of 8");
}

#[test]
#[doc(alias = "UH-38")]
fn the_limit_jumps_where_the_capacity_is_reached() {
    let of = |used| limit(&rules("30", "100"), &leaf(30, used, 3), 8);
    assert_eq!([0, 29, 30].map(of), [10, 10, 13]);
}
