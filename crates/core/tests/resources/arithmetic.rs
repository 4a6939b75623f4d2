//! Operations: result types and amounts.

use headroom_core::resource::{Quantity, Resources};

use super::{MAX, o, r};

/// Check an operation on two vectors, row by row.
fn table(name: &str, operation: impl Fn(&Resources, &Resources) -> Resources, rows: &[[&str; 3]]) {
    for [left, right, expected] in rows {
        let result = operation(&r(left), &r(right));
        assert_eq!(result, r(expected), "{name}({{{left}}}, {{{right}}})");
    }
}

/// Check an operation that changes its left side, row by row.
fn in_place(name: &str, operation: impl Fn(&mut Resources, &Resources), rows: &[[&str; 3]]) {
    let copying = |left: &Resources, right: &Resources| {
        let mut changed = left.clone();
        operation(&mut changed, right);
        changed
    };
    table(name, copying, rows);
}

#[test]
fn add_covers_the_union_and_saturates() {
    let rows = [
        ["", "", ""],
        ["a=1", "", "a=1"],
        ["", "b=2", "b=2"],
        ["a=1 b=0", "a=2 c=3", "a=3 b=0 c=3"],
        ["a=1", "a=-1", "a=0"],
        ["a=9223372036854775807", "a=1", "a=9223372036854775807"],
        ["a=-9223372036854775807", "a=-5", "a=-9223372036854775807"],
        ["a=1", "l=5", "a=1 l=5"],
        ["l=1 i=2", "i=3", "i=5 l=1"],
    ];
    table("Add", Resources::plus, &rows);
    in_place("AddTo", Resources::add, &rows);
}

#[test]
fn sub_covers_the_union_goes_below_zero_and_saturates() {
    let rows = [
        ["", "", ""],
        ["a=1", "", "a=1"],
        ["", "b=2", "b=-2"],
        ["", "b=0", "b=0"],
        ["a=1 b=0", "a=3 c=3", "a=-2 b=0 c=-3"],
        ["a=-9223372036854775807", "a=1", "a=-9223372036854775807"],
        ["a=1", "a=-9223372036854775807", "a=9223372036854775807"],
        ["l=1", "l=1", "l=0"],
    ];
    table("Sub", Resources::minus, &rows);
    in_place("SubFrom", Resources::subtract, &rows);
}

#[test]
fn sub_only_existing_keeps_the_types_of_the_base() {
    let rows = [
        ["", "a=1", ""],
        ["a=1", "", "a=1"],
        ["a=1 b=0", "a=3 c=3", "a=-2 b=0"],
        ["b=0", "b=3", "b=-3"],
        ["a=-9223372036854775807", "a=1", "a=-9223372036854775807"],
        ["a=1", "a=1 l=4", "a=0"],
        ["l=4", "a=1 l=1", "l=3"],
    ];
    table("SubOnlyExisting", Resources::minus_existing, &rows);
    in_place("SubOnlyExisting", Resources::subtract_existing, &rows);
}

#[test]
fn add_only_existing_keeps_the_types_of_the_base() {
    let rows = [
        ["", "a=1", ""],
        ["a=1", "", "a=1"],
        ["a=1 b=0", "a=3 b=2 c=3", "a=4 b=2"],
        ["a=9223372036854775807", "a=1", "a=9223372036854775807"],
        ["l=4", "a=1 l=1", "l=5"],
    ];
    table("AddOnlyExisting", Resources::plus_existing, &rows);
    in_place("AddOnlyExisting", Resources::add_existing, &rows);
}

#[test]
fn sub_eliminate_negative_checks_only_the_types_that_are_taken() {
    table(
        "SubEliminateNegative",
        Resources::minus_floored,
        &[
            ["", "", ""],
            ["a=5", "a=3", "a=2"],
            ["a=5", "a=8", "a=0"],
            ["", "a=8", "a=0"],
            ["a=-5", "b=1", "a=-5 b=0"],
            ["a=-5", "a=0", "a=0"],
            ["a=-5", "a=-9", "a=4"],
        ],
    );
}

#[test]
fn sub_error_negative_names_what_was_cut_and_keeps_the_result() {
    for (left, right, floored, below) in [
        ("a=5", "a=3", "a=2", ""),
        ("", "", "", ""),
        ("a=5 b=1", "a=8 b=4 c=0", "a=0 b=0 c=0", "a=-3 b=-3"),
        ("a=-5", "b=1", "a=-5 b=0", "b=-1"),
    ] {
        let expected = (r(floored), r(below));
        let result = r(left).minus_checked(&r(right));
        assert_eq!(result, expected, "SubErrorNegative({{{left}}}, {{{right}}})");
    }
}

#[test]
fn multiply_saturates_and_a_factor_of_zero_leaves_no_type() {
    for (vector, factor, expected) in [
        ("", 3, ""),
        ("a=2 b=0", 3, "a=6 b=0"),
        ("a=2 b=0", 0, ""),
        ("a=2", -1, "a=-2"),
        ("a=9223372036854775807", 2, "a=9223372036854775807"),
        ("a=9223372036854775807", -2, "a=-9223372036854775807"),
        ("l=2", 2, "l=4"),
    ] {
        assert_eq!(r(vector).times(factor), r(expected), "Multiply({{{vector}}}, {factor})");
    }
}

