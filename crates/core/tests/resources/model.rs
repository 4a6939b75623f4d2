//! Vectors against a plain map, with up to twelve types: more than a vector keeps inline.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use headroom_core::resource::Resources;
use headroom_core::testkit::vector;
use proptest::prelude::*;

/// A sparse map, straight from the page: absent and zero differ.
type Model = BTreeMap<usize, i64>;

/// Few amounts, so that equal, zero and extreme ones meet often.
fn model() -> impl Strategy<Value = Model> {
    let amount = prop_oneof![
        4 => -3_i64..4,
        1 => -1_000_i64..1_000,
        1 => prop_oneof![Just(i64::MAX), Just(-i64::MAX)],
    ];
    // Short and long vectors, so that both sides of the inline bound meet.
    prop_oneof![
        prop::collection::btree_map(0_usize..4, amount.clone(), 0..4),
        prop::collection::btree_map(0_usize..12, amount, 0..13),
    ]
}

fn real(model: &Model) -> Resources {
    vector(model.iter().map(|(lane, amount)| (*lane, *amount)))
}

fn plain(resources: &Resources) -> Model {
    resources.iter().map(|(resource, amount)| (resource.lane(), amount.get())).collect()
}

/// Combine over the union of types.
fn union(
    left: &Model,
    right: &Model,
    join: impl Fn(Option<i64>, Option<i64>) -> Option<i64>,
) -> Model {
    let lanes = left.keys().chain(right.keys());
    let joined = lanes
        .filter_map(|lane| Some((*lane, join(left.get(lane).copied(), right.get(lane).copied())?)));
    joined.collect()
}

/// A sum in the symmetric range.
fn clamp(sum: i128) -> i64 {
    i64::try_from(sum.clamp(-i128::from(i64::MAX), i128::from(i64::MAX))).expect("clamped")
}

fn sum(left: i64, right: i64) -> i64 {
    clamp(i128::from(left) + i128::from(right))
}

fn difference(left: i64, right: i64) -> i64 {
    clamp(i128::from(left) - i128::from(right))
}

fn all(left: &Model, right: &Model, holds: impl Fn(i64, i64) -> bool) -> bool {
    let at = |model: &Model, lane: &usize| model.get(lane).copied().unwrap_or(0);
    left.keys().chain(right.keys()).all(|lane| holds(at(left, lane), at(right, lane)))
}

