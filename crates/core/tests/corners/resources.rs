//! Amounts at their edges.

use headroom_core::resource::{Amounts, Resources, Shares};
use headroom_core::testkit::vector;

#[test]
fn nothing_at_all_is_an_option_and_a_vector_without_types_takes_every_operation() {
    let (empty, one) = (Resources::new(), vector([(0, 5)]));
    assert_eq!(Resources::min_of(None, None), None);
    assert_eq!(empty.clone(), empty);
    for (what, result) in [
        ("a sum", empty.plus(&empty)),
        ("a difference", empty.minus(&empty)),
        ("a product", empty.times(7)),
        ("a product with a ratio", empty.times_ratio(1.5)),
        ("pruned", empty.pruned()),
        ("what both have", empty.minus_existing(&one)),
    ] {
        assert!(result.is_empty(), "{what}: {result:?}");
    }
    assert_eq!((empty.plus(&one), one.plus(&empty)), (one.clone(), one));
    assert_eq!(Amounts::EMPTY.times(7), Amounts::EMPTY);
}

#[test]
fn what_is_only_on_the_left_is_more_than_what_is_only_on_the_right_both_ways() {
    let (left, right) = (vector([(0, 1)]), vector([(1, 9)]));
    assert!(left.exceeds_existing(&right) && right.exceeds_existing(&left));
    assert!(!left.exceeds(&right) && !right.exceeds(&left));
}

#[test]
fn a_share_of_a_total_of_zero_is_the_amount_itself_and_nothing_is_zero() {
    for (amount, total, expected) in [
        (3, Some(0), 3.0),
        (3, None, 3.0),
        (-3, Some(0), -3.0),
        (0, Some(0), 0.0),
        (0, None, 0.0),
        (0, Some(5), 0.0),
        (i64::MAX, Some(0), 9_223_372_036_854_775_807.0),
    ] {
        let total_one = total.map(|total| vector([(0, total)]));
        let found = Shares::of(&vector([(0, amount)]), total_one.as_ref()).largest().get();
        assert!(found.total_cmp(&expected).is_eq(), "{amount} of {total:?}: {found}");
    }
}
