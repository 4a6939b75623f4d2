//! Exact fractions of amounts.
//!
//! A fraction of a fraction has as many digits as its percentages and weights together. It is rounded only once, when
//! it is converted to an amount. Source: decision 23.

use core::cmp::Ordering;

use smallvec::{SmallVec, smallvec};

use crate::resource::{Quantity, ResourceType, Resources, Sections};

/// Natural number of any size, lowest limb first. The last limb is not zero.
type Natural = SmallVec<[u64; 2]>;

/// Exact fraction that is not negative.
#[derive(Clone, Debug)]
pub(crate) struct Ratio {
    top: Natural,
    bottom: Natural,
}

impl Ratio {
    /// Returns one.
    pub(crate) fn one() -> Self {
        Self { top: smallvec![1], bottom: smallvec![1] }
    }

    /// Returns zero.
    pub(crate) fn zero() -> Self {
        Self { top: SmallVec::new(), bottom: smallvec![1] }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.top.is_empty()
    }

    /// Returns the fraction times `parts / all`. Zero if `all` is zero.
    pub(crate) fn times(&self, parts: u64, all: u64) -> Self {
        if parts == 0 || all == 0 || self.is_zero() {
            return Self::zero();
        }
        let common = common(parts, all);
        let (mut parts, mut all) = (parts / common, all / common);
        let (mut top, mut bottom) = (self.top.clone(), self.bottom.clone());
        // Cancel common factors of small numbers, so that they stay small. Large numbers are exact without that.
        if let [low] = top.as_mut_slice() {
            let common = self::common(*low, all);
            (*low, all) = (*low / common, all / common);
        }
        if let [low] = bottom.as_mut_slice() {
            let common = self::common(*low, parts);
            (*low, parts) = (*low / common, parts / common);
        }
        Self { top: product(&top, parts), bottom: product(&bottom, all) }
    }

    /// Returns the fraction of an amount, rounded down. Zero for a negative amount.
    pub(crate) fn of(&self, whole: u64) -> u64 {
        if let ([top], [bottom]) = (self.top.as_slice(), self.bottom.as_slice()) {
            let part = u128::from(whole) * u128::from(*top) / u128::from(*bottom).max(1);
            return u64::try_from(part).unwrap_or(u64::MAX);
        }
        let wanted = product(&self.top, whole);
        // Binary search, bit by bit, for the largest number whose product with the denominator is not greater.
        let fits = |number: u64| compare(&product(&self.bottom, number), &wanted).is_le();
        (0..u64::BITS).rev().fold(0, |found, bit| {
            let next = found | (1 << bit);
            if fits(next) { next } else { found }
        })
    }
}

/// Returns the greatest common divisor of two positive numbers.
const fn common(mut left: u64, mut right: u64) -> u64 {
    while right > 0 {
        (left, right) = (right, left % right);
    }
    left
}

fn product(number: &Natural, times: u64) -> Natural {
    if times == 0 {
        return Natural::new();
    }
    let mut result = Natural::with_capacity(number.len() + 1);
    let mut carry = 0_u64;
    for limb in number {
        let sum = u128::from(*limb) * u128::from(times) + u128::from(carry);
        #[expect(clippy::cast_possible_truncation, reason = "the limb is the lower half")]
        result.push(sum as u64);
        carry = (sum >> 64) as u64;
    }
    if carry > 0 {
        result.push(carry);
    }
    result
}

fn compare(left: &Natural, right: &Natural) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.iter().rev().cmp(right.iter().rev()))
}

/// Amounts by type, each an exact fraction of a whole. Types without an amount are absent.
#[derive(Clone, Debug, Default)]
pub(crate) struct FractionVector {
    /// Wholes with their fractions. Each type is in at most one group.
    groups: SmallVec<[(Resources, Ratio); 1]>,
}

impl FractionVector {
    /// Returns the complete amounts.
    pub(crate) fn all(amounts: Resources) -> Self {
        if amounts.is_empty() {
            return Self::default();
        }
        Self { groups: smallvec![(amounts, Ratio::one())] }
    }

    /// Returns each amount times `parts / all`.
    pub(crate) fn times(&self, parts: u64, all: u64) -> Self {
        if parts == all && parts > 0 {
            return self.clone();
        }
        let groups = self.groups.iter();
        let of = |(whole, ratio): &(Resources, Ratio)| (whole.clone(), ratio.times(parts, all));
        Self { groups: groups.map(of).collect() }
    }

    /// Returns the amounts of one section.
    pub(crate) fn only(&self, sections: &Sections, section: usize) -> Self {
        let mut groups = self.groups.clone();
        if !sections.is_single() {
            for (whole, _) in &mut groups {
                *whole = sections.only(section, whole);
            }
            groups.retain(|(whole, _)| !whole.is_empty());
        }
        Self { groups }
    }