proptest! {
    #[test]
    fn sums_and_differences(left in model(), right in model()) {
        let (l, r) = (real(&left), real(&right));
        let add = union(&left, &right, |l, r| Some(sum(l.unwrap_or(0), r.unwrap_or(0))));
        let sub = union(&left, &right, |l, r| Some(difference(l.unwrap_or(0), r.unwrap_or(0))));
        let add_existing = union(&left, &right, |l, r| Some(sum(l?, r.unwrap_or(0))));
        let sub_existing = union(&left, &right, |l, r| Some(difference(l?, r.unwrap_or(0))));
        let floored = union(&left, &right, |l, r| match r {
            None => l,
            Some(r) => Some(difference(l.unwrap_or(0), r).max(0)),
        });
        prop_assert_eq!(plain(&l.plus(&r)), add);
        prop_assert_eq!(plain(&l.minus(&r)), sub);
        prop_assert_eq!(plain(&l.plus_existing(&r)), add_existing);
        prop_assert_eq!(plain(&l.minus_existing(&r)), sub_existing);
        prop_assert_eq!(plain(&l.minus_floored(&r)), floored);
        let mut in_place = l.clone();
        in_place.add(&r);
        prop_assert_eq!(&in_place, &l.plus(&r));
        in_place = l.clone();
        in_place.subtract(&r);
        prop_assert_eq!(&in_place, &l.minus(&r));
    }

    #[test]
    fn minima_maxima_and_merges(left in model(), right in model()) {
        let (l, r) = (real(&left), real(&right));
        let minimum = union(&left, &right, |l, r| match (l, r) {
            (Some(l), Some(r)) => Some(l.min(r)),
            (one, None) | (None, one) => one,
        });
        let min_existing = union(&left, &right, |l, r| Some(l?.min(r.unwrap_or(i64::MAX))));
        let maximum = union(&left, &right, |l, r| Some(l.unwrap_or(0).max(r.unwrap_or(0))));
        let raised = union(&left, &right, |l, r| {
            Some(l.unwrap_or(i64::MIN).max(r.unwrap_or(i64::MIN)))
        });
        prop_assert_eq!(plain(&l.minimum(&r)), minimum);
        prop_assert_eq!(plain(&l.min_existing(&r)), min_existing);
        prop_assert_eq!(plain(&l.maximum(&r)), maximum);
        prop_assert_eq!(plain(&l.merge_missing(&r)), union(&left, &right, Option::or));
        let mut changed = l.clone();
        changed.raise(&r);
        prop_assert_eq!(plain(&changed), raised);
        changed = l.clone();
        changed.overwrite(&r);
        prop_assert_eq!(plain(&changed), union(&left, &right, |l, r| r.or(l)));
    }

    #[test]
    fn predicates_of_two(left in model(), right in model()) {
        let (l, r) = (real(&left), real(&right));
        let fits = |absent: i64, floor: i64| {
            right.iter().all(|(lane, small)| {
                *small <= left.get(lane).map_or(absent, |big| (*big).max(floor))
            })
        };
        prop_assert_eq!(l.fits(&r), fits(0, 0));
        prop_assert_eq!(l.allows(&r), fits(i64::MAX, 0));
        prop_assert_eq!(l.allows_actual(&r), fits(i64::MAX, i64::MIN));
        prop_assert_eq!(l.equals(&r), all(&left, &right, |l, r| l == r));
        prop_assert_eq!(l.is_at_least(&r), all(&left, &right, |l, r| l >= r));
        prop_assert_eq!(l == r, left == right);
        prop_assert_eq!(l.shares_type(&r), left.keys().any(|lane| right.contains_key(lane)));
        let exceeds = all(&left, &right, |l, r| l >= r) && !all(&left, &right, |l, r| l == r);
        prop_assert_eq!(l.exceeds(&r), exceeds);
        prop_assert_eq!(l.is_zero(), left.values().all(|amount| *amount == 0));
        prop_assert_eq!(l.has_negative(), left.values().any(|amount| *amount < 0));
        prop_assert_eq!((l.len(), l.is_empty()), (left.len(), left.is_empty()));
    }

    #[test]
    fn setting_and_removing(start in model(), changes in prop::collection::vec((0_usize..12, prop::option::of(-2_i64..3)), 0..30)) {
        let (mut ours, mut theirs) = (real(&start), start);
        for (lane, change) in changes {
            let one = vector([(lane, 0)]);
            let resource = one.iter().next().expect("one type").0;
            if let Some(amount) = change {
                ours.set(resource, headroom_core::resource::Quantity::of(amount));
                theirs.insert(lane, amount);
            } else {
                ours.remove(resource);
                theirs.remove(&lane);
            }
            prop_assert_eq!(plain(&ours), theirs.clone());
            prop_assert_eq!(&ours, &real(&theirs), "equal maps are equal values");
            theirs.retain(|_, amount| *amount != 0);
            ours.prune();
            prop_assert_eq!(&ours, &real(&theirs), "pruned alike");
        }
    }

    #[test]
    fn comparing_usage_is_an_order(a in model(), b in model(), c in model(), total in model()) {
        let (a, b, c, total) = (real(&a), real(&b), real(&c), real(&total));
        let compare = |l: &Resources, r: &Resources| l.compare_usage(r, Some(&total));
        prop_assert_eq!(compare(&a, &a), Ordering::Equal);
        prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
        if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
            prop_assert!(compare(&a, &c).is_le(), "{:?} {:?} {:?} of {:?}", a, b, c, total);
        }
    }
}
