//! Packed arithmetic on the first eight lanes, for sums that are often computed and checked.
//!
//! In usage and in a change of usage, an absent type and a zero are equal, so eight integers are sufficient. As long as
//! they are *plain*, which means small enough that no operation overflows, no lane has to be checked individually.
//! Otherwise, the caller uses the vectors.

use super::{Quantity, ResourceType, Resources};

/// Number of packed lanes.
pub(super) const WIDTH: usize = 8;

/// Upper bound of the size of a plain change in either direction.
const STEP: i64 = 1 << 61;

/// Upper bound of a plain usage.
const USE: i64 = 1 << 62;

/// Upper bound of a plain usage plus a plain change.
const FAR: i64 = USE + STEP;

/// Amount that is requested, charged, or refunded: at most eight types, all plain.
#[derive(Clone, Copy)]
pub(crate) struct PackedDelta([i64; WIDTH]);

/// Usage of the first eight types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedUsage([i64; WIDTH]);

/// Limits of the first eight types. An absent type has a limit that no plain usage reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PackedLimit([i64; WIDTH]);

/// Lanes in which a limit was exceeded so far: the negative ones.
#[derive(Default)]
pub(crate) struct PackedExcess([i64; WIDTH]);

impl PackedDelta {
    /// Returns the amounts in packed form. `None` if they are not plain.
    #[inline]
    pub(crate) fn of(amount: &Resources) -> Option<Self> {
        // An absent lane is the smallest number, which is not plain.
        match <&[i64; WIDTH]>::try_from(amount.raw()).map(|raw| Self(*raw)) {
            Ok(step) if step.is_plain() => Some(step),
            _ => Self::of_some(amount.raw()),
        }
    }

    fn of_some(raw: &[i64]) -> Option<Self> {
        if raw.len() > WIDTH {
            return None;
        }
        let mut step = [0; WIDTH];
        for (lane, raw) in step.iter_mut().zip(raw) {
            *lane = if *raw == Resources::ABSENT { 0 } else { *raw };
        }
        Some(Self(step)).filter(Self::is_plain)
    }

    /// Returns the opposite change.
    #[inline]
    pub(crate) fn negated(self) -> Self {
        Self(self.0.map(i64::wrapping_neg))
    }

    /// A lane is between -2^61 and 2^61 if it is neither negative nor at least 2^62 after 2^61 was added.
    #[inline]
    fn is_plain(&self) -> bool {
        let bits = self.0.iter().fold(0, |bits, lane| bits | lane.wrapping_add(STEP));
        (0..USE).contains(&bits)
    }
}

impl PackedUsage {
    /// Returns the usage plus a change. Correct if both this usage and the result are plain.
    #[inline]
    pub(crate) fn plus(&self, step: &PackedDelta) -> Self {
        Self(core::array::from_fn(|lane| self.0[lane].wrapping_add(step.0[lane])))
    }

    /// Returns whether no lane is negative or at least 2^62.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        (0..USE).contains(&self.0.iter().fold(0, |bits, lane| bits | lane))
    }

    /// Adds the first eight types of any vector, saturating.
    pub(crate) fn add_saturating(&mut self, amount: &Resources) {
        for (lane, amount) in self.present(amount) {
            *lane = Quantity::of(lane.saturating_add(amount)).get();
        }
    }

    /// Subtracts the first eight types of any vector, at most the usage of each type.
    pub(crate) fn subtract_floored(&mut self, amount: &Resources) {
        for (lane, amount) in self.present(amount) {
            *lane = lane.saturating_sub(amount);
        }
        for lane in &mut self.0 {
            *lane = (*lane).max(0);
        }
    }

    fn present(&mut self, amount: &Resources) -> impl Iterator<Item = (&mut i64, i64)> {
        let lanes = self.0.iter_mut().zip(amount.raw().iter().copied());
        lanes.filter(|(_, amount)| *amount != Resources::ABSENT)
    }

    /// Returns the usage as a vector, with the types beyond the first eight, and without types of amount zero.
    pub(crate) fn with(&self, beyond: Option<&Resources>) -> Resources {
        let mine = self.0.map(|used| if used == 0 { Resources::ABSENT } else { used });
        let Some(beyond) = beyond else { return Resources::of_lanes(&mine) };
        let mut all = beyond.clone();
        all.lanes_mut(WIDTH)[..WIDTH].copy_from_slice(&mine);
        all.trim();
        all
    }

    /// Returns the usage of one of the first eight types. `None` for other types.
    #[inline]
    pub(crate) fn get(&self, resource: ResourceType) -> Option<Quantity> {
        self.0.get(resource.lane()).map(|used| Quantity::of(*used))
    }

    /// Returns the lanes.
    #[cfg(feature = "snapshot")]
    pub(super) const fn raw(&self) -> &[i64; WIDTH] {
        &self.0
    }

    /// Creates a usage from its lanes.
    #[cfg(feature = "snapshot")]
    pub(super) const fn of_raw(lanes: [i64; WIDTH]) -> Self {
        Self(lanes)
    }

    /// Usage of zero.
    pub(crate) const ZERO: Self = Self([0; WIDTH]);

    /// Returns whether nothing is used.
    pub(crate) fn is_zero(&self) -> bool {
        self.0 == [0; WIDTH]
    }
}

impl PackedLimit {
    /// Returns the limits of a maximum. Unlimited for `None`.
    pub(crate) fn of(max: Option<&Resources>) -> Self {
        let mut ceiling = [FAR; WIDTH];
        for (lane, max) in ceiling.iter_mut().zip(max.map_or(&[][..], Resources::raw)) {
            if *max != Resources::ABSENT {
                // A negative limit allows nothing, and no plain usage reaches `FAR`.
                *lane = (*max).clamp(-1, FAR);
            }
        }
        Self(ceiling)
    }

