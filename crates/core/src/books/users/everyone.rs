//! All users of a leaf: those with an application there, whether it runs, waits for something or has
//! nothing yet. Preemption among users splits a leaf among all of them, so that who happens to wait
//! makes no difference. Source: user-headroom §1, §2.2.

use alloc::collections::BTreeSet;

use crate::books::Books;
use crate::books::tracker::TrackerKind;
use crate::id::QueueId;
use crate::name::Name;
use crate::resource::Resources;
use crate::userlimit::{Among, Decimal, Limit};

use super::LeafUser;

impl Books {
    /// Those with an application in a leaf that has not ended, by name. Costs its applications.
    pub fn everyone_in(&self, leaf: QueueId) -> BTreeSet<&Name> {
        self.applications_in(leaf).map(|(_, application)| &application.user).collect()
    }

    /// A leaf is split among all of its users, with their weights together; none where it has no user
    /// limits. Costs its applications.
    pub fn among_everyone(&self, leaf: QueueId) -> Option<Among> {
        let users = self.users_of(leaf)?;
        let weights = self.everyone_in(leaf).into_iter().map(|user| users.weight_of(user));
        Some(Among::All(weights.fold(Decimal::ZERO, Decimal::plus)))
    }

    /// As [`Books::user_limit`] for a user by name, among those given, whether he uses anything here,
    /// waits, or does neither; none where the leaf has no user limits.
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
        let idle = LeafUser { weight: users.weight_of(user), ..LeafUser::default() };
        let user = level.and_then(|level| users.user(level)).unwrap_or(&idle);
        Some(users.limit(user, among, &users.normalised(ask)))
    }
}
