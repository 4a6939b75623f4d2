//! Shares and fairness.

use std::cmp::Ordering::{Equal, Greater, Less};

use headroom_core::resource::{Resources, Shares};

use super::{o, r};

#[test]
fn compare_shares_goes_from_the_largest_down_and_leftovers_decide() {
    for (left, right, total, expected) in [
        ("", "", "nil", Equal),
        ("a=1", "a=1", "nil", Equal),
        ("a=1", "a=2", "nil", Less),
        // The largest decides, whichever type it is.
        ("a=5 b=1", "a=2 b=4", "nil", Greater),
        ("a=5 b=1", "a=2 b=4", "a=10 b=4", Less),
        ("a=1 b=5", "a=5 b=1", "nil", Equal),
        ("a=5 b=1", "a=5 b=2", "nil", Less),
        // Leftovers: positive is larger, negative smaller, zero goes on.
        ("a=5 b=1", "a=5", "nil", Greater),
        ("a=5", "a=5 b=1", "nil", Less),
        ("a=5 b=-1", "a=5", "nil", Less),
        ("a=5", "a=5 b=-1", "nil", Greater),
        ("a=5 b=0", "a=5", "nil", Equal),
        ("a=5 b=0 c=-1", "a=5", "nil", Less),
        ("a=0", "", "nil", Equal),
        ("a=-1", "", "nil", Less),
        // Missing or zero in the total: the raw amount.
        ("a=3", "a=4", "a=0", Less),
        ("a=3", "b=4", "a=3", Less),
        ("a=0", "b=4", "a=0 b=100", Less),
        ("l=3", "a=2", "l=1000 a=1", Less),
    ] {
        let (left_one, right_one, total_one) = (r(left), r(right), o(total));
        let triple = format!("({{{left}}}, {{{right}}}, {{{total}}})");
        let found = left_one.compare_usage(&right_one, total_one.as_ref());
        assert_eq!(found, expected, "CompUsageRatio{triple}");
        let turned = right_one.compare_usage(&left_one, total_one.as_ref());
        assert_eq!(turned, expected.reverse(), "CompUsageRatio{triple} turned round");
    }
}

#[test]
fn compare_of_specific_types_leaves_the_others_out() {
    for (left, right, total, types, expected) in [
        ("a=9 b=1", "a=1 b=2", "nil", "b=1", Less),
        ("a=9 b=1", "a=1 b=2", "nil", "a=1", Greater),
        ("a=9", "a=1", "nil", "b=1", Equal),
        ("a=9", "b=1", "nil", "b=0", Less),
        ("a=9 b=1", "a=1 b=2", "nil", "", Equal),
        ("a=9 b=1", "a=1 b=2", "nil", "nil", Greater),
    ] {
        let (left_one, right_one, total_one) = (r(left), r(right), o(total));
        let found =
            left_one.compare_usage_of_types(&right_one, total_one.as_ref(), o(types).as_ref());
        assert_eq!(found, expected, "({{{left}}}, {{{right}}}, {{{total}}}, {{{types}}})");
    }
}

#[test]
fn shares_list_every_type_and_the_largest_is_last() {
    for (vector, total, largest) in [
        ("", "nil", 0.0),
        ("a=0", "a=0", 0.0),
        ("a=-4 b=-2", "nil", -2.0),
        ("a=3 b=1", "a=4 b=4", 0.75),
        ("a=3", "nil", 3.0),
        ("a=3", "", 3.0),
        ("a=1", "a=-2", -0.5),
    ] {
        let found = Shares::of(&r(vector), o(total).as_ref()).largest().get();
        assert!(found.total_cmp(&largest).is_eq(), "Shares({{{vector}}}, {{{total}}}): {found}");
    }
}

#[test]
fn fairness_ratio_is_one_for_nothing_by_nothing_and_infinite_by_nothing() {
    for (left, right, total, expected) in [
        ("", "", "a=1", 1.0),
        ("a=0", "b=0", "a=1", 1.0),
        ("", "a=5", "a=10", 0.0),
        ("a=5", "", "a=10", f64::INFINITY),
        ("a=-5", "", "a=10", f64::NEG_INFINITY),
        ("a=5", "a=0", "a=10", f64::INFINITY),
        ("a=5", "b=10", "a=10 b=10", 0.5),
        ("a=-5", "a=10", "a=10", -0.5),
        ("a=6", "a=3", "nil", 2.0),
    ] {
        let found = r(left).fairness_ratio(&r(right), o(total).as_ref());
        let row = format!("FairnessRatio({{{left}}}, {{{right}}}, {{{total}}})");
        assert!(found.total_cmp(&expected).is_eq(), "{row}: {found}, expected {expected}");
    }
}

