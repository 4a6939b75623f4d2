//! What holds of our formula for all numbers, in two types at once.

use headroom_core::id::{Id, QueueId, Slot};
use headroom_core::resource::{Quantity, Resources};
use headroom_core::userlimit::{
    Among, Bound, Calculator, Decimal, Formula, Leaf, Limit, Remaining, Rules, ShareQuery,
};
use proptest::prelude::*;

use super::{decimal, vector};

type Pair = [i64; 2];

/// A leaf, its rules and one of its users, in numbers.
#[derive(Clone, Copy, Debug)]
struct Case {
    guaranteed: Pair,
    max: Pair,
    used_active: Pair,
    used_inactive: Pair,
    users: u32,
    /// Percent.
    floor: u32,
    /// Hundredths.
    factor: Option<u32>,
    /// Hundredths.
    weight: u32,
    ask: Pair,
    step: Pair,
}

fn pairs(most: i64) -> impl Strategy<Value = Pair> {
    prop_oneof![[0..=most, 0..=most], [0..=20, 0..=20_i64]]
}

prop_compose! {
    fn cases()(
        guaranteed in pairs(1 << 50),
        max in pairs(1 << 51),
        used_active in pairs(1 << 50),
        used_inactive in pairs(1 << 50),
        users in 1..1_000_u32,
        floor in 0..=100_u32,
        factor in proptest::option::of(1..1_000_u32),
        weight in 1..=100_u32,
        ask in pairs(1 << 40),
        step in pairs(1 << 30),
    ) -> Case {
        Case {
            guaranteed, max, used_active, used_inactive, users, floor, factor, weight, ask, step,
        }
    }
}

fn hundredths(number: u32) -> Decimal {
    decimal(&format!("{}.{:02}", number / 100, number % 100))
}

impl Case {
    fn rules(self) -> Rules {
        Rules {
            formula: Formula::Smooth,
            calculator: Calculator::Componentwise,
            floor: Decimal::whole(self.floor),
            factor: self.factor.map(hundredths),
            step: vector(&self.step),
            ..Rules::default()
        }
    }

    fn leaf(self) -> Leaf {
        let (used_active, inactive) = (vector(&self.used_active), vector(&self.used_inactive));
        Leaf {
            total: vector(&[1 << 55, 1 << 55]),
            guaranteed: vector(&self.guaranteed),
            max: vector(&self.max),
            used: used_active.plus(&inactive),
            used_active,
            active: self.users.into(),
            active_weight: Decimal::whole(self.users - 1).plus(hundredths(self.weight)),
            dominant: Resources::new(),
            sections: None,
        }
    }

    fn limit(self) -> Limit {
        self.limit_with(&self.leaf())
    }

    fn limit_with(self, leaf: &Leaf) -> Limit {
        let ask = vector(&self.ask);
        let part = ShareQuery { weight: hundredths(self.weight), among: Among::Active, ask: &ask };
        self.rules().limit(leaf, part)
    }
}

fn is_no_less(more: &Limit, less: &Limit) -> bool {
    more.soft.is_at_least(&less.soft)
        && more.hard.is_at_least(&less.hard)
        && more.limit.is_at_least(&less.limit)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn more_use_of_active_users_lowers_no_limit(case in cases(), more in pairs(1 << 40)) {
        let [a, b] = case.used_active;
        let later = Case { used_active: [a + more[0], b + more[1]], ..case };
        prop_assert!(is_no_less(&later.limit(), &case.limit()));
    }

    #[test]
    fn more_capacity_lowers_no_limit(case in cases(), more in pairs(1 << 40)) {
        // A type that nothing was guaranteed of had no cap by the factor; so it is not looked at.
        prop_assume!(case.guaranteed.iter().all(|amount| *amount > 0));
        let [a, b] = case.guaranteed;
        let larger = Case { guaranteed: [a + more[0], b + more[1]], ..case };
        prop_assert!(is_no_less(&larger.limit(), &case.limit()));
    }

    #[test]
    fn a_higher_floor_lowers_no_limit(case in cases(), floor in 0..=100_u32) {
        let higher = Case { floor: case.floor.max(floor), ..case };
        prop_assert!(is_no_less(&higher.limit(), &case.limit()));
    }

    #[test]
    fn a_higher_factor_lowers_no_limit(case in cases(), factor in 1..1_000_u32) {
        let Some(now) = case.factor else { return Ok(()) };
        let higher = Case { factor: Some(now.max(factor)), ..case };
        prop_assert!(is_no_less(&higher.limit(), &case.limit()));
    }

    #[test]
    fn a_higher_weight_lowers_no_limit(case in cases(), weight in 1..=100_u32) {
        let higher = Case { weight: case.weight.max(weight), ..case };
        prop_assert!(is_no_less(&higher.limit(), &case.limit()));
    }

    #[test]
    fn one_more_user_raises_no_limit(case in cases()) {
        let more = Case { users: case.users + 1, ..case };
        prop_assert!(is_no_less(&case.limit(), &more.limit()));
    }

    #[test]
    fn headroom_is_within_all_that_bounds_it(case in cases(), used in pairs(1 << 50), free in pairs(1 << 50)) {
        let (leaf, limit) = (case.leaf(), case.limit());
        let [used, free] = [used, free].map(|pair| vector(&pair));
        let left = leaf.max.minus_existing(&leaf.used);
        let queue = Bound::QueueMax(QueueId::from_slot(Slot::new(0, 0)));
        let others = [Remaining { bound: queue, left: left.clone() }];
        let headroom = case.rules().headroom(&leaf, (&limit, &used), &others, &free).amounts;
        let left = [free.clone(), left, limit.limit.minus_existing(&used)];
        for (resource, amount) in headroom.iter() {
            let of_it = left.iter().filter_map(|left| left.get(resource));
            let least = of_it.min().unwrap_or_default().max(Quantity::ZERO);
            let step = Quantity::of(case.step[resource.lane()]).max(Quantity::of(1));
            prop_assert!(Quantity::ZERO <= amount && amount <= least);
            prop_assert!(least.minus(amount) < step, "{amount:?} of {least:?}");
            let is_whole = amount.get() % step.get() == 0;
            prop_assert!(is_whole || amount == free.get_or_zero(resource), "{amount:?}");
        }
        prop_assert_eq!(headroom.len(), 2);
    }

    /// The proof that there is no dead zone: the shares of all active users exceed their usage, in each type that is
    /// split, so that in each type some user is below the share.
    #[test]
    fn the_shares_of_the_active_are_more_than_they_use(
        case in cases(),
        weights in prop::collection::vec(1..=100_u32, 1..20),
    ) {
        let all = weights.iter().map(|weight| hundredths(*weight)).fold(Decimal::ZERO, Decimal::plus);
        let leaf = Leaf {
            active: weights.len() as u64,
            active_weight: all,
            ..case.leaf()
        };
        let mut shares = Resources::new();
        for weight in weights {
            shares.add(&Case { weight, ..case }.limit_with(&leaf).soft);
        }
        for (resource, share) in shares.iter() {
            let used = leaf.used_active.get_or_zero(resource);
            let ask = Quantity::of(case.ask[resource.lane()]);
            prop_assert!(share >= used.plus(ask), "{share:?} of {used:?} and {ask:?}");
        }
    }
}
