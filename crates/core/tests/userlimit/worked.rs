//! What a limit was worked out from, value by value, for the worked examples that name one.

use headroom_core::resource::Resources;
use headroom_core::userlimit::{
    Among, Calculator, Decimal, Enforcement, Formula, Leaf, LimitDerivation, Rules, ShareQuery,
};
use proptest::prelude::*;

use super::{decimal, leaf, memory, smooth, vector, yarn};

fn worked(rules: &Rules, leaf: &Leaf, weight: &str, ask: i64) -> LimitDerivation {
    let part = ShareQuery { weight: decimal(weight), among: Among::Active, ask: &memory(ask) };
    rules.worked(leaf, part)
}

#[test]
fn yarn27_shows_what_is_split_and_both_bounds_of_a_share() {
    let of = worked(&yarn(Formula::Yarn27, "30", Some("2.5")), &leaf(40, 44, 2), "1", 8);
    assert_eq!((of.capacity, of.consumed), (memory(40), None));
    assert_eq!((of.base, of.whole), (memory(52), memory(52)));
    assert_eq!((of.equal, of.floor, of.cap), (memory(26), memory(16), Some(memory(100))));
    assert_eq!(of.limit.limit, memory(26));
}

#[test]
fn yarn3_shows_what_is_consumed_and_the_base_of_active_users() {
    let leaf = Leaf { active_weight: decimal("2.5"), ..leaf(100, 60, 2) };
    let of = worked(&yarn(Formula::Yarn3, "25", Some("1")), &leaf, "1.5", 8);
    assert_eq!((of.consumed, of.base), (Some(memory(60)), memory(61)));
    assert_eq!((of.whole, of.equal, of.floor), (memory(100), memory(25), memory(25)));
    assert_eq!((of.cap, of.limit.limit), (Some(memory(100)), memory(37)));
}

#[test]
fn smooth_shows_shares_by_weight_and_the_cap_before_the_maximum() {
    let leaf = Leaf {
        max: memory(150),
        used_active: memory(70),
        active_weight: decimal("2.5"),
        ..leaf(100, 110, 2)
    };
    let of = worked(&smooth("10", Some("2")), &leaf, "1.5", 8);
    // 1.5 of 2.5 of 78, 1.5 times a tenth of 118, 1.5 times 200.
    assert_eq!((of.base, of.whole), (memory(78), memory(118)));
    assert_eq!((of.equal, of.floor, of.cap), (memory(47), memory(18), Some(memory(300))));
    assert_eq!((of.limit.soft, of.limit.hard), (memory(47), memory(150)));
    assert_eq!(worked(&smooth("10", None), &leaf, "1", 8).cap, None, "no factor");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5_000) })]

    /// The limit that holds and the one that is shown are the same.
    #[test]
    fn what_is_shown_leads_to_the_limit(
        kinds in (0..3_usize, 0..3_usize),
        (guaranteed, max, used) in ([0..90_i64, 0..90], [0..200_i64, 0..200], [0..90_i64, 0..90]),
        inactive in [0..90_i64, 0..90],
        (users, weight) in (0..5_u32, 1..4_u32),
        (floor, factor) in (0..=100_u32, proptest::option::of(1..4_u32)),
        ask in [0..20_i64, 0..20],
        step in [0..9_i64, 0..9],
        all in any::<bool>(),
    ) {
        let rules = Rules {
            formula: [Formula::Yarn27, Formula::Yarn3, Formula::Smooth][kinds.0],
            calculator: [Calculator::Componentwise, Calculator::Dominant, Calculator::Memory][kinds.1],
            enforcement: Enforcement::Progress,
            floor: Decimal::whole(floor),
            factor: factor.map(Decimal::whole),
            step: vector(&step),
        };
        let used_active = vector(&used);
        let leaf = Leaf {
            total: vector(&[300, 200]),
            guaranteed: vector(&guaranteed),
            max: vector(&max),
            used: used_active.plus(&vector(&inactive)),
            dominant: used_active.clone(),
            used_active,
            active: users.into(),
            active_weight: Decimal::whole(users),
            sections: None,
        };
        let among = if all { Among::All(Decimal::whole(users + 1)) } else { Among::Active };
        let part = ShareQuery { weight: Decimal::whole(weight), among, ask: &vector(&ask) };
        let worked = rules.worked(&leaf, part);
        prop_assert_eq!(&worked.limit, &rules.limit(&leaf, part));
        if rules.formula == Formula::Smooth {
            let share = worked.equal.maximum(&worked.floor);
            prop_assert!(worked.limit.soft.is_at_least(&share), "rounded up");
            if let Some(cap) = &worked.cap {
                let max: &Resources = &leaf.max;
                let counts = |of: &Resources| rules.cap(&leaf, part.weight, &vector(&ask)).min_existing(of);
                prop_assert_eq!(&worked.limit.hard, &counts(cap).min_existing(max));
            }
        }
    }
}
