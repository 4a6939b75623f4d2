//! `applicationlimits` of the queue file: limits on the number of applications in a queue, on active applications, and
//! on their drivers. Source: user-headroom §4 and §5.

use alloc::vec::Vec;
use core::fmt;

use crate::name::Name;
use crate::userlimit::Decimal;

/// The block `applicationlimits` of one queue, template, or partition. The block of the partition applies to the root
/// unless the root has its own.
///
/// The numbers of a queue count its own applications and those of its descendants. They apply in addition to the
/// numbers of ancestors and are not inherited. Settings of users and drivers are inherited.
#[derive(Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct ApplicationLimitsConfig {
    /// `maximumapplications`: limit on unfinished applications. More are refused.
    pub max: Option<u64>,
    /// `maximumapplicationsperuser`: limit on unfinished applications of one user in a leaf. More are refused.
    pub max_per_user: Option<u64>,
    /// `maxparallelapps`: limit on active applications. Others wait until one ends.
    pub max_parallel: Option<u64>,
    /// `maxparallelappsperuser`: limit on active applications of one user in the partition.
    pub max_parallel_per_user: Option<u64>,
    /// `maxparallelappsbyuser`: limits on active applications of named users, in the order of names, without
    /// duplicates.
    pub max_parallel_by_user: Vec<(Name, u64)>,
    /// `maximumdriverresourcepercent`: fraction of a leaf that drivers can use, as a factor. 0.1 is a tenth.
    pub driver: Option<Decimal>,
    /// `globalqueuemaxapplication`, only for a partition and its root: limit on unfinished applications in each leaf
    /// without `maximumapplications` and without absolute capacity.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub max_per_queue: Option<u64>,
}

/// Omits absent settings, so that digests of events without them never change.
impl fmt::Debug for ApplicationLimitsConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            max,
            max_per_user,
            max_parallel,
            max_parallel_per_user,
            max_parallel_by_user,
            driver,
            max_per_queue,
        } = self;
        let mut shown = out.debug_struct("ApplicationLimitsConfig");
        shown
            .field("max", max)
            .field("max_per_user", max_per_user)
            .field("max_parallel", max_parallel)
            .field("max_parallel_per_user", max_parallel_per_user)
            .field("max_parallel_by_user", max_parallel_by_user)
            .field("driver", driver);
        if let Some(max_per_queue) = max_per_queue {
            shown.field("max_per_queue", max_per_queue);
        }
        shown.finish()
    }
}

impl ApplicationLimitsConfig {
    /// Returns whether a user has an individual limit.
    pub fn names(&self, user: &str) -> bool {
        self.max_parallel_by_user.iter().any(|(name, _)| **name == *user)
    }

    /// Returns the limit on active applications of a user in the partition. `None` is unlimited.
    pub fn parallel_of(&self, user: &str) -> Option<u64> {
        let named = self.max_parallel_by_user.binary_search_by(|(name, _)| (**name).cmp(user));
        match named {
            Ok(place) => Some(self.max_parallel_by_user[place].1),
            Err(_) => self.max_parallel_per_user,
        }
    }

    /// Sets the limit of a user: the individual limit if there is one, otherwise that of all other users.
    pub(crate) fn set_parallel_of(&mut self, user: &str, to: u64) {
        match self.max_parallel_by_user.iter_mut().find(|(name, _)| **name == *user) {
            Some((_, max)) => *max = to,
            None => self.max_parallel_per_user = Some(to),
        }
    }

    /// Returns whether an application can be required to wait for its activation.
    pub fn holds_back(&self) -> bool {
        let counts = self.max_parallel.or(self.max_parallel_per_user);
        counts.is_some() || !self.max_parallel_by_user.is_empty() || self.driver.is_some()
    }
}

/// Returns the settings of the root. Numbers of the partition apply unless the root has its own.
pub fn at_root(
    own: Option<&ApplicationLimitsConfig>,
    partition: Option<&ApplicationLimitsConfig>,
) -> Option<ApplicationLimitsConfig> {
    let all = inherited(own, partition).unwrap_or_default();
    let of = |number: fn(&ApplicationLimitsConfig) -> Option<u64>| {
        own.and_then(number).or(partition.and_then(number))
    };
    let all = ApplicationLimitsConfig {
        max: of(|one| one.max),
        max_parallel: of(|one| one.max_parallel),
        max_per_queue: of(|one| one.max_per_queue),
        ..all
    };
    (all != ApplicationLimitsConfig::default()).then_some(all)
}

/// Returns the effective settings of a queue with an optional own block and an optional parent block. `None` if there
/// are none.
pub fn inherited(
    own: Option<&ApplicationLimitsConfig>,
    above: Option<&ApplicationLimitsConfig>,
) -> Option<ApplicationLimitsConfig> {
    let nothing = ApplicationLimitsConfig::default();
    let (own, above) = (own.unwrap_or(&nothing), above.unwrap_or(&nothing));
    let by_user = [&own.max_parallel_by_user, &above.max_parallel_by_user];
    let all = ApplicationLimitsConfig {
        max: own.max,
        max_per_user: own.max_per_user.or(above.max_per_user),
        max_parallel: own.max_parallel,
        max_parallel_per_user: own.max_parallel_per_user.or(above.max_parallel_per_user),
        max_parallel_by_user: by_user
            .into_iter()
            .find(|all| !all.is_empty())
            .cloned()
            .unwrap_or_default(),
        driver: own.driver.or(above.driver),
        max_per_queue: None,
    };
    (all != nothing).then_some(all)
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn block(max: Option<u64>, per_user: Option<u64>) -> ApplicationLimitsConfig {
        ApplicationLimitsConfig {
            max,
            max_parallel_per_user: per_user,
            ..ApplicationLimitsConfig::default()
        }
    }

    #[test]
    fn numbers_of_queues_are_their_own_and_those_of_users_are_inherited() {
        let (above, own) = (block(Some(9), Some(3)), block(Some(5), None));
        assert_eq!(inherited(Some(&own), Some(&above)), Some(block(Some(5), Some(3))));
        assert_eq!(inherited(None, Some(&above)), Some(block(None, Some(3))));
        assert_eq!(inherited(None, Some(&block(Some(9), None))), None, "nothing is left of it");
        assert_eq!(at_root(None, Some(&above)), Some(above.clone()), "it counts all there are");
        assert_eq!(at_root(Some(&own), Some(&above)), Some(block(Some(5), Some(3))));
        assert_eq!(
            at_root(Some(&block(None, Some(1))), Some(&above)),
            Some(block(Some(9), Some(1)))
        );
    }

    #[test]
    fn a_named_user_has_his_own_number() {
        let named = vec![(Name::new("ann"), 5)];
        let limits =
            ApplicationLimitsConfig { max_parallel_by_user: named, ..block(None, Some(2)) };
        assert_eq!(["ann", "bob"].map(|user| limits.parallel_of(user)), [Some(5), Some(2)]);
        assert!(limits.holds_back());
        assert!(!block(Some(1), None).holds_back(), "what is refused does not wait");
    }
}
