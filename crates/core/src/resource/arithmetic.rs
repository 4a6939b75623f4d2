//! Sums, differences, products, and minima: the operations of queues-and-limits §1.4.
//!
//! An absent type counts as zero unless a comment states otherwise. Where the specification distinguishes *no object*
//! from *empty object*, the caller has an `Option`.

use super::{Quantity, Resources};

impl Resources {
    /// `Add`: sum over the union of types.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.zip(other, |left, right| {
            Some(left.unwrap_or_default().plus(right.unwrap_or_default()))
        })
    }

    /// `Sub`: difference over the union of types. Can be negative.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.zip(other, |left, right| {
            Some(left.unwrap_or_default().minus(right.unwrap_or_default()))
        })
    }

    /// `AddTo`: adds in place, over the union of types.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        if !plainly(self.raw_mut(), other.raw(), i64::wrapping_add) {
            let mine = self.lanes_mut(other.raw().len());
            accumulate(mine, other.raw(), i64::saturating_add);
        }
    }

    /// Adds in place if no sum overflows 64 bits; otherwise, changes nothing. Returns whether it added.
    #[inline]
    pub(crate) fn add_within(&mut self, other: &Self) -> bool {
        if plainly(self.raw_mut(), other.raw(), i64::wrapping_add) {
            return true;
        }
        let fits = other.iter().all(|(resource, amount)| {
            let sum = self.get_or_zero(resource).get().checked_add(amount.get());
            sum.is_some_and(|sum| sum != i64::MIN)
        });
        if fits {
            self.add(other);
        }
        fits
    }

    /// `SubFrom`: subtracts in place, over the union of types. Can be negative.
    #[inline]
    pub fn subtract(&mut self, other: &Self) {
        if !plainly(self.raw_mut(), other.raw(), i64::wrapping_sub) {
            let mine = self.lanes_mut(other.raw().len());
            accumulate(mine, other.raw(), i64::saturating_sub);
        }
    }

    /// `AddOnlyExisting` in place: changes only types that are present here.
    #[inline]
    pub fn add_existing(&mut self, other: &Self) {
        let mine = self.lanes_mut(0);
        if !plainly(mine, other.raw(), i64::wrapping_add) {
            accumulate_existing(mine, other.raw(), i64::saturating_add);
        }
    }

    /// `SubOnlyExisting` in place: changes only types that are present here.
    #[inline]
    pub fn subtract_existing(&mut self, other: &Self) {
        let mine = self.lanes_mut(0);
        if !plainly(mine, other.raw(), i64::wrapping_sub) {
            accumulate_existing(mine, other.raw(), i64::saturating_sub);
        }
    }

    /// `SubOnlyExisting`: difference in the types of `self`.
    #[must_use]
    pub fn minus_existing(&self, other: &Self) -> Self {
        let mut result = self.clone();
        result.subtract_existing(other);
        result
    }

    /// `AddOnlyExisting`: sum in the types of `self`.
    #[must_use]
    pub fn plus_existing(&self, other: &Self) -> Self {
        let mut result = self.clone();
        result.add_existing(other);
        result
    }

    /// `SubEliminateNegative`: difference over the union of types. A type of `other` that would become negative becomes
    /// zero. Types that only `self` has do not change, even if negative.
    #[must_use]
    pub fn minus_floored(&self, other: &Self) -> Self {
        self.zip(other, |left, right| match right {
            None => left,
            Some(right) => Some(left.unwrap_or_default().minus(right).max(Quantity::ZERO)),
        })
    }

    /// `SubErrorNegative`: [`Resources::minus_floored`], together with the negative amounts that were replaced by zero.
    /// The latter are empty if there were none.
    #[must_use]
    pub fn minus_checked(&self, other: &Self) -> (Self, Self) {
        let below = self.zip(other, |left, right| {
            let rest = left.unwrap_or_default().minus(right?);
            (rest < Quantity::ZERO).then_some(rest)
        });
        (self.minus_floored(other), below)
    }

    /// `Multiply` by an integer, saturating. A factor of zero removes all types.
    #[must_use]
    pub fn times(&self, factor: i64) -> Self {
        if factor == 0 {
            return Self::new();
        }
        self.map(|amount| Some(amount.times(factor)))
    }

    /// `MultiplyBy` a ratio: each product is truncated toward zero and saturates. A ratio of zero removes all types,
    /// and NaN counts as zero.
    #[must_use]
    #[expect(
        clippy::float_arithmetic,
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "queues-and-limits §1.3 defines this product in floating point"
    )]
    pub fn times_ratio(&self, ratio: f64) -> Self {
        if ratio == 0.0 || ratio.is_nan() {
            return Self::new();
        }
        // `as` truncates toward zero and saturates, as the specification requires.
        self.map(|amount| Some(Quantity::of((amount.get() as f64 * ratio) as i64)))
    }

    /// `ComponentWiseMin` of two present objects, over the union of types. An absent type is unlimited, so the other
    /// amount is the result.
    #[must_use]
    pub fn minimum(&self, other: &Self) -> Self {
        self.zip(other, |left, right| match (left, right) {
            (Some(left), Some(right)) => Some(left.min(right)),
            (one, None) | (None, one) => one,
        })
    }

    /// Returns the lower amount of each type that both have. The result exceeds neither if an absent type is zero.
    #[must_use]
    pub(crate) fn minimum_of_present(&self, other: &Self) -> Self {
        self.zip(other, |left, right| Some(left?.min(right?)))
    }

    /// `ComponentWiseMin` with its rule for missing objects: returns the other one, and `None` if both are missing.
    pub fn min_of(left: Option<&Self>, right: Option<&Self>) -> Option<Self> {
        match (left, right) {
            (Some(left), Some(right)) => Some(left.minimum(right)),
            (one, None) | (None, one) => one.cloned(),
        }
    }

    /// `ComponentWiseMinOnlyExisting`: the types of `self`, lowered where `other` is lower.
    #[must_use]
    pub fn min_existing(&self, other: &Self) -> Self {
        self.zip(other, |left, right| match (left, right) {
            (Some(left), Some(right)) => Some(left.min(right)),
            (left, _) => left,
        })
    }

    /// `ComponentWiseMax` of two present objects, over the union of types. An absent type counts as zero. (For a
    /// missing object, the result of the specification is empty.)
    #[must_use]
    pub fn maximum(&self, other: &Self) -> Self {
        self.zip(other, |left, right| Some(left.unwrap_or_default().max(right.unwrap_or_default())))
    }

    /// Raises each amount to at least that of `other`, in place and over the union of types.
    #[inline]
    pub fn raise(&mut self, other: &Self) {
        let theirs = other.raw();
        for (mine, theirs) in self.lanes_mut(theirs.len()).iter_mut().zip(theirs) {
            // An absent lane is the smallest number, so the maximum is correct in every case.
            *mine = (*mine).max(*theirs);
        }
    }

    /// `MergeIfNotPresent`: `self`, with missing types taken from `other`.
    #[must_use]
    pub fn merge_missing(&self, other: &Self) -> Self {
        self.zip(other, Option::or)
    }

    /// Sets all types of `other`: the way in which the maximum of a child changes the fair maximum.
    pub fn overwrite(&mut self, other: &Self) {
        for (resource, amount) in other.iter() {
            self.set(resource, amount);
        }
    }

    /// `Prune`: removes types with amount zero.
    pub fn prune(&mut self) {
        for lane in self.lanes_mut(0) {
            if *lane == 0 {
                *lane = Self::ABSENT;
            }
        }
        self.trim();
    }

    /// `Prune` of a copy.
    #[must_use]
    pub fn pruned(&self) -> Self {
        let mut result = self.clone();
        result.prune();
        result
    }

    /// Returns the sum of all amounts, over every type regardless of its unit. Only for breaking ties: a vector that is
    /// nowhere smaller and somewhere larger has a larger sum.
    pub fn total(&self) -> i128 {
        self.iter().map(|(_, amount)| i128::from(amount.get())).sum()
    }
}

