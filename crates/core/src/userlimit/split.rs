//! Split of an amount among siblings in proportion to their guarantees. No sibling gets more than it wants, or less
//! than it keeps in any case. Source: user-headroom §6, "ideal assignment".

use alloc::vec::Vec;

/// One sibling that takes part in a split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Party {
    /// Guarantee, to which its part is proportional. A sibling without a guarantee gets a part of what the others
    /// leave.
    pub weight: i64,
    /// Amount that it keeps in any case, even if the total is less.
    pub least: i64,
    /// Largest amount that it can use.
    pub most: i64,
}

/// Returns the parts of `total` in the order of the siblings, each rounded down. The sum is at most `total`, unless
/// they already keep more.
///
/// Costs their number times its logarithm.
pub fn split(total: i64, parties: &[Party]) -> Vec<i64> {
    let named = |party: &&Party| party.weight > 0;
    let guaranteed: i128 = parties.iter().filter(|one| !named(one)).map(keeps).sum();
    let level = Level::of(i128::from(total) - guaranteed, parties.iter().filter(named).copied());
    let mut parts: Vec<i64> = parties.iter().map(|one| level.part(one)).collect();
    let mut all = parties.iter().zip(&parts);
    if all.any(|(party, part)| party.weight > 0 && *part < party.most) {
        return parts; // What was rounded away stays so.
    }
    let given: i128 = parts.iter().copied().map(i128::from).sum();
    // Siblings without a guarantee are last, with equal weights.
    let alike = |party: &Party| Party { weight: 1, ..*party };
    let others = parties.iter().filter(|one| !named(one)).map(alike);
    let rest = Level::of(i128::from(total) - given + guaranteed, others);
    for (part, party) in parts.iter_mut().zip(parties).filter(|(_, party)| !named(party)) {
        *part = rest.part(&alike(party));
    }
    parts
}

fn keeps(party: &Party) -> i128 {
    i128::from(party.least.min(party.most).max(0))
}

/// Amount for each unit of weight, for siblings that neither keep more nor want less.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Numerator and denominator, both at least zero.
    amount: i128,
    weight: i128,
}

impl Level {
    /// Returns the highest level that gives at most `total`. It exceeds all wants if there is enough.
    fn of(total: i128, parties: impl Iterator<Item = Party>) -> Self {
        let parties: Vec<Party> = parties.collect();
        // Levels from which a sibling gets more than it keeps, or has all that it wants.
        let mut bends: Vec<Self> = parties
            .iter()
            .flat_map(|one| [keeps(one), i128::from(one.most.max(0))].map(|at| (at, one.weight)))
            .map(|(amount, weight)| Self { amount, weight: i128::from(weight) })
            .collect();
        bends.sort_by(|one, other| (one.amount * other.weight).cmp(&(other.amount * one.weight)));
        let within = bends.partition_point(|level| !level.gives_more_than(total, &parties));
        let Some(from) = within.checked_sub(1).map(|last| bends[last]) else {
            return Self { amount: 0, weight: 1 };
        };
        let moving = |party: &&Party| from.is_below_wish_of(party) && from.is_at_least_kept(party);
        let weight: i128 = parties.iter().filter(moving).map(|one| i128::from(one.weight)).sum();
        if within == bends.len() || weight == 0 {
            return from;
        }
        let still = parties.iter().filter(|one| !moving(one));
        let given: i128 = still.map(|party| i128::from(from.part(party))).sum();
        Self { amount: (total - given).max(0), weight }
    }

    /// Returns whether the sum of all parts is more than this, exactly.
    fn gives_more_than(self, total: i128, parties: &[Party]) -> bool {
        let parts = parties.iter().map(|party| {
            let part = self.amount * i128::from(party.weight);
            let most = i128::from(party.most.max(0)) * self.weight;
            part.min(most).max(keeps(party) * self.weight)
        });
        parts.fold(0_i128, i128::saturating_add) > total.saturating_mul(self.weight)
    }

    fn part(self, party: &Party) -> i64 {
        let part = self.amount * i128::from(party.weight) / self.weight.max(1);
        let part = part.min(i128::from(party.most.max(0))).max(keeps(party));
        i64::try_from(part).unwrap_or(i64::MAX)
    }

    fn is_below_wish_of(self, party: &Party) -> bool {
        self.amount * i128::from(party.weight) < i128::from(party.most.max(0)) * self.weight
    }

