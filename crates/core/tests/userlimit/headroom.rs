//! How much more a user may have, and what is named as its bound: with numbers that the
//! specification computed by a script, and for all numbers.

use headroom_core::id::{Id, QueueId, Slot};
use headroom_core::resource::{Quantity, ResourceType, Resources};
use headroom_core::userlimit::{
    Bound, Calculator, Formula, Headroom, Leaf, Limit, Remaining, Rules,
};
use proptest::prelude::*;

use super::{memory, smooth, vector, yarn};

const ROOT: u32 = 0;
const RESEARCH: u32 = 1;

fn queue(number: u32) -> QueueId {
    QueueId::from_slot(Slot::new(number, 0))
}

fn room(bound: Bound, left: i64) -> Remaining {
    Remaining { bound, left: memory(left) }
}

/// Returns the limit of a user whose cap is the share.
fn limited(soft: i64, hard: i64) -> Limit {
    Limit { soft: memory(soft), hard: memory(hard), limit: memory(soft.min(hard)) }
}

fn of(rules: &Rules, limit: &Limit, used: i64, others: &[Remaining], free: i64) -> Headroom {
    let leaf = Leaf { total: memory(200), ..Leaf::default() };
    rules.headroom(&leaf, (limit, &memory(used)), others, &memory(free))
}

/// All three formulas, as they are usual.
fn all() -> [Rules; 3] {
    [smooth("30", None), yarn(Formula::Yarn3, "30", None), yarn(Formula::Yarn27, "30", None)]
}

fn bound(of: &Headroom) -> Option<Bound> {
    of.limited_by(&memory(1), &memory(100))
}

#[test]
#[doc(alias = "UH-12")]
fn the_least_of_limit_queue_and_what_is_free() {
    for rules in all() {
        let others = [room(Bound::QueueMax(queue(RESEARCH)), 60 - 55)];
        let first = of(&rules, &limited(30, 100), 22, &others, 20);
        assert_eq!(first.amounts, memory(5), "{:?}", rules.formula);
        assert_eq!(bound(&first), Some(Bound::QueueMax(queue(RESEARCH))));
        let then = of(&rules, &limited(30, 100), 22, &others, 3);
        if rules.formula == Formula::Yarn27 {
            assert_eq!(then.amounts, memory(5), "2.7.3 does not look at what is free");
            continue;
        }
        assert_eq!(then.amounts, memory(3), "{:?}", rules.formula);
        assert_eq!(bound(&then), Some(Bound::PartitionFree));
    }
}

#[test]
#[doc(alias = "UH-13")]
fn a_headroom_is_whole_steps() {
    for rules in all() {
        let rules = Rules { step: memory(1_024), ..rules };
        let headroom = of(&rules, &limited(5_700, 9_000), 0, &[], 9_000);
        assert_eq!(headroom.amounts, memory(5_120), "{:?}", rules.formula);
        assert_eq!(bound(&headroom), Some(Bound::SoftShare));
    }
}

#[test]
#[doc(alias = "UH-14")]
fn the_numbers_of_a_partition_of_its_own() {
    for rules in all() {
        let others = [room(Bound::QueueMax(queue(RESEARCH)), 50 - 30)];
        let headroom = of(&rules, &limited(20, 100), 8, &others, 60 - 45);
        assert_eq!(headroom.amounts, memory(12), "{:?}", rules.formula);
        assert_eq!(bound(&headroom), Some(Bound::SoftShare));
    }
}

#[test]
#[doc(alias = "UH-32")]
fn the_tightest_of_six_bounds_is_named() {
    let others = [
        room(Bound::QueueMax(queue(ROOT)), 200 - 150),
        room(Bound::GroupLimit(queue(ROOT)), 100 - 78),
        room(Bound::QueueMax(queue(RESEARCH)), 60 - 55),
        room(Bound::UserLimit(queue(RESEARCH)), 30 - 20),
    ];
    let headroom = of(&smooth("1", None), &limited(34, 40), 20, &others, 50);
    assert_eq!(headroom.amounts, memory(5));
    assert_eq!(bound(&headroom), Some(Bound::QueueMax(queue(RESEARCH))));
    // Without the tightest, the next one, until none is left.
    let mut left = others.to_vec();
    for (gone, amount, next) in [
        (Bound::QueueMax(queue(RESEARCH)), 10, Bound::UserLimit(queue(RESEARCH))),
        (Bound::UserLimit(queue(RESEARCH)), 14, Bound::SoftShare),
    ] {
        left.retain(|room| room.bound != gone);
        let headroom = of(&smooth("1", None), &limited(34, 40), 20, &left, 50);
        assert_eq!((headroom.amounts.clone(), bound(&headroom)), (memory(amount), Some(next)));
    }
}

