//! Whether a queue runs, and how long its applications may live: `state`,
//! `maximumapplicationlifetime` and `defaultapplicationlifetime` of the queue file. Source:
//! user-headroom §4 and §10 (C12, C27), decision page 25.

use crate::time::Millis;

/// `state` of a queue, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueStart {
    /// It runs; so must every queue above it.
    Running,
    /// It takes in no applications, and no queue below it does; those that are there finish.
    Stopped,
}

/// How long applications may live: the values of one queue, or those in force there. Zero means no
/// bound; absent means as above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct LifetimesConfig {
    /// `maximumapplicationlifetime`: no application lives longer, whatever it asks for.
    pub maximum: Option<Millis>,
    /// `defaultapplicationlifetime`: that of an application that asks for none.
    pub default: Option<Millis>,
}

impl LifetimesConfig {
    /// What is in force where this is configured, below what is in force above.
    #[must_use]
    pub fn below(self, above: Self) -> Self {
        Self { maximum: self.maximum.or(above.maximum), default: self.default.or(above.default) }
    }

    /// Whether nothing is configured.
    pub const fn says_nothing(&self) -> bool {
        self.maximum.is_none() && self.default.is_none()
    }

    /// How long an application may live that asks for this, if it does; none: for ever.
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
