//! Comparisons and checks: the predicates of queues-and-limits §1.4.

use super::arithmetic::are_plain;
use super::{Quantity, ResourceType, Resources};

/// First type, in the order of types, that is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// Type that is short.
    pub resource: ResourceType,
    /// Needed amount.
    pub needed: Quantity,
    /// Available amount. Can be negative, and is zero if the type is absent.
    pub available: Quantity,
}

impl Resources {
    /// `FitIn`: returns whether `small` fits. An absent type and a negative amount count as zero.
    #[inline]
    pub fn fits(&self, small: &Self) -> bool {
        let big = self.raw();
        small.raw().iter().enumerate().all(|(lane, small)| {
            // An absent lane is the smallest number, so it needs nothing and has nothing available.
            *small <= big.get(lane).map_or(0, |big| (*big).max(0))
        })
    }

    /// `FitInMaxUndef`: returns whether `small` fits this maximum. An absent type is unlimited, and a negative amount
    /// counts as zero.
    #[inline]
    pub fn allows(&self, small: &Self) -> bool {
        if let (Ok(big), Ok(small)) =
            (<&[i64; 8]>::try_from(self.raw()), <&[i64; 8]>::try_from(small.raw()))
            && are_plain(big, small)
        {
            // A lane is short if it exceeds the maximum and is positive. Then both differences are negative.
            let short = |(big, small): (&i64, &i64)| (big - small) & -small;
            return big.iter().zip(small).map(short).fold(0, |any, one| any | one) >= 0;
        }
        self.raw()
            .iter()
            .zip(small.raw())
            .all(|(big, small)| *big == Self::ABSENT || *small <= (*big).max(0))
    }

    /// `FitInActual`: like [`Resources::allows`], but negative amounts keep their value.
    pub fn allows_actual(&self, small: &Self) -> bool {
        self.raw()
            .iter()
            .zip(small.raw())
            .all(|(big, small)| *big == Self::ABSENT || *small <= *big)
    }

    /// Returns how many times `small` fits in every type, at most `most`.
    pub fn times_that_fit(&self, small: &Self, most: usize) -> usize {
        let needed = small.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        let times = needed.map(|(resource, amount)| {
            let times = self.get_or_zero(resource).get() / amount.get();
            usize::try_from(times).unwrap_or(0)
        });
        times.min().unwrap_or(most).min(most)
    }

    /// Returns the first type in which [`Resources::fits`] fails.
    pub fn shortfall(&self, small: &Self) -> Option<Shortfall> {
        small.iter().find_map(|(resource, needed)| {
            let available = self.get_or_zero(resource);
            (needed > available.max(Quantity::ZERO)).then_some(Shortfall {
                resource,
                needed,
                available,
            })
        })
    }

    /// Returns the first type in which [`Resources::allows`] fails.
    pub fn shortfall_of_limit(&self, small: &Self) -> Option<Shortfall> {
        small.iter().find_map(|(resource, needed)| {
            let available = self.get(resource)?;
            (needed > available.max(Quantity::ZERO)).then_some(Shortfall {
                resource,
                needed,
                available,
            })
        })
    }

    /// `IsZero`: returns whether all amounts are zero.
    pub fn is_zero(&self) -> bool {
        self.iter().all(|(_, amount)| amount == Quantity::ZERO)
    }

    /// `HasNegativeValue`: returns whether any amount is negative.
    pub fn has_negative(&self) -> bool {
        self.iter().any(|(_, amount)| amount < Quantity::ZERO)
    }

    /// `StrictlyGreaterThanZero`: returns whether no amount is negative and at least one is positive.
    pub fn is_strictly_positive(&self) -> bool {
        !self.has_negative() && !self.is_zero()
    }

    /// `Equals` of two present objects. An absent type counts as zero.
    pub fn equals(&self, other: &Self) -> bool {
        self.all(other, |left, right| left.unwrap_or_default() == right.unwrap_or_default())
    }

    /// `Equals` with its rule for missing objects: they equal only each other.
    pub fn equal_objects(left: Option<&Self>, right: Option<&Self>) -> bool {
        match (left, right) {
            (Some(left), Some(right)) => left.equals(right),
            (None, None) => true,
            _ => false,
        }
    }

    /// `EqualsOrEmpty`: a zero and a missing object are equal.
    pub fn equals_or_empty(left: Option<&Self>, right: Option<&Self>) -> bool {
        let is_zero = |one: Option<&Self>| one.is_none_or(Self::is_zero);
        (is_zero(left) && is_zero(right)) || Self::equal_objects(left, right)
    }

    /// `MatchAny`: returns whether both have a common type, regardless of the amounts.
    pub fn shares_type(&self, other: &Self) -> bool {
        !self.all(other, |left, right| left.is_none() || right.is_none())
    }

    /// `StrictlyGreaterThanOrEquals`: returns whether no type is smaller. An absent type counts as zero.
    pub fn is_at_least(&self, other: &Self) -> bool {
        self.all(other, |left, right| left.unwrap_or_default() >= right.unwrap_or_default())
    }

    /// `StrictlyGreaterThan`: returns whether no type is smaller and one is larger. An absent type counts as zero.
    pub fn exceeds(&self, other: &Self) -> bool {
        self.is_at_least(other) && !self.equals(other)
    }

    /// `StrictlyGreaterThanOrEqualsOnlyExisting`: [`Resources::is_at_least`] over the common types. Without common
    /// types, see the table in the specification.
    pub fn is_at_least_existing(&self, other: &Self) -> bool {
        self.compare_existing(other, true)
    }

    /// `StrictlyGreaterThanOnlyExisting`: [`Resources::exceeds`] over the common types.
    pub fn exceeds_existing(&self, other: &Self) -> bool {
        self.compare_existing(other, false)
    }

    fn compare_existing(&self, other: &Self, or_equal: bool) -> bool {
        let common = |left: Option<Quantity>, right: Option<Quantity>| left.zip(right);
        if !self.all(other, |left, right| common(left, right).is_none_or(|(l, r)| l >= r)) {
            return false;
        }
        if other.is_empty() && !self.is_empty() {
            return self.iter().all(|(_, amount)| amount > Quantity::ZERO);
        }
        if self.shares_type(other) {
            return or_equal
                || !self.all(other, |left, right| common(left, right).is_none_or(|(l, r)| l == r));
        }
        !self.is_empty() && !other.is_empty()
    }

    /// `DominantResourceType` of this usage: the type with the largest share of `capacity`.
    ///
    /// Types that are absent in `capacity` do not count. Of equal shares, the last type in the order of `name` wins.
    /// `None` if no type counts.
    pub fn dominant<'names>(
        &self,
        capacity: &Self,
        name: impl Fn(ResourceType) -> &'names str,
    ) -> Option<ResourceType> {
        self.iter()
            .filter(|(resource, _)| capacity.has(*resource))
            .max_by(|(left, used_left), (right, used_right)| {
                super::share::of_capacity(*used_left, capacity.get_or_zero(*left))
                    .total_cmp(&super::share::of_capacity(
                        *used_right,
                        capacity.get_or_zero(*right),
                    ))
                    .then_with(|| name(*left).cmp(name(*right)))
            })
            .map(|(resource, _)| resource)
    }
}
