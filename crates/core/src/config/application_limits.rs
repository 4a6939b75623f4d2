//! `applicationlimits` of the queue file: how many applications a queue takes in, how many of them
//! may start, and how much their drivers may have. Source: user-headroom §4 and §5.

use alloc::vec::Vec;
use core::fmt;

use crate::name::Name;
use crate::userlimit::Decimal;

/// The block `applicationlimits` of one queue, template or partition. That of the partition is the
/// root's unless that has its own.
///
/// The numbers of a queue count its own applications and those below. They hold in addition to
/// those of the queues above and are not inherited. Settings of users and drivers are inherited.
#[derive(Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct ApplicationLimitsConfig {
    /// `maximumapplications`: so many that have not ended; more are refused.
    pub max: Option<u64>,
    /// `maximumapplicationsperuser`: so many of one user in a leaf; more are refused.
    pub max_per_user: Option<u64>,
    /// `maxparallelapps`: so many may have started; others wait until one has ended.
    pub max_parallel: Option<u64>,
    /// `maxparallelappsperuser`: so many of one user, in all of the partition.
    pub max_parallel_per_user: Option<u64>,
    /// `maxparallelappsbyuser`: the same for named users, in name order, each once.
    pub max_parallel_by_user: Vec<(Name, u64)>,
    /// `maximumdriverresourcepercent`: how much of a leaf drivers may have, as a factor (0.1 is a
    /// tenth).
    pub driver: Option<Decimal>,
    /// `globalqueuemaxapplication`, of a partition and its root alone: so many that have not ended,
    /// in each leaf that has no `maximumapplications` and no absolute capacity.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub max_per_queue: Option<u64>,
}

/// Absent settings are not shown, so a digest of events without them never changes.
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
    /// Whether a user has an individual number.
    pub fn names(&self, user: &str) -> bool {
        self.max_parallel_by_user.iter().any(|(name, _)| **name == *user)
    }

    /// How many applications of a user may have started in all of the partition; none: any number.
    pub fn parallel_of(&self, user: &str) -> Option<u64> {
        let named = self.max_parallel_by_user.binary_search_by(|(name, _)| (**name).cmp(user));
        match named {
            Ok(place) => Some(self.max_parallel_by_user[place].1),
            Err(_) => self.max_parallel_per_user,
        }
    }

    /// Set another number for a user: the user's entry where there is one, else the number of all
    /// others.
    pub(crate) fn set_parallel_of(&mut self, user: &str, to: u64) {
        match self.max_parallel_by_user.iter_mut().find(|(name, _)| **name == *user) {
            Some((_, max)) => *max = to,
            None => self.max_parallel_per_user = Some(to),
        }
    }

    /// Whether any application may have to wait before it starts.
    pub fn holds_back(&self) -> bool {
        let counts = self.max_parallel.or(self.max_parallel_per_user);
        counts.is_some() || !self.max_parallel_by_user.is_empty() || self.driver.is_some()
    }
}

/// What is in force at the root, which has the numbers of its partition unless it has its own.
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

/// What is in force where there may be a block here and one above; none where nothing is.
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