#[test]
fn multiply_by_a_ratio_cuts_toward_zero_and_saturates() {
    for (vector, ratio, expected) in [
        ("", 1.5, ""),
        ("a=3 b=0", 1.5, "a=4 b=0"),
        ("a=-3", 1.5, "a=-4"),
        ("a=3", 0.3, "a=0"),
        ("a=3", 0.0, ""),
        ("a=3", -0.0, ""),
        ("a=9223372036854775807", 2.0, "a=9223372036854775807"),
        ("a=9223372036854775807", -2.0, "a=-9223372036854775807"),
        ("a=1 b=-1 c=0", f64::INFINITY, "a=9223372036854775807 b=-9223372036854775807 c=0"),
        ("a=1", f64::NAN, ""),
    ] {
        let result = r(vector).times_ratio(ratio);
        assert_eq!(result, r(expected), "MultiplyBy({{{vector}}}, {ratio})");
    }
}

#[test]
fn component_wise_min_takes_an_absent_type_as_unlimited_and_nil_as_nothing_said() {
    for [left, right, expected] in [
        ["nil", "nil", "nil"],
        ["nil", "a=1 b=0", "a=1 b=0"],
        ["a=1", "nil", "a=1"],
        ["", "nil", ""],
        ["", "a=1", "a=1"],
        ["a=1 b=5", "a=2 b=0 c=3", "a=1 b=0 c=3"],
        ["a=-1", "a=0", "a=-1"],
        ["l=4", "l=3 k=1", "k=1 l=3"],
    ] {
        let (one, other) = (o(left), o(right));
        let result = Resources::min_of(one.as_ref(), other.as_ref());
        assert_eq!(result, o(expected), "ComponentWiseMin({{{left}}}, {{{right}}})");
        if let (Some(one), Some(other)) = (one, other) {
            assert_eq!(Some(one.minimum(&other)), o(expected), "{{{left}}} minimum {{{right}}}");
        }
    }
}

#[test]
fn the_other_minima_and_maxima_keep_their_types() {
    table(
        "ComponentWiseMinOnlyExisting",
        Resources::min_existing,
        &[
            ["", "a=1", ""],
            ["a=1", "", "a=1"],
            ["a=5 b=1", "a=2 c=3", "a=2 b=1"],
            ["a=5", "a=0", "a=0"],
        ],
    );
    table(
        "ComponentWiseMax",
        Resources::maximum,
        &[
            ["", "", ""],
            ["a=-1", "", "a=0"],
            ["", "a=-1 b=2", "a=0 b=2"],
            ["a=-3 b=5", "a=-1 b=2 l=1", "a=-1 b=5 l=1"],
        ],
    );
    // Raising is ours: an absent type is lower than anything, not zero.
    in_place(
        "raise",
        Resources::raise,
        &[["a=-3", "a=-1 b=-2", "a=-1 b=-2"], ["a=1 b=0", "a=0", "a=1 b=0"], ["", "l=0", "l=0"]],
    );
}

#[test]
fn merge_and_overwrite_differ_in_who_wins() {
    table(
        "MergeIfNotPresent",
        Resources::merge_missing,
        &[
            ["", "", ""],
            ["", "a=1", "a=1"],
            ["a=0", "a=1 b=2", "a=0 b=2"],
            ["a=-1 l=2", "b=0", "a=-1 b=0 l=2"],
        ],
    );
    in_place(
        "overwrite",
        Resources::overwrite,
        &[["a=1 b=2", "b=0 c=3", "a=1 b=0 c=3"], ["", "a=0", "a=0"], ["a=1", "", "a=1"]],
    );
}

#[test]
fn prune_drops_zeros_and_nothing_else() {
    for (vector, expected) in
        [("", ""), ("a=0", ""), ("a=0 b=1 c=-1 l=0", "b=1 c=-1"), ("a=1 l=2", "a=1 l=2")]
    {
        assert_eq!(r(vector).pruned(), r(expected), "Prune({{{vector}}})");
    }
}

#[test]
fn scalars_saturate_and_never_wrap() {
    let quantity = |text: &str| Quantity::of(text.parse().unwrap());
    let (max, min) = (quantity(MAX), quantity("-9223372036854775808"));
    assert_eq!(min, Quantity::MIN, "the range is symmetric");
    for (what, result, expected) in [
        ("max + 1", max.plus(Quantity::of(1)), max),
        ("min - 1", min.minus(Quantity::of(1)), min),
        ("0 - min", Quantity::ZERO.minus(min), max),
        ("min + max", min.plus(max), Quantity::ZERO),
        ("max * 2", max.times(2), max),
        ("max * -2", max.times(-2), min),
        ("min * i64::MIN", min.times(i64::MIN), max),
        ("max * 0", max.times(0), Quantity::ZERO),
    ] {
        assert_eq!(result, expected, "{what}");
    }
}
