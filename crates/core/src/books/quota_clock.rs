//! Quota preemption timer: the time at which preemption begins in a queue that uses more than its maximum.
//!
//! The timer starts when a queue file lowers the maximum below the usage, or when the RM reports more usage than the
//! maximum allows. It is stored in the queue, and quota preemption reads it. Source: queues and limits §4.8.

use core::cmp::Ordering;

use crate::resource::Resources;
use crate::time::{Millis, Timestamp};

/// Effect of a queue file on the values that control the timer.
pub(super) struct QuotaChange<'books> {
    pub(super) max_before: Option<&'books Resources>,
    pub(super) delay_before: Millis,
    pub(super) max: Option<&'books Resources>,
    /// Time that the queue can exceed its maximum. Zero means without limit.
    pub(super) delay: Millis,
    pub(super) used: &'books Resources,
    /// Whether the queue belongs to a tenant. For a tenant, a first quota counts as lowered, and so does a quota that
    /// is lowered in one type and raised in another.
    pub(super) tenant: bool,
}

/// Comparison of a maximum with the previous one. A type that a maximum does not name counts as zero, so a first
/// maximum is a raised one.
enum Bound {
    Same,
    Lowered,
    Raised,
    /// Raised in one type and lowered in another.
    Mixed,
}

impl QuotaChange<'_> {
    /// Returns the time at which the timer fires after the change. `None` if it does not run. `before` is the time
    /// before the change.
    pub(super) fn fires_at(&self, now: Timestamp, before: Option<Timestamp>) -> Option<Timestamp> {
        let max = self.max.filter(|max| max.is_strictly_positive())?;
        if self.delay == Millis::ZERO || max.is_at_least_existing(self.used) {
            return None;
        }
        // In YuniKorn, an empty usage exceeds a maximum that contains a zero. Tenants do not follow that rule.
        if self.tenant && self.used.is_empty() {
            return None;
        }
        if self.tenant && before.is_none() {
            let starts = self.delay_before == Millis::ZERO || self.is_lowered(max);
            return starts.then(|| now + self.delay);
        }
        match (self.bound(max), before) {
            (Bound::Same, None) if self.delay_before == Millis::ZERO => Some(now + self.delay),
            (Bound::Lowered, None) => Some(now + self.delay),
            (Bound::Same | Bound::Raised | Bound::Mixed, None) => None,
            (Bound::Mixed, before) if !self.tenant => before,
            (_, Some(at)) => Some(self.shift(at)),
        }
    }

    /// Returns whether any type allows less than before. A type that was not named was not limited.
    fn is_lowered(&self, max: &Resources) -> bool {
        let before = |resource| self.max_before.and_then(|before| before.get(resource));
        max.iter().any(|(resource, most)| before(resource).is_none_or(|before| most < before))
    }

    fn bound(&self, max: &Resources) -> Bound {
        static NOTHING: Resources = Resources::new();
        let before = self.max_before.unwrap_or(&NOTHING);
        match (before.is_at_least(max), max.is_at_least(before)) {
            (true, true) => Bound::Same,
            (true, false) => Bound::Lowered,
            (false, true) => Bound::Raised,
            (false, false) => Bound::Mixed,
        }
    }

    /// Returns the timer, shifted by the change of the delay.
    fn shift(&self, at: Timestamp) -> Timestamp {
        match self.delay.cmp(&self.delay_before) {
            Ordering::Less => at.before(self.delay_before - self.delay),
            Ordering::Equal => at,
            Ordering::Greater => at + (self.delay - self.delay_before),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::{Quantity, ResourceType};

    fn both(memory: Option<i64>, vcore: Option<i64>) -> Option<Resources> {
        let types = [(ResourceType::MEMORY, memory), (ResourceType::VCORE, vcore)];
        let some = types.into_iter().filter_map(|(one, amount)| Some((one, Quantity::of(amount?))));
        let vector: Resources = some.collect();
        (!vector.is_empty()).then_some(vector)
    }

    #[test]
    fn the_clock_follows_its_table() {
        let memory = |amount| both(Some(amount), None);
        let used = both(Some(90), Some(10)).unwrap();
        let (t, s) = (Timestamp::from_millis, Millis::new);
        // Maximum, delay, and timer, each before and after, at time 100.
        for (max_before, max, delay_before, delay, before, after, why) in [
            (memory(100), memory(80), 60, 0, Some(150), None, "no delay"),
            (memory(100), None, 60, 60, Some(150), None, "no maximum"),
            (memory(100), memory(0), 60, 60, Some(150), None, "a maximum of zeros is none"),
            (memory(80), memory(90), 60, 60, Some(150), None, "the use is within"),
            (memory(80), both(None, Some(10)), 60, 60, Some(150), None, "within what is named"),
            (memory(80), memory(80), 0, 60, None, Some(160), "the first delay"),
            (memory(80), memory(80), 60, 90, Some(150), Some(180), "a longer delay"),
            (memory(80), memory(80), 60, 20, Some(150), Some(110), "a shorter delay"),
            (memory(80), memory(80), 60, 60, Some(150), Some(150), "nothing"),
            (memory(80), memory(80), 60, 70, None, None, "another delay, no clock"),
            (memory(100), memory(80), 60, 60, None, Some(160), "lowered"),
            (memory(100), memory(80), 60, 70, Some(150), Some(160), "lowered while it runs"),
            (memory(70), memory(80), 60, 60, None, None, "raised, not enough"),
            (memory(70), memory(80), 60, 70, Some(150), Some(160), "raised while it runs"),
            (None, memory(50), 60, 60, None, None, "a first maximum is a raised one"),
            (memory(80), both(Some(80), Some(5)), 60, 60, None, None, "a type more is raised"),
            (
                both(Some(80), Some(9)),
                both(Some(70), Some(99)),
                60,
                90,
                Some(150),
                Some(150),
                "mixed",
            ),
            (
                both(Some(80), Some(9)),
                both(Some(70), Some(99)),
                60,
                60,
                None,
                None,
                "mixed, no clock",
            ),
        ] {
            let change = QuotaChange {
                max_before: max_before.as_ref(),
                delay_before: s(delay_before),
                max: max.as_ref(),
                delay: s(delay),
                used: &used,
                tenant: false,
            };
            assert_eq!(change.fires_at(t(100), before.map(t)), after.map(t), "{why}");
        }
    }

    #[test]
    fn the_clock_of_a_tenant_starts_whenever_a_quota_is_lowered_below_the_use() {
        let memory = |amount| both(Some(amount), None);
        let used = both(Some(90), Some(10)).unwrap();
        let (t, s) = (Timestamp::from_millis, Millis::new);
        for (max_before, max, delay_before, delay, before, after, why) in [
            (None, memory(50), 60, 60, None, Some(160), "a first quota"),
            (memory(80), both(Some(80), Some(5)), 60, 60, None, Some(160), "of a type more"),
            (both(Some(80), Some(9)), both(Some(70), Some(99)), 60, 60, None, Some(160), "mixed"),
            (memory(80), both(Some(85), Some(12)), 60, 60, None, Some(160), "the new type holds"),
            (memory(70), memory(80), 60, 60, None, None, "raised, not enough"),
            (memory(80), memory(80), 0, 60, None, Some(160), "another way"),
            (memory(80), memory(80), 60, 60, None, None, "nothing"),
            (memory(80), memory(80), 60, 60, Some(150), Some(150), "it runs already"),
            (memory(80), memory(70), 60, 60, Some(150), Some(150), "lowered further"),
            (memory(80), memory(90), 60, 60, Some(150), None, "raised enough"),
            (memory(90), memory(70), 60, 0, Some(150), None, "it goes on"),
        ] {
            let change = QuotaChange {
                max_before: max_before.as_ref(),
                delay_before: s(delay_before),
                max: max.as_ref(),
                delay: s(delay),
                used: &used,
                tenant: true,
            };
            assert_eq!(change.fires_at(t(100), before.map(t)), after.map(t), "{why}");
        }
    }
}