    fn is_at_least_kept(self, party: &Party) -> bool {
        self.amount * i128::from(party.weight) >= keeps(party) * self.weight
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    /// Creates a sibling with this guarantee, usage, and additional demand.
    fn party(weight: i64, used: i64, wanted: i64) -> Party {
        Party { weight, least: used.min(weight), most: used + wanted }
    }

    #[test]
    #[doc(alias = "UH-24")]
    #[doc(alias = "UH-25")]
    fn two_that_want_more_than_they_are_guaranteed() {
        // A and B are guaranteed 30 each. C is guaranteed 40 and wants nothing.
        let idle = party(40, 0, 0);
        assert_eq!(split(100, &[party(30, 76, 60), party(30, 24, 6), idle]), [70, 30, 0]);
        assert_eq!(split(100, &[party(30, 68, 60), party(30, 32, 8), idle]), [60, 40, 0]);
        // In CapacityScheduler 3, a leaf gets at most its guarantee or its usage.
        let capped = Party { most: 32, ..party(30, 32, 8) };
        assert_eq!(split(100, &[party(30, 68, 60), capped, idle]), [68, 32, 0]);
    }

    #[test]
    fn scene_2b_climbs_to_the_middle() {
        let ideal = |used: i64, demand: i64| {
            split(100, &[party(30, 100 - used, 200), party(30, used, demand), party(40, 0, 0)])
        };
        assert_eq!(ideal(0, 30), [70, 30, 0]);
        assert_eq!(ideal(32, 8), [60, 40, 0]);
        assert_eq!(ideal(40, 8), [52, 48, 0]);
        assert_eq!(ideal(48, 8), [50, 50, 0]);
    }

    #[test]
    fn whoever_is_guaranteed_nothing_gets_what_is_left_each_alike() {
        let nothing = |used, wanted| party(0, used, wanted);
        let all = [party(60, 60, 10), nothing(0, 50), nothing(3, 50), nothing(0, 5)];
        assert_eq!(split(100, &all), [70, 12, 12, 5], "one is rounded away");
        assert_eq!(split(40, &all), [60, 0, 0, 0], "guaranteed amounts stay");
    }

    #[test]
    fn what_is_kept_is_no_less_though_there_is_less() {
        let keeps = Party { weight: 10, least: 50, most: 80 };
        assert_eq!(split(60, &[keeps, party(50, 0, 50)]), [50, 10]);
        assert_eq!(split(0, &[keeps]), [50]);
        assert_eq!(split(-5, &[party(1, 0, 3)]), [0]);
        assert_eq!(split(9, &[]), [0; 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn a_split_is_fair(
            total in 0..2_000_i64,
            parties in proptest::collection::vec((0..40_i64, 0..300_i64, 0..300_i64), 0..7),
        ) {
            let parties: Vec<Party> =
                parties.into_iter().map(|(weight, least, more)| Party { weight, least, most: least + more }).collect();
            let parts = split(total, &parties);
            let guaranteed: i64 = parties.iter().map(|one| one.least).sum();
            let given: i64 = parts.iter().sum();
            prop_assert!(given <= total.max(guaranteed));
            let all = parties.iter().zip(&parts);
            for (party, part) in all.clone() {
                prop_assert!(party.least <= *part && *part <= party.most);
            }
            let hungry = all.clone().filter(|(party, part)| **part < party.most).count();
            let rounded = i64::try_from(hungry).unwrap();
            prop_assert!(hungry == 0 || given >= total.max(guaranteed) - rounded, "{given} of {total}: {parts:?}");
            for (poor, less) in all.clone().filter(|(party, part)| party.weight > 0 && **part < party.most) {
                for (rich, more) in all.clone().filter(|(party, part)| **part > party.least) {
                    // By weight, no sibling that could give has more than a sibling that wants more.
                    let fair = rich.weight > 0 && more * poor.weight <= (less + 1) * rich.weight;
                    prop_assert!(fair, "{poor:?} has {less}, {rich:?} {more}");
                }
            }
        }

        #[test]
        fn no_number_is_too_large(
            total in any::<i64>(),
            parties in proptest::collection::vec((0..=i64::MAX, any::<i64>(), any::<i64>()), 0..5),
        ) {
            let parties: Vec<Party> =
                parties.into_iter().map(|(weight, least, most)| Party { weight, least, most }).collect();
            let parts = split(total, &parties);
            for (party, part) in parties.iter().zip(parts) {
                prop_assert!(part >= 0 && part <= party.most.max(0));
            }
        }
    }

    #[test]
    fn large_numbers_are_split_exactly() {
        let half = i64::MAX / 2;
        let all = vec![Party { weight: half, least: 0, most: i64::MAX }; 2];
        assert_eq!(split(i64::MAX, &all), [half, half]);
    }
}
