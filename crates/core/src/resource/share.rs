//! Shares of a total, and fairness: queues-and-limits §1.5.
//!
//! The only module in which amounts become floating-point numbers: + − × ÷ on `f64`, in the order of the specification,
//! compared by `total_cmp`.
#![expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "shares are defined in floating point; exact fractions would break ties differently"
)]

use core::cmp::Ordering;

use smallvec::SmallVec;

use super::{Quantity, ResourceType, Resources};

/// Ratio of usage to a denominator. Can exceed 1. Ordered by `total_cmp`, so it can be a key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share(f64);

impl Share {
    /// Returns the ratio as a number.
    pub const fn get(self) -> f64 {
        self.0
    }

    pub(crate) const fn of(ratio: f64) -> Self {
        Self(ratio)
    }
}

impl PartialEq for Share {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Share {}

impl PartialOrd for Share {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Share {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Shares of a vector in a total, one for each present type, in ascending order. Compared from the largest down, as in
/// dominant resource fairness.
///
/// Source: Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 4.
#[derive(Debug, Default)]
pub struct Shares(SmallVec<[f64; 4]>);

/// Copies the slice at once instead of element by element, because keys of orders contain shares.
impl Clone for Shares {
    #[inline]
    fn clone(&self) -> Self {
        Self(SmallVec::from_slice(&self.0))
    }
}

impl Shares {
    /// `Shares`: a zero amount has share zero. If the total is missing or zero for the type, the share is the amount
    /// itself.
    pub fn of(resources: &Resources, total: Option<&Resources>) -> Self {
        Self::of_types(resources, total, |_| true)
    }

    /// Returns the shares of the types that satisfy `counts`.
    pub fn of_types(
        resources: &Resources,
        total: Option<&Resources>,
        counts: impl Fn(ResourceType) -> bool,
    ) -> Self {
        let mut shares: SmallVec<[f64; 4]> = resources
            .iter()
            .filter(|(resource, _)| counts(*resource))
            .map(|(resource, amount)| {
                if amount == Quantity::ZERO {
                    return 0.0;
                }
                match total.map_or(Quantity::ZERO, |total| total.get_or_zero(resource)) {
                    Quantity::ZERO => amount.get() as f64,
                    whole => amount.get() as f64 / whole.get() as f64,
                }
            })
            .collect();
        shares.sort_unstable_by(f64::total_cmp);
        Self(shares)
    }

    /// Returns the largest share. Zero for an empty list.
    pub fn largest(&self) -> Share {
        Share(self.0.last().copied().unwrap_or(0.0))
    }

    /// `CompareShares`: the first difference from the largest down decides. Remaining entries of the longer list make
    /// its side larger if they are positive, and smaller if they are negative.
    pub fn compare(&self, other: &Self) -> Ordering {
        let (mut left, mut right) = (self.0.iter().rev(), other.0.iter().rev());
        loop {
            match (left.next(), right.next()) {
                (None, None) => return Ordering::Equal,
                // A side without further entries has zeros.
                (left, right) => {
                    let (left, right) = (left.unwrap_or(&0.0), right.unwrap_or(&0.0));
                    match left.partial_cmp(right) {
                        Some(Ordering::Equal) | None => {}
                        Some(decided) => return decided,
                    }
                }
            }
        }
    }
}

impl PartialEq for Shares {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other).is_eq()
    }
}

impl Eq for Shares {}

impl PartialOrd for Shares {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Shares {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare(other)
    }
}

impl Resources {
    /// `CompUsageRatio`: compares two usages by their shares of `total`.
    pub fn compare_usage(&self, other: &Self, total: Option<&Self>) -> Ordering {
        Shares::of(self, total).compare(&Shares::of(other, total))
    }

    /// `CompUsageRatioSpecificTypes`: only types in `types` count. Without `types`, all count.
    pub fn compare_usage_of_types(
        &self,
        other: &Self,
        total: Option<&Self>,
        types: Option<&Self>,
    ) -> Ordering {
        let counts = |resource| types.is_none_or(|types: &Self| types.has(resource));
        Shares::of_types(self, total, counts).compare(&Shares::of_types(other, total, counts))
    }

    /// `FairnessRatio`: the largest share of `self` divided by that of `other`. 0/0 is 1. Another division by zero is
    /// infinite with the sign of the numerator.
    pub fn fairness_ratio(&self, other: &Self, total: Option<&Self>) -> f64 {
        let ratio =
            Shares::of(self, total).largest().get() / Shares::of(other, total).largest().get();
        if ratio.is_nan() { 1.0 } else { ratio }
    }

    /// `FairShare` of this usage, by which sibling queues are ordered: the largest ratio of usage to the guarantee, or
    /// to the fair maximum if no guarantee is set.
    pub fn fair_share(&self, guaranteed: Option<&Self>, fair_max: Option<&Self>) -> Share {
        let mut largest = 0.0_f64;
        for (resource, used) in self.iter() {
            let denominator = guaranteed
                .and_then(|guaranteed| guaranteed.get(resource))
                .or_else(|| fair_max.and_then(|fair_max| fair_max.get(resource)));
            let Some(denominator) = denominator.filter(|_| used >= Quantity::ZERO) else {
                continue;
            };
            largest = largest.max(of_capacity(used, denominator));
        }
        Share(largest)
    }

    /// `FitInScore` of `small` in this vector: 0 if it fits; otherwise, the sum over its types of the missing
    /// fractions, each at most 1.
    pub fn fit_score(big: Option<&Self>, small: &Self) -> Share {
        let Some(big) = big else {
            return Share(small.len() as f64);
        };
        let mut score = 0.0;
        for (resource, needed) in small.iter().filter(|(_, needed)| *needed > Quantity::ZERO) {
            let room = big.get_or_zero(resource);
            if room <= Quantity::ZERO {
                score += 1.0;
            } else if room < needed {
                score += (needed.get() as f64 - room.get() as f64) / needed.get() as f64;
            }
        }
        Share(score)
    }

    /// `AbsUsedCapacity`: usage in whole percent of the capacity, for each type present in both. Truncated toward zero,
    /// and at most 2147483647.
    #[must_use]
    pub fn percent_of(&self, capacity: &Self) -> Self {
        self.zip(capacity, |used, capacity| {
            let (used, capacity) = (used?, capacity?);
            Some(if used <= Quantity::ZERO {
                Quantity::ZERO
            } else if capacity <= Quantity::ZERO {
                Quantity::of(100)
            } else {
                percent(used, capacity)
            })
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "cutting toward zero is the rule")]
fn percent(used: Quantity, capacity: Quantity) -> Quantity {
    let percent = used.get() as f64 / capacity.get() as f64 * 100.0;
    Quantity::of(percent.min(f64::from(i32::MAX)) as i64)
}

/// Returns the usage divided by the capacity. Any usage of no capacity is 1.
pub(super) fn of_capacity(used: Quantity, capacity: Quantity) -> f64 {
    if capacity > Quantity::ZERO {
        used.get() as f64 / capacity.get() as f64
    } else if used > Quantity::ZERO {
        1.0
    } else {
        0.0
    }
}