    /// Adds amounts of other types.
    pub(crate) fn join(&mut self, others: Self) {
        self.groups.extend(others.groups);
    }

    /// Returns the amounts, rounded down.
    pub(crate) fn amounts(&self) -> Resources {
        let mut amounts = Resources::new();
        for (whole, ratio) in &self.groups {
            for (resource, whole) in whole.iter() {
                let whole = u64::try_from(whole.get()).unwrap_or(0);
                let part = i64::try_from(ratio.of(whole)).unwrap_or(i64::MAX);
                amounts.set(resource, Quantity::of(part));
            }
        }
        amounts
    }

    /// Returns the amount of one type, rounded down.
    pub(crate) fn amount(&self, resource: ResourceType) -> u64 {
        let group = self.groups.iter().find(|(whole, _)| whole.has(resource));
        group.map_or(0, |(whole, ratio)| {
            ratio.of(u64::try_from(whole.get_or_zero(resource).get()).unwrap_or(0))
        })
    }

    /// Returns each amount limited to `most`. Amounts that are not lowered stay exact.
    pub(crate) fn at_most(mut self, most: &Resources) -> Self {
        let mut lowered = Resources::new();
        for (resource, amount) in self.amounts().iter() {
            if let Some(most) = most.get(resource).filter(|most| *most < amount) {
                lowered.set(resource, most);
            }
        }
        if lowered.is_empty() {
            return self;
        }
        for (whole, _) in &mut self.groups {
            for (resource, _) in lowered.iter() {
                whole.remove(resource);
            }
        }
        self.groups.retain(|(whole, _)| !whole.is_empty());
        self.groups.push((lowered, Ratio::one()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: u64 = 100_000_000;

    fn percent(of: &Ratio, percent: u64) -> Ratio {
        of.times(percent * 1_000_000, WHOLE)
    }

    /// M-10: 2 % of 100 is 2 and 70 % of 100 is 70, not one less.
    #[test]
    fn a_part_is_exact_and_rounded_once() {
        let one = Ratio::one();
        assert_eq!(percent(&one, 2).of(100), 2);
        assert_eq!(percent(&one, 70).of(100), 70);
        let third = one.times(1, 3);
        assert_eq!(third.of(100), 33);
        assert_eq!(third.times(3, 1).of(100), 100, "a third of it, three times, is all");
        let half_of_odd = percent(&one, 50).times(1, 1);
        assert_eq!(half_of_odd.of(3), 1);
        assert_eq!(percent(&half_of_odd, 50).times(4, 1).of(3), 3, "no level rounds");
        assert_eq!(one.of(u64::MAX), u64::MAX);
        assert_eq!(Ratio::zero().of(7), 0);
        assert!(one.times(0, 5).is_zero() && one.times(5, 0).is_zero());
    }

    #[test]
    fn parts_of_parts_are_exact_however_deep() {
        // Prime numbers do not cancel: 99999989/100000007 a hundred times.
        let (mut down, mut back) = (Ratio::one(), Ratio::one());
        for _ in 0..100 {
            down = down.times(99_999_989, 100_000_007);
            back = back.times(99_999_989, 100_000_007);
        }
        for _ in 0..100 {
            back = back.times(100_000_007, 99_999_989);
        }
        assert!(down.top.len() > 40, "it does not fit into words");
        // (1 - 18/100000007)^100 of 10^18, computed separately to 40 digits.
        assert_eq!(down.of(1_000_000_000_000_000_000), 999_982_000_161_639_034);
        assert_eq!(back.of(1_000_000_000_000_000_000), 1_000_000_000_000_000_000);
        assert_eq!(percent(&down, 50).of(1), 0);
    }

    #[test]
    fn what_is_lowered_is_apart_from_what_is_not() {
        let amounts = |memory, vcore| -> Resources {
            let types = [(ResourceType::MEMORY, memory), (ResourceType::VCORE, vcore)];
            types.into_iter().map(|(one, amount)| (one, Quantity::of(amount))).collect()
        };
        let third = FractionVector::all(amounts(100, 100)).times(1, 3);
        assert_eq!(third.amounts(), amounts(33, 33));
        let most: Resources = [(ResourceType::VCORE, Quantity::of(20))].into_iter().collect();
        let lowered = third.at_most(&most);
        assert_eq!(lowered.amounts(), amounts(33, 20));
        assert_eq!(lowered.times(3, 1).amounts(), amounts(100, 60));
        assert_eq!(lowered.amount(ResourceType::VCORE), 20);
        assert_eq!(lowered.amount(ResourceType::at(5)), 0);
    }
}
