//! All users of a leaf: those with an application there, whether it runs, waits for something or has
//! nothing yet. Preemption among users splits a leaf among all of them, so that who happens to wait
//! makes no difference. Source: user-headroom §1, §2.2.

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
    /// Those with an application in a leaf that has not ended, by name. Costs its applications.
    pub fn everyone_in(&self, leaf: QueueId) -> BTreeSet<&Name> {
        self.applications_in(leaf).map(|(_, application)| &application.user).collect()
    }

    /// A leaf is split among all of its users, with their weights together; none where it has no user
    /// limits. Costs its applications.
    pub fn among_everyone(&self, leaf: QueueId) -> Option<Among> {
        Some(among(self.users_of(leaf)?, &self.everyone_in(leaf)))
    }

    /// The share and the usage of each user who uses something of a leaf or waits there. The shares
    /// assume that all of them split the leaf, and the smallest countable ask. None where the leaf
    /// has no user limits. The cost grows with its applications and users.
    pub(crate) fn shares_among_everyone(
        &self,
        leaf: QueueId,
    ) -> Option<Vec<(LevelId, Resources, Resources)>> {
        let users = self.users_of(leaf)?;
        let everyone = self.everyone_in(leaf);
        let among = among(users, &everyone);
        let mut state = users.state();
        // CapacityScheduler 2.7.3 counts heads, and knows no other way.
        state.active = everyone.len() as u64;
        let (rules, ask) = (users.rules(), &users.rules().step);
        let share = |weight| rules.limit(&state, ShareQuery { weight, among, ask }).limit;
        Some(users.users().map(|(level, user)| (level, share(user.weight), user.used())).collect())
    }

    /// As [`Books::user_limit`], for a user by name and among the given users. The user need not
    /// use anything here or wait here. None where the leaf has no user limits.
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

/// These split a leaf, with their weights together.
fn among(users: LeafUsers<'_>, everyone: &BTreeSet<&Name>) -> Among {
    let weights = everyone.iter().map(|user| users.weight_of(user));
    Among::All(weights.fold(Decimal::ZERO, Decimal::plus))
}