#[test]
fn of_equal_bounds_the_first_is_named_and_a_cap_where_it_is_below_the_share() {
    let others = [room(Bound::QueueMax(queue(ROOT)), 14), room(Bound::UserLimit(queue(ROOT)), 14)];
    for rules in all() {
        let same = of(&rules, &limited(34, 34), 20, &others, 14);
        assert_eq!(bound(&same), Some(Bound::SoftShare), "{:?}", rules.formula);
        let capped = of(&rules, &limited(35, 34), 20, &others, 14);
        assert_eq!(bound(&capped), Some(Bound::HardCap), "{:?}", rules.formula);
        let queue_first = of(&rules, &limited(90, 90), 20, &others, 14);
        assert_eq!(bound(&queue_first), Some(Bound::QueueMax(queue(ROOT))), "{:?}", rules.formula);
    }
}

#[test]
fn who_is_above_his_share_has_no_headroom_and_less_than_none_is_not_shown() {
    for rules in all() {
        let headroom = of(&rules, &limited(10, 90), 30, &[], 50);
        assert_eq!(
            (headroom.amounts.clone(), bound(&headroom)),
            (memory(0), Some(Bound::SoftShare))
        );
    }
}

#[test]
fn each_type_has_a_bound_of_its_own_and_the_ask_says_which_comes_first() {
    let leaf = Leaf { total: vector(&[200, 200]), ..Leaf::default() };
    let limit =
        Limit { soft: vector(&[30, 90]), hard: vector(&[90, 90]), limit: vector(&[30, 90]) };
    let others = [Remaining { bound: Bound::QueueMax(queue(ROOT)), left: vector(&[50, 40]) }];
    let headroom =
        smooth("1", None).headroom(&leaf, (&limit, &vector(&[0, 0])), &others, &vector(&[99, 99]));
    assert_eq!(headroom.amounts, vector(&[30, 40]));
    let bounds: Vec<Bound> = headroom.limited_by.iter().map(|one| one.bound).collect();
    assert_eq!(bounds, [Bound::SoftShare, Bound::QueueMax(queue(ROOT))]);
    let first = |ask: &[i64]| headroom.limited_by(&vector(ask), &leaf.total);
    assert_eq!(first(&[1, 1]), Some(Bound::SoftShare), "30 asks by the first, 40 by the second");
    assert_eq!(first(&[1, 2]), Some(Bound::QueueMax(queue(ROOT))), "20 by the second");
    assert_eq!(first(&[3, 4]), Some(Bound::SoftShare), "10 by both: who is named first");
    assert_eq!(first(&[0, 1]), Some(Bound::QueueMax(queue(ROOT))));
    assert_eq!(first(&[]), Some(Bound::SoftShare), "30 of 200 is less than 40 of 200");
}

#[test]
fn parity_takes_whole_vectors_and_signs_as_the_real_ones_do() {
    let leaf = Leaf { total: vector(&[100, 10]), ..Leaf::default() };
    let limit = Limit { limit: vector(&[20, 6]), soft: vector(&[20, 6]), hard: vector(&[90, 9]) };
    let of = |formula, calculator, used: &[i64], free: &[i64]| {
        let rules = Rules { calculator, step: Resources::new(), ..yarn(formula, "100", None) };
        rules.headroom(&leaf, (&limit, &vector(used)), &[], &vector(free))
    };
    // A dominant share of 0.6 in cores against one of 0.5 in memory: all of what is free.
    let whole = of(Formula::Yarn3, Calculator::Dominant, &[0, 0], &[50, 3]);
    assert_eq!(whole.amounts, vector(&[50, 3]));
    assert_eq!(bound(&whole), Some(Bound::PartitionFree));
    let own = of(Formula::Yarn3, Calculator::Dominant, &[0, 2], &[50, 3]);
    assert_eq!(own.amounts, vector(&[20, 4]), "0.4 is less than 0.5, though only 3 cores are free");
    // 2.7.3 takes each type by itself, and lets cores go below nothing.
    let each = of(Formula::Yarn27, Calculator::Dominant, &[30, 7], &[50, 3]);
    assert_eq!(each.amounts, vector(&[0, -1]));
    assert_eq!(
        of(Formula::Yarn27, Calculator::Dominant, &[0, 0], &[50, 3]).amounts,
        vector(&[20, 6]),
        "it does not look at what is free"
    );
    assert_eq!(
        of(Formula::Yarn3, Calculator::Dominant, &[30, 7], &[50, 3]).amounts,
        vector(&[0, 0])
    );
    // With the memory calculator cores have no meaning there; ours still has absolute bounds.
    for formula in [Formula::Yarn27, Formula::Yarn3] {
        assert_eq!(of(formula, Calculator::Memory, &[5, 9], &[50, 3]).amounts, memory(15));
    }
    let ours = of(Formula::Smooth, Calculator::Memory, &[5, 2], &[50, 3]);
    assert_eq!(ours.amounts, vector(&[15, 3]));
}