    /// Returns whether the limits allow a change from this plain usage.
    #[inline]
    pub(crate) fn allows(&self, used: &PackedUsage, step: &PackedDelta) -> bool {
        let mut excess = PackedExcess::default();
        excess.note(self, used, step);
        excess.is_none()
    }

    /// Returns whether this plain usage is within the limits.
    #[inline]
    pub(crate) fn is_above(&self, used: &PackedUsage) -> bool {
        let left = |lane: usize| self.0[lane].wrapping_sub(used.0[lane]);
        (0..WIDTH).fold(0, |bits, lane| bits | left(lane)) >= 0
    }

    /// Returns the largest usage from which this change is still allowed. Unlimited for types that it does not request.
    pub(crate) fn before(&self, step: &PackedDelta) -> Self {
        Self(core::array::from_fn(|lane| match step.0[lane] {
            ..=0 => FAR,
            wanted => self.0[lane] - wanted,
        }))
    }

    /// Lowers the limits to those of another one. A change from a plain usage is within both if it is within the
    /// result.
    pub(crate) fn lower_to(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).min(*theirs);
        }
    }
}

impl PackedExcess {
    /// Records the lanes in which a change of a plain usage exceeds a limit: it is positive, and more than what is
    /// left.
    #[inline]
    pub(crate) fn note(&mut self, ceiling: &PackedLimit, used: &PackedUsage, step: &PackedDelta) {
        for lane in 0..WIDTH {
            let left = ceiling.0[lane].wrapping_sub(used.0[lane]);
            self.0[lane] |= left.wrapping_sub(step.0[lane]) & step.0[lane].wrapping_neg();
        }
    }

    /// Returns whether no limit was exceeded.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.0.iter().fold(0, |bits, lane| bits | lane) >= 0
    }
}

impl Resources {
    /// Returns the types beyond the first eight, if there are any.
    #[inline]
    pub(crate) fn beyond(&self) -> Option<Self> {
        (self.raw().len() > WIDTH).then(|| self.without_first())
    }

    fn without_first(&self) -> Self {
        let mut rest = self.clone();
        rest.lanes_mut(WIDTH)[..WIDTH].fill(Self::ABSENT);
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AMOUNTS: [i64; 12] =
        [-i64::MAX, -USE, -STEP, 1 - STEP, -1, 0, 1, STEP - 1, STEP, USE - 1, USE, i64::MAX];

    fn vector(lane: usize, amount: i64) -> Resources {
        [(ResourceType::at(lane), Quantity::of(amount))].into_iter().collect()
    }

    #[test]
    fn a_plain_sum_is_what_the_vectors_say() {
        for (used, change) in AMOUNTS.iter().flat_map(|a| AMOUNTS.map(|b| (*a, b))) {
            let (before, amount) = (vector(3, used), vector(3, change));
            let mut tally = PackedUsage::default();
            tally.add_saturating(&before);
            if let Some(step) = PackedDelta::of(&amount).filter(|_| tally.is_plain()) {
                let (up, down) = (tally.plus(&step), tally.plus(&step.negated()));
                if up.is_plain() {
                    assert_eq!(up.with(None), before.plus(&amount).pruned(), "{used} + {change}");
                }
                if down.is_plain() {
                    let rest = before.minus(&amount).pruned();
                    assert_eq!(down.with(None), rest, "{used} - {change}");
                }
            }
            let (mut up, mut down) = (tally, tally);
            up.add_saturating(&amount);
            assert_eq!(up.with(None), before.plus(&amount).pruned(), "{used} + {change}");
            down.subtract_floored(&amount);
            let floored = before.minus(&amount).maximum(&Resources::new()).pruned();
            assert_eq!(down.with(None), floored, "{used} - {change}");
        }
    }

    #[test]
    fn a_plain_check_is_what_the_vectors_say() {
        let mut checked = 0;
        for max in AMOUNTS.map(Some).into_iter().chain([None]) {
            let max = max.map(|max| vector(5, max));
            for (used, asked) in AMOUNTS.iter().flat_map(|a| AMOUNTS.map(|b| (*a, b))) {
                let (used, asked) = (vector(5, used), vector(5, asked));
                let mut tally = PackedUsage::default();
                tally.add_saturating(&used);
                let Some(step) = PackedDelta::of(&asked).filter(|_| tally.is_plain()) else {
                    continue;
                };
                let ceiling = PackedLimit::of(max.as_ref());
                let mut excess = PackedExcess::default();
                excess.note(&ceiling, &tally, &step);
                assert_eq!(ceiling.before(&step).is_above(&tally), excess.is_none());
                let fits = max.as_ref().is_none_or(|max| max.minus_existing(&used).allows(&asked));
                assert_eq!(excess.is_none(), fits, "{used:?} and {asked:?} within {max:?}");
                checked += 1;
            }
        }
        assert_eq!(checked, 13 * 5 * 6, "uses and steps that are plain");
    }

    #[test]
    fn types_beyond_the_first_eight_are_kept_apart() {
        let both = vector(2, 5).plus(&vector(11, 7));
        let mut tally = PackedUsage::default();
        tally.add_saturating(&both);
        assert!(PackedDelta::of(&both).is_none());
        assert_eq!(both.beyond(), Some(vector(11, 7)));
        assert_eq!(tally.with(both.beyond().as_ref()), both);
        assert_eq!(vector(7, 1).beyond(), None);
    }
}
