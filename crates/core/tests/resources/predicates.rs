//! Predicates and fit checks.

use headroom_core::resource::{Amounts, Quantity, Resources};

use super::{o, r};

#[test]
fn predicates_of_one_vector() {
    for (vector, is_zero, is_empty, has_negative, strictly_positive) in [
        ("", true, true, false, false),
        ("a=0", true, false, false, false),
        ("a=0 l=0", true, false, false, false),
        ("a=1", false, false, false, true),
        ("a=0 b=1", false, false, false, true),
        ("a=-1", false, false, true, false),
        ("a=-1 b=1", false, false, true, false),
        ("a=1 l=-1", false, false, true, false),
    ] {
        let one = r(vector);
        assert_eq!(one.is_zero(), is_zero, "IsZero({{{vector}}})");
        assert_eq!(one.is_empty(), is_empty, "IsEmpty({{{vector}}})");
        assert_eq!(one.has_negative(), has_negative, "HasNegativeValue({{{vector}}})");
        assert_eq!(
            one.is_strictly_positive(),
            strictly_positive,
            "StrictlyGreaterThanZero({{{vector}}})"
        );
    }
}

#[test]
fn equals_takes_an_absent_type_as_zero_and_nil_as_equal_to_nil_only() {
    for (left, right, equals, equals_or_empty, deep) in [
        ("nil", "nil", true, true, true),
        ("nil", "", false, true, false),
        ("nil", "a=0", false, true, false),
        ("nil", "a=1", false, false, false),
        ("", "", true, true, true),
        ("", "a=0", true, true, false),
        ("a=0 b=1", "b=1", true, true, false),
        ("a=1", "a=1", true, true, true),
        ("a=1", "a=2", false, false, false),
        ("a=1", "b=1", false, false, false),
        ("a=1", "a=1 l=0", true, true, false),
        ("a=1", "a=1 l=1", false, false, false),
    ] {
        for (left, right) in [(left, right), (right, left)] {
            let (one, other) = (o(left), o(right));
            let (one, other) = (one.as_ref(), other.as_ref());
            let pair = format!("({{{left}}}, {{{right}}})");
            assert_eq!(Resources::equal_objects(one, other), equals, "Equals{pair}");
            let or_empty = Resources::equals_or_empty(one, other);
            assert_eq!(or_empty, equals_or_empty, "EqualsOrEmpty{pair}");
            assert_eq!(one == other, deep, "DeepEquals{pair}");
        }
    }
}

#[test]
fn match_any_looks_at_names_only() {
    for (left, right, expected) in [
        ("", "", false),
        ("a=1", "", false),
        ("a=1", "b=1", false),
        ("a=1", "a=0", true),
        ("a=1 l=0", "b=1 l=-5", true),
    ] {
        assert_eq!(r(left).shares_type(&r(right)), expected, "MatchAny({{{left}}}, {{{right}}})");
    }
}

#[test]
fn strictly_greater_than_needs_one_larger_and_none_smaller_over_the_union() {
    for (left, right, or_equals, strict) in [
        ("", "", true, false),
        ("a=1", "a=1", true, false),
        ("a=0", "", true, false),
        ("a=1", "", true, true),
        ("", "a=1", false, false),
        ("", "a=-1", true, true),
        ("a=2 b=1", "a=1 b=1", true, true),
        ("a=2 b=0", "a=1 b=1", false, false),
        ("a=2", "a=1 l=1", false, false),
        ("a=1 l=1", "a=1", true, true),
        ("a=-1", "", false, false),
    ] {
        let pair = format!("({{{left}}}, {{{right}}})");
        let (left, right) = (r(left), r(right));
        assert_eq!(left.is_at_least(&right), or_equals, "StrictlyGreaterThanOrEquals{pair}");
        assert_eq!(left.exceeds(&right), strict, "StrictlyGreaterThan{pair}");
    }
}

#[test]
fn the_only_existing_forms_compare_common_types() {
    for (left, right, or_equals, strict) in [
        // Some common type is larger on the right.
        ("a=1", "a=2", false, false),
        ("a=3 b=1", "a=2 b=2", false, false),
        // Common types, none larger on the right.
        ("a=2", "a=2", true, false),
        ("a=3", "a=2", true, true),
        ("a=2 b=9", "a=2 c=9", true, false),
        ("a=3 b=9", "a=2 c=9", true, true),
        ("a=0", "a=0", true, false),
        // The right side is empty.
        ("a=1 b=2", "", true, true),
        ("a=1 b=0", "", false, false),
        ("a=0", "", false, false),
        ("a=-1", "", false, false),
        // No common type.
        ("a=1", "b=9", true, true),
        ("a=-1", "b=9", true, true),
        ("a=1", "l=9", true, true),
        // Nothing on the left.
        ("", "", false, false),
        ("", "a=1", false, false),
        ("", "a=0", false, false),
    ] {
        let pair = format!("({{{left}}}, {{{right}}})");
        let (left, right) = (r(left), r(right));
        assert_eq!(left.is_at_least_existing(&right), or_equals, "OrEqualsOnlyExisting{pair}");
        assert_eq!(left.exceeds_existing(&right), strict, "StrictlyGreaterOnlyExisting{pair}");
    }
}