fn pairs() -> impl Strategy<Value = [i64; 2]> {
    [-50..200_i64, -50..200]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    /// Never negative, never more than any bound leaves, and what is named leaves as little.
    #[test]
    fn a_headroom_is_the_least_of_all_and_never_negative(
        (soft, hard, used) in ([0..200_i64, 0..200], [0..200_i64, 0..200], [0..200_i64, 0..200]),
        others in prop::collection::vec(pairs(), 0..5),
        free in pairs(),
        step in [0..20_i64, 0..20],
        ask in [0..20_i64, 0..20],
    ) {
        let rules = Rules { step: vector(&step), ..smooth("30", None) };
        let limit = Limit { soft: vector(&soft), hard: vector(&hard), limit: vector(&soft).minimum(&vector(&hard)) };
        let leaf = Leaf { total: vector(&[300, 300]), ..Leaf::default() };
        let rooms: Vec<Remaining> = (0..).zip(&others).map(|(number, left)| Remaining {
            bound: Bound::QueueMax(queue(number)),
            left: vector(left),
        }).collect();
        let headroom = rules.headroom(&leaf, (&limit, &vector(&used)), &rooms, &vector(&free));
        let mut named = Vec::new();
        for one in &headroom.limited_by {
            let lane = one.resource.lane();
            let amount = headroom.amounts.get_or_zero(one.resource).get();
            let all = [soft[lane] - used[lane], hard[lane] - used[lane], free[lane]];
            let all: Vec<i64> = all.into_iter().chain(others.iter().map(|left| left[lane])).collect();
            let least = *all.iter().min().expect("there are three");
            prop_assert!(amount >= 0);
            prop_assert!(amount <= least.max(0), "{amount} of {all:?}");
            prop_assert!(amount > least - step[lane].max(1), "{amount} of {all:?}");
            let left = match one.bound {
                Bound::SoftShare => all[0],
                Bound::HardCap => all[1],
                Bound::PartitionFree => all[2],
                Bound::QueueMax(id) => others[id.slot().index()][lane],
                Bound::UserLimit(_) | Bound::GroupLimit(_) => unreachable!("none was given"),
            };
            let slack = if one.bound == Bound::PartitionFree { 0 } else { step[lane].max(1) };
            prop_assert!(left.max(0) - amount < slack.max(1), "{left} is named for {amount}");
            named.push(one.bound);
        }
        prop_assert_eq!(headroom.limited_by.len(), 2);
        let overall = headroom.limited_by(&vector(&ask), &leaf.total);
        prop_assert!(overall.is_some_and(|bound| named.contains(&bound)));
    }

    /// In which order bounds that are not equal are named makes no difference.
    #[test]
    fn the_order_of_bounds_changes_no_amount(
        others in prop::collection::vec(pairs(), 0..5),
        free in pairs(),
        kind in 0..3_usize,
    ) {
        let rules = &all()[kind];
        let leaf = Leaf { total: vector(&[300, 300]), ..Leaf::default() };
        let mut rooms: Vec<Remaining> = (0..).zip(&others).map(|(number, left)| Remaining {
            bound: Bound::QueueMax(queue(number)),
            left: vector(left),
        }).collect();
        let of = |rooms: &[Remaining]| {
            rules.headroom(&leaf, (&limited(90, 80), &memory(10)), rooms, &vector(&free)).amounts
        };
        let before = of(&rooms);
        rooms.reverse();
        prop_assert_eq!(before, of(&rooms));
    }
}

#[test]
fn what_a_type_is_bounded_by_is_found_by_its_number() {
    let headroom = of(&smooth("30", None), &limited(30, 40), 0, &[], 99);
    let [one] = headroom.limited_by[..] else { panic!("one type: {headroom:?}") };
    assert_eq!((one.resource, one.bound), (ResourceType::MEMORY, Bound::SoftShare));
    assert_eq!(headroom.amounts.get(ResourceType::VCORE), None::<Quantity>);
}
