//! Demand of a leaf with user limits: an ask counts completely, or not at all. Source: user-headroom §7.2, "demand in
//! whole asks"; docs/decisions/0026-whole-asks.md.
//!
//! A fair share determines which user is next and grows with usage, so it does not limit the demand. Fixed bounds do:
//! user caps, limits of users, and queue maxima. With `strict`, a share is a bound and also limits the demand.

use crate::books::{Books, LeafUser, LeafUsers};
use crate::id::{LevelId, QueueId};
use crate::resource::{Quantity, Resources};
use crate::userlimit::{Among, Enforcement, Limit};

/// Returns the usage and the admissible asks of the users of a leaf, in whole asks.
///
/// Costs the users of the leaf, and for each size that a user waits for, the logarithm of the number of asks.
pub(super) fn demand(books: &Books, leaf: QueueId, users: LeafUsers<'_>) -> Resources {
    let used = books.queue(leaf).used_after_preemption();
    let mut granted = Resources::new();
    for (level, user) in users.users() {
        let mut grants =
            UserGrants { books, leaf, users, level, user: &user, given: Resources::new() };
        let (mut counted_as, max) = (user.used(), &users.outline().max);
        for (shape, count) in user.waits() {
            let size = books.shapes().get(*shape);
            let counted = users.normalised(size);
            let limit = grants.limit(&counted);
            let wanted = most(*count, |count| {
                is_within(max, &used.plus(&granted), &size.times(count), size)
                    && grants.may_have(&size.times(count))
                    && grants.is_admitted(&limit, &counted_as, &counted, count)
            });
            granted.add(&size.times(wanted));
            grants.given.add(&size.times(wanted));
            counted_as.add(&counted.times(wanted));
        }
    }
    granted
}

/// Admissible asks of one user.
struct UserGrants<'a> {
    books: &'a Books,
    leaf: QueueId,
    users: LeafUsers<'a>,
    level: LevelId,
    user: &'a LeafUser<'a>,
    given: Resources,
}

impl UserGrants<'_> {
    /// Returns the bound of the usage of the user by the formula, for asks that count as `counted`.
    fn limit(&self, counted: &Resources) -> Limit {
        let rules = self.users.rules();
        if rules.enforcement == Enforcement::Strict {
            return self.users.limit(self.user, Among::Active, counted);
        }
        let cap = self.users.cap(self.user.weight, counted);
        Limit { soft: cap.clone(), hard: cap.clone(), limit: cap }
    }

    /// Returns whether the last of this number of asks is admissible after all earlier ones.
    fn is_admitted(
        &self,
        limit: &Limit,
        used: &Resources,
        counted: &Resources,
        count: i64,
    ) -> bool {
        let before = used.plus(&counted.times(count - 1));
        self.users.rules().admits(self.users.outline(), limit, &before, counted)
    }

    /// Returns whether the limits of the user allow this additional amount.
    fn may_have(&self, more: &Resources) -> bool {
        let trackers = &self.books.partition(self.books.queue(self.leaf).partition).trackers;
        trackers.refusing(self.level, 0, &self.given.plus(more)).is_none()
    }
}

/// Returns whether the usage with `more` stays within a maximum, in the types that the ask needs.
fn is_within(max: &Resources, used: &Resources, more: &Resources, ask: &Resources) -> bool {
    let needed = ask.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
    let mut bounded = needed.filter_map(|(resource, _)| Some((resource, max.get(resource)?)));
    bounded
        .all(|(resource, most)| used.get_or_zero(resource).plus(more.get_or_zero(resource)) <= most)
}

/// Returns the largest number up to `count` that satisfies `is_so`, which must also hold for every smaller number.
fn most(count: u32, is_so: impl Fn(i64) -> bool) -> i64 {
    let (mut least, mut most) = (0, i64::from(count));
    while least < most {
        let middle = (least + most + 1) / 2;
        if is_so(middle) {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    least
}