#[test]
#[doc(alias = "queues W10")]
fn drf_and_ratio() {
    let total = r("a=100 b=10");
    let (left, right) = (r("a=50 b=1"), r("a=20 b=5"));
    assert_eq!(left.compare_usage(&right, Some(&total)), Less);
    for (left, right, expected) in [
        ("a=50 b=1", "a=20 b=5", 1.0),
        ("", "a=20 b=5", 0.0),
        ("", "", 1.0),
        ("a=10", "", f64::INFINITY),
    ] {
        let found = r(left).fairness_ratio(&r(right), Some(&total));
        assert!(found.total_cmp(&expected).is_eq(), "({{{left}}}, {{{right}}}): {found}");
    }
}

#[test]
fn fair_share_divides_by_the_guarantee_and_else_by_the_fair_maximum() {
    for (allocated, guaranteed, fair_max, expected) in [
        ("", "a=1", "a=1", 0.0),
        ("a=5", "nil", "nil", 0.0),
        ("a=5", "", "", 0.0),
        ("a=5", "a=10", "a=100", 0.5),
        ("a=5", "nil", "a=100", 0.05),
        ("a=5", "b=10", "a=100", 0.05),
        ("a=5 b=6", "a=10", "b=10", 0.6),
        ("a=5 c=9", "a=10", "b=10", 0.5),
        ("a=20", "a=10", "nil", 2.0),
        // An explicit denominator of nothing is fully used by any use.
        ("a=1", "a=0", "a=100", 1.0),
        ("a=0", "a=0", "a=100", 0.0),
        ("a=1", "a=-5", "a=100", 1.0),
        ("a=0", "a=-5", "nil", 0.0),
        ("a=1", "nil", "a=0", 1.0),
        ("a=1", "nil", "a=-3", 1.0),
        // Negative use contributes nothing, and the result is never negative.
        ("a=-5", "a=10", "a=100", 0.0),
        ("a=-5", "a=0", "nil", 0.0),
        ("a=-5 b=1", "a=10", "b=4", 0.25),
        ("l=1", "nil", "l=4", 0.25),
    ] {
        let found = r(allocated).fair_share(o(guaranteed).as_ref(), o(fair_max).as_ref()).get();
        let row = format!("FairShare({{{allocated}}}, {{{guaranteed}}}, {{{fair_max}}})");
        assert!(found.total_cmp(&expected).is_eq(), "{row}: {found}, expected {expected}");
    }
}

#[test]
#[doc(alias = "queues W9")]
fn fair_shares() {
    let total = r("a=1000 b=10000");
    for (what, allocated, guaranteed, max, expected) in [
        ("A", "a=100 b=1000", "a=200", "", 0.5),
        ("B", "a=150", "nil", "a=250", 0.6),
        ("B without its maximum", "a=150", "nil", "", 0.15),
        ("C", "b=1", "a=10 b=0", "", 1.0),
        ("C without a guarantee", "b=1", "nil", "", 0.0001),
    ] {
        let mut fair_max = total.clone();
        fair_max.overwrite(&r(max));
        let found = r(allocated).fair_share(o(guaranteed).as_ref(), Some(&fair_max)).get();
        assert!(found.total_cmp(&expected).is_eq(), "{what}: {found}");
    }
}

#[test]
fn fit_in_score_sums_what_is_missing() {
    for (big, fit, expected) in [
        ("a=5", "", 0.0),
        ("a=5", "a=5", 0.0),
        ("a=5", "a=10", 0.5),
        ("a=0", "a=10", 1.0),
        ("a=-5", "a=10", 1.0),
        ("", "a=10", 1.0),
        ("a=5", "a=10 b=4", 1.5),
        ("a=5 b=9", "a=10 b=4", 0.5),
        ("a=5", "a=0 b=0", 0.0),
        ("a=5", "a=-3 l=2", 1.0),
        ("nil", "a=1 b=0", 2.0),
        ("nil", "", 0.0),
    ] {
        let found = Resources::fit_score(o(big).as_ref(), &r(fit)).get();
        let row = format!("FitInScore({{{big}}}, {{{fit}}})");
        assert!(found.total_cmp(&expected).is_eq(), "{row}: {found}, expected {expected}");
    }
}

#[test]
fn abs_used_capacity_is_whole_percent_of_types_on_both_sides() {
    for (capacity, used, expected) in [
        ("", "", ""),
        ("a=10", "", ""),
        ("", "a=10", ""),
        ("a=10", "a=5", "a=50"),
        ("a=3", "a=1", "a=33"),
        ("a=10 b=10", "a=15 c=1", "a=150"),
        ("a=10", "a=0", "a=0"),
        ("a=10", "a=-5", "a=0"),
        ("a=0", "a=5", "a=100"),
        ("a=-1", "a=5", "a=100"),
        ("a=0", "a=0", "a=0"),
        ("a=1", "a=9223372036854775807", "a=2147483647"),
        ("l=4", "l=1", "l=25"),
    ] {
        let found = r(used).percent_of(&r(capacity));
        assert_eq!(found, r(expected), "AbsUsedCapacity({{{capacity}}}, {{{used}}})");
    }
}
