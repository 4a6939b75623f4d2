//! The formulas of CapacityScheduler against their closed forms, in whole numbers of one type and
//! written another way.

use headroom_core::userlimit::{Decimal, Formula, Leaf, Rules};
use proptest::prelude::*;

use super::{in_memory, limits, memory, yarn};

/// A leaf and its rules in numbers.
#[derive(Clone, Copy, Debug)]
struct Case {
    capacity: i128,
    max: i128,
    used: i128,
    active: i128,
    users: i128,
    floor: i128,
    /// In tenths.
    factor: i128,
    ask: i128,
    step: i128,
}

prop_compose! {
    fn cases()(
        capacity in 0..200_i128,
        max in 1..400_i128,
        (used, active) in (0..400_i128).prop_flat_map(|used| (Just(used), 0..=used)),
        users in 1..8_i128,
        floor in 1..=100_i128,
        factor in 1..50_i128,
        ask in 1..40_i128,
        step in 1..20_i128,
    ) -> Case {
        Case { capacity, max, used, active, users, floor, factor, ask, step }
    }
}

/// Up to whole numbers of something.
fn up(number: i128, step: i128) -> i128 {
    (number + step - 1) / step * step
}

impl Case {
    fn rules(self, formula: Formula) -> Rules {
        let factor = format!("{}.{}", self.factor / 10, self.factor % 10);
        let rules = yarn(formula, &self.floor.to_string(), Some(&factor));
        Rules { step: small(self.step), ..rules }
    }

    fn leaf(self) -> Leaf {
        let users = u32::try_from(self.users).expect("few");
        Leaf {
            total: memory(1_000),
            guaranteed: small(self.capacity),
            max: small(self.max),
            used: small(self.used),
            used_active: small(self.active),
            active: users.into(),
            active_weight: Decimal::whole(users),
            dominant: small(self.used),
            sections: None,
        }
    }

    fn limit(self, formula: Formula) -> i128 {
        let ask = i64::try_from(self.ask).expect("small");
        let limit = limits(&self.rules(formula), &self.leaf(), Decimal::ONE, ask).limit;
        in_memory(&limit).into()
    }
}

fn small(number: i128) -> headroom_core::resource::Resources {
    memory(i64::try_from(number).expect("small"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    /// The share is the larger of an equal part and the floor, of a constant below the capacity and
    /// of what is used and the ask above.
    #[test]
    fn yarn27_is_piecewise_linear(case in cases()) {
        let queue = case.capacity.max(case.ask);
        let split = if case.used < queue { queue } else { case.used + case.ask };
        // An equal part is the larger one as long as there are at most 100 / p users.
        let share = if case.users * case.floor <= 100 {
            (split + case.users - 1) / case.users
        } else {
            (split * case.floor + 99) / 100
        };
        let expected = up(share.min(queue * case.factor / 10), case.step);
        prop_assert_eq!(case.limit(Formula::Yarn27), expected);
    }

    #[test]
    fn yarn3_splits_what_active_users_have_and_a_step(case in cases()) {
        let queue = case.capacity.max(case.step);
        let consumed = up(case.used, case.step);
        let split = if consumed < queue { queue } else { consumed + case.step };
        let equal = (case.active + case.step + case.users - 1) / case.users;
        let floor = (split * case.floor + 99) / 100;
        let cap = if case.capacity == 0 {
            case.max / case.step * case.step
        } else {
            queue * case.factor / 10
        };
        let expected = up(equal.max(floor).min(cap), case.step);
        prop_assert_eq!(case.limit(Formula::Yarn3), expected);
    }
}