#[test]
fn fit_checks_differ_in_absent_and_negative_room() {
    for (big, small, fit_in, max_undefined, actual) in [
        ("", "", true, true, true),
        ("a=1", "", true, true, true),
        ("a=2", "a=2", true, true, true),
        ("a=2", "a=3", false, false, false),
        // The type is absent.
        ("", "a=1", false, true, true),
        ("b=5", "a=1", false, true, true),
        ("a=5", "a=1 l=1", false, true, true),
        ("", "a=0", true, true, true),
        ("", "a=-1", true, true, true),
        // The room is zero or below.
        ("a=0", "a=1", false, false, false),
        ("a=0", "a=0", true, true, true),
        ("a=-5", "a=0", true, true, false),
        ("a=-5", "a=-1", true, true, false),
        ("a=-5", "a=-6", true, true, true),
        ("a=-5", "a=1", false, false, false),
        ("a=-5 b=2", "b=2", true, true, true),
        ("a=5 l=1", "a=5 l=2", false, false, false),
    ] {
        let pair = format!("({{{big}}}, {{{small}}})");
        let (big, small) = (r(big), r(small));
        assert_eq!(big.fits(&small), fit_in, "FitIn{pair}");
        assert_eq!(big.allows(&small), max_undefined, "FitInMaxUndef{pair}");
        assert_eq!(big.allows_actual(&small), actual, "FitInActual{pair}");
        assert_eq!(big.shortfall(&small).is_none(), fit_in, "the shortfall agrees{pair}");
        let short = big.shortfall_of_limit(&small);
        assert_eq!(short.is_none(), max_undefined, "the shortfall of a limit agrees{pair}");
    }
}

#[test]
fn a_shortfall_is_the_first_type_with_both_sides() {
    for (big, small, lane, needed, available) in [
        ("a=1 b=1", "a=1 b=2 c=9", 1, 2, 1),
        ("a=-4", "a=1", 0, 1, -4),
        ("a=1", "a=1 l=3", 11, 3, 0),
    ] {
        let short = r(big).shortfall(&r(small)).unwrap();
        let found = (short.resource.lane(), short.needed.get(), short.available.get());
        assert_eq!(found, (lane, needed, available), "{{{small}}} in {{{big}}}");
    }
    assert_eq!(r("a=1").shortfall_of_limit(&r("a=1 l=3")), None, "an absent type is unlimited");
}

#[test]
fn the_dominant_type_has_the_largest_share_and_the_last_name_wins_a_tie() {
    // Lane by lane, not in name order.
    let names = ["zeta", "alpha", "mid", "beta"];
    for (used, capacity, expected) in [
        ("a=1 b=3", "a=10 b=10", Some("alpha")),
        ("a=5 b=5", "a=10 b=10", Some("zeta")),
        ("b=5 d=5", "b=10 d=10", Some("beta")),
        ("b=5 c=5 d=5", "b=10 c=10 d=10", Some("mid")),
        ("a=9", "b=10", None),
        ("a=9 b=1", "b=10", Some("alpha")),
        ("a=1 b=9", "a=0 b=10", Some("zeta")),
        ("a=0 b=1", "a=0 b=10", Some("alpha")),
        ("a=0 b=0", "a=0 b=10", Some("zeta")),
        ("", "a=1", None),
    ] {
        let found = r(used).dominant(&r(capacity), |resource| names[resource.lane()]);
        let found = found.map(|resource| names[resource.lane()]);
        assert_eq!(found, expected, "DominantResourceType({{{used}}}, {{{capacity}}})");
    }
}

#[test]
fn amounts_with_names_multiply_and_print_their_units() {
    let amounts = Amounts::from([("vcore", 500), ("memory", 10), ("gpu", -1)]);
    assert_eq!(amounts.to_string(), "{gpu: -1, memory: 10 B, vcore: 500 m}");
    assert_eq!(amounts.times(2).get("vcore"), Some(Quantity::of(1_000)));
    assert_eq!(amounts.times(i64::MAX).get("memory"), Some(Quantity::MAX));
    assert!(!amounts.is_strictly_positive());
}
