//! Queue state and lifetimes of applications: `state`, `maximumapplicationlifetime`, and `defaultapplicationlifetime`
//! of the queue file. Source: user-headroom §4 and §10 (C12, C27), decision page 25.

use crate::time::Millis;

/// Configured `state` of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueStart {
    /// The queue runs. All its ancestors must run too.
    Running,
    /// The queue and its descendants accept no applications. Existing applications finish.
    Stopped,
}

/// Lifetimes of applications, as configured for one queue or as effective there. Zero is unlimited, and `None` is
/// inherited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct LifetimesConfig {
    /// `maximumapplicationlifetime`: the longest lifetime of an application, regardless of its request.
    pub maximum: Option<Millis>,
    /// `defaultapplicationlifetime`: the lifetime of an application that requests none.
    pub default: Option<Millis>,
}

impl LifetimesConfig {
    /// Returns the effective lifetimes of a queue with this configuration, given those of its parent.
    #[must_use]
    pub fn below(self, above: Self) -> Self {
        Self { maximum: self.maximum.or(above.maximum), default: self.default.or(above.default) }
    }

    /// Returns whether nothing is configured.
    pub const fn says_nothing(&self) -> bool {
        self.maximum.is_none() && self.default.is_none()
    }

    /// Returns the lifetime of an application with this request. `None` is unlimited.
    pub fn of(&self, asked: Option<Millis>) -> Option<Millis> {
        let some = |span: Option<Millis>| span.filter(|span| *span > Millis::ZERO);
        let wanted = some(asked).or(some(self.default));
        match (wanted, some(self.maximum)) {
            (Some(wanted), Some(maximum)) => Some(wanted.min(maximum)),
            (wanted, maximum) => wanted.or(maximum),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lifetimes(maximum: Option<u64>, default: Option<u64>) -> LifetimesConfig {
        LifetimesConfig {
            maximum: maximum.map(Millis::from_secs),
            default: default.map(Millis::from_secs),
        }
    }

    #[test]
    #[doc(alias = "C27")]
    fn each_key_is_that_of_the_nearest_queue_that_has_it_and_zero_is_one() {
        let above = lifetimes(Some(100), Some(10));
        assert_eq!(lifetimes(None, None).below(above), above);
        assert_eq!(lifetimes(Some(0), None).below(above), lifetimes(Some(0), Some(10)));
        assert_eq!(lifetimes(None, Some(0)).below(above), lifetimes(Some(100), Some(0)));
    }

    #[test]
    #[doc(alias = "C27")]
    fn what_is_asked_for_goes_before_the_default_and_the_maximum_before_both() {
        for (maximum, default, asked, expected) in [
            (None, None, None, None),
            (None, None, Some(7), Some(7)),
            (None, Some(10), None, Some(10)),
            (None, Some(10), Some(70), Some(70)),
            (Some(50), Some(10), None, Some(10)),
            (Some(50), Some(10), Some(70), Some(50)),
            (Some(50), Some(90), None, Some(50)),
            (Some(50), None, None, Some(50)),
            (Some(50), Some(0), None, Some(50)),
            (Some(0), Some(10), Some(70), Some(70)),
            (Some(0), Some(0), Some(0), None),
        ] {
            let found = lifetimes(maximum, default).of(asked.map(Millis::from_secs));
            assert_eq!(found, expected.map(Millis::from_secs), "{maximum:?} {default:?} {asked:?}");
        }
    }
}
