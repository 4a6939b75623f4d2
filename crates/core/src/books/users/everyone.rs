//! All users of a leaf with an application, running, waiting, or new. Preemption among users splits a leaf among all of
//! them, so that it does not matter which of them currently wait. Source: user-headroom §1, §2.2.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::books::Books;
use crate::books::tracker::TrackerKind;
use crate::id::{LevelId, QueueId};
use crate::name::Name;
use crate::resource::Resources;
use crate::userlimit::{Among, Decimal, Limit, ShareQuery};

use super::{LeafUser, LeafUsers};

impl Books {
    /// Returns the users with an unfinished application in a leaf, by name. Costs its applications.
    pub fn everyone_in(&self, leaf: QueueId) -> BTreeSet<&Name> {
        self.applications_in(leaf).map(|(_, application)| &application.user).collect()
    }

    /// Returns the set of all users of a leaf, with the sum of their weights. `None` without user limits. Costs its
    /// applications.
    pub fn among_everyone(&self, leaf: QueueId) -> Option<Among> {
        Some(among(self.users_of(leaf)?, &self.everyone_in(leaf)))
    }

    /// Returns the fair share and the usage of each user who uses the leaf or waits there. The shares assume that all
    /// users split the leaf, and the smallest countable ask. `None` without user limits. Costs its applications and
    /// users.
    pub(crate) fn shares_among_everyone(
        &self,
        leaf: QueueId,
    ) -> Option<Vec<(LevelId, Resources, Resources)>> {
        let users = self.users_of(leaf)?;
        let everyone = self.everyone_in(leaf);
        let among = among(users, &everyone);
        let mut state = users.state();
        // CapacityScheduler 2.7.3 counts users and ignores weights.
        state.active = everyone.len() as u64;
        let (rules, ask) = (users.rules(), &users.rules().step);
        let share = |weight| rules.limit(&state, ShareQuery { weight, among, ask }).limit;
        Some(users.users().map(|(level, user)| (level, share(user.weight), user.used())).collect())
    }

    /// Returns the limit of a user by name among the given users, as [`Books::user_limit`] does. The user does not have
    /// to use the leaf or wait there. `None` without user limits.
    pub fn limit_among(
        &self,
        leaf: QueueId,
        user: &str,
        among: Among,
        ask: &Resources,
    ) -> Option<Limit> {
        let users = self.users_of(leaf)?;
        let trackers = &self.partition(self.queue(leaf).partition).trackers;
        let level = trackers.level_of(TrackerKind::User, user, leaf);
        let idle = LeafUser::idle(users.weight_of(user));
        let user = level.and_then(|level| users.user(level)).unwrap_or(idle);
        Some(users.limit(&user, among, &users.normalised(ask)))
    }
}

/// Returns the set of these users, with the sum of their weights.
fn among(users: LeafUsers<'_>, everyone: &BTreeSet<&Name>) -> Among {
    let weights = everyone.iter().map(|user| users.weight_of(user));
    Among::All(weights.fold(Decimal::ZERO, Decimal::plus))
}