/// Number of lanes that fit inline, which the processor handles at once.
const BLOCK: usize = 8;

/// Combines a full block of lanes at once if no type is absent and no sum can overflow. Returns whether it did.
#[inline]
fn plainly(mine: &mut [i64], theirs: &[i64], sum: impl Fn(i64, i64) -> i64) -> bool {
    let (Ok(mine), Ok(theirs)) =
        (<&mut [i64; BLOCK]>::try_from(mine), <&[i64; BLOCK]>::try_from(theirs))
    else {
        return false;
    };
    if !are_plain(mine, theirs) {
        return false;
    }
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine = sum(*mine, *theirs);
    }
    true
}

/// Returns whether all lanes are present and below 2^62 in size. An absent lane is the smallest number.
#[inline]
pub(super) fn are_plain(left: &[i64; BLOCK], right: &[i64; BLOCK]) -> bool {
    let large = |lane: &i64| lane ^ (lane << 1);
    let lanes = left.iter().zip(right);
    lanes.fold(0, |any, (left, right)| any | large(left) | large(right)) >= 0
}

#[inline]
fn accumulate(mine: &mut [i64], theirs: &[i64], sum: impl Fn(i64, i64) -> i64) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        if *theirs != Resources::ABSENT {
            let base = if *mine == Resources::ABSENT { 0 } else { *mine };
            *mine = Quantity::of(sum(base, *theirs)).get();
        }
    }
}

#[inline]
fn accumulate_existing(mine: &mut [i64], theirs: &[i64], sum: impl Fn(i64, i64) -> i64) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        if *mine != Resources::ABSENT && *theirs != Resources::ABSENT {
            *mine = Quantity::of(sum(*mine, *theirs)).get();
        }
    }
}
