//! Sums, differences, products, minima: the operations of queues-and-limits §1.4.
//!
//! Methods treat an absent type as zero unless their comment says otherwise. Where the
//! specification tells *no object* from *empty object*, the caller holds an `Option`.

use super::{Quantity, Resources};

impl Resources {
    /// `Add`: over the union of types.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.zip(other, |left, right| {
            Some(left.unwrap_or_default().plus(right.unwrap_or_default()))
        })
    }

    /// `Sub`: over the union of types; may go below zero.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.zip(other, |left, right| {
            Some(left.unwrap_or_default().minus(right.unwrap_or_default()))
        })
    }

    /// `AddTo`: add in place, over the union of types.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        if !plainly(self.raw_mut(), other.raw(), i64::wrapping_add) {
            let mine = self.lanes_mut(other.raw().len());
            accumulate(mine, other.raw(), i64::saturating_add);
        }
    }

    /// Adds in place if no sum leaves 64 bits; otherwise changes nothing. Returns whether it added.
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

    /// `SubFrom`: subtract in place, over the union of types; may go below zero.
    #[inline]
    pub fn subtract(&mut self, other: &Self) {
        if !plainly(self.raw_mut(), other.raw(), i64::wrapping_sub) {
            let mine = self.lanes_mut(other.raw().len());
            accumulate(mine, other.raw(), i64::saturating_sub);
        }
    }

    /// `AddOnlyExisting` in place: only types present here change.
    #[inline]
    pub fn add_existing(&mut self, other: &Self) {
        let mine = self.lanes_mut(0);
        if !plainly(mine, other.raw(), i64::wrapping_add) {
            accumulate_existing(mine, other.raw(), i64::saturating_add);
        }
    }

    /// `SubOnlyExisting` in place: only types present here change.
    #[inline]
    pub fn subtract_existing(&mut self, other: &Self) {
        let mine = self.lanes_mut(0);
        if !plainly(mine, other.raw(), i64::wrapping_sub) {
            accumulate_existing(mine, other.raw(), i64::saturating_sub);
        }
    }

    /// `SubOnlyExisting`: the types of `self` only.
    #[must_use]
    pub fn minus_existing(&self, other: &Self) -> Self {
        let mut result = self.clone();
        result.subtract_existing(other);
        result
    }

    /// `AddOnlyExisting`: the types of `self` only.
    #[must_use]
    pub fn plus_existing(&self, other: &Self) -> Self {
        let mut result = self.clone();
        result.add_existing(other);
        result
    }

    /// `SubEliminateNegative`: over the union; a type of `other` that would fall below zero
    /// becomes zero. Types that only `self` has stay as they are, negative or not.
    #[must_use]
    pub fn minus_floored(&self, other: &Self) -> Self {
        self.zip(other, |left, right| match right {
            None => left,
            Some(right) => Some(left.unwrap_or_default().minus(right).max(Quantity::ZERO)),
        })
    }

    /// `SubErrorNegative`: [`Resources::minus_floored`], together with the amounts below zero that
    /// were cut off; none where nothing was.
    #[must_use]
    pub fn minus_checked(&self, other: &Self) -> (Self, Self) {
        let below = self.zip(other, |left, right| {
            let rest = left.unwrap_or_default().minus(right?);
            (rest < Quantity::ZERO).then_some(rest)
        });
        (self.minus_floored(other), below)
    }

    /// `Multiply` by a whole number, saturating; a factor of zero leaves no type.
    #[must_use]
    pub fn times(&self, factor: i64) -> Self {
        if factor == 0 {
            return Self::new();
        }
        self.map(|amount| Some(amount.times(factor)))
    }

    /// `MultiplyBy` a ratio: each product is cut toward zero and saturates; a ratio of zero
    /// leaves no type, and one that is not a number counts as zero.
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
        // `as` cuts toward zero and saturates, which is the rule.
        self.map(|amount| Some(Quantity::of((amount.get() as f64 * ratio) as i64)))
    }

    /// `ComponentWiseMin` of two present objects: over the union; an absent type is
    /// unlimited, so the other side's amount stands.
    #[must_use]
    pub fn minimum(&self, other: &Self) -> Self {
        self.zip(other, |left, right| match (left, right) {
            (Some(left), Some(right)) => Some(left.min(right)),
            (one, None) | (None, one) => one,
        })
    }

    /// The lower amount of each type that both have: no more than either, where an absent type is
    /// zero.
    #[must_use]
    pub(crate) fn minimum_of_present(&self, other: &Self) -> Self {
        self.zip(other, |left, right| Some(left?.min(right?)))
    }

    /// `ComponentWiseMin` with its rule for missing objects: the other one; both missing:
    /// none.
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

    /// `ComponentWiseMax` of two present objects: over the union, absent counts as zero.
    /// (With a missing object the specification's result is empty.)
    #[must_use]
    pub fn maximum(&self, other: &Self) -> Self {
        self.zip(other, |left, right| Some(left.unwrap_or_default().max(right.unwrap_or_default())))
    }

    /// Raise each amount to at least that of `other`, in place, over the union of types.
    #[inline]
    pub fn raise(&mut self, other: &Self) {
        let theirs = other.raw();
        for (mine, theirs) in self.lanes_mut(theirs.len()).iter_mut().zip(theirs) {
            // An absent lane is the smallest number, so the larger one is right either way.
            *mine = (*mine).max(*theirs);
        }
    }

    /// `MergeIfNotPresent`: `self`, with the types that it lacks taken from `other`.
    #[must_use]
    pub fn merge_missing(&self, other: &Self) -> Self {
        self.zip(other, Option::or)
    }

    /// Overwrite and add the types of `other`: how a child's maximum changes the fair maximum.
    pub fn overwrite(&mut self, other: &Self) {
        for (resource, amount) in other.iter() {
            self.set(resource, amount);
        }
    }

    /// `Prune`: make types with amount zero absent.
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

    /// Sum of all amounts, over every type whatever its unit. Only for breaking ties: where
    /// one vector is nowhere smaller and somewhere larger, its total is larger.
    pub fn total(&self) -> i128 {
        self.iter().map(|(_, amount)| i128::from(amount.get())).sum()
    }
}

/// Lanes that the processor takes at once: all that are stored without heap.
const BLOCK: usize = 8;

/// Combine a full block of lanes without a look at each, if no type is absent and no amount so
/// large that a sum might overflow; whether that was so.
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

/// Whether all lanes are present and below 2^62 in size: an absent one is the smallest number.
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
