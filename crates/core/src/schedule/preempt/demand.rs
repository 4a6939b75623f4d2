//! How much of what waits in a leaf that users share is demand: an ask counts whole, or not at all.
//! User-headroom §7.2, "demand in whole asks"; docs/decisions/0026-whole-asks.md.
//!
//! A share says whose turn it is, and grows with what is used; so it cuts nothing off. What holds
//! whatever is used does: caps of users, their limits in the queue file, and maxima of queues. Under
//! `strict` a share is no turn but a bound, and holds too.

use crate::books::{Books, LeafUser, LeafUsers};
use crate::id::{LevelId, QueueId};
use crate::resource::{Quantity, Resources};
use crate::userlimit::{Among, Enforcement, Limit};

/// What the users of a leaf wait for and may have, in whole asks. Costs the users of the leaf, and for
/// each size that one of them waits for the logarithm of their number.
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

/// What is granted to one user.
struct UserGrants<'a> {
    books: &'a Books,
    leaf: QueueId,
    users: LeafUsers<'a>,
    level: LevelId,
    user: &'a LeafUser<'a>,
    given: Resources,
}

impl UserGrants<'_> {
    /// What bounds the user's use by the formula, for asks that count like this.
    fn limit(&self, counted: &Resources) -> Limit {
        let rules = self.users.rules();
        if rules.enforcement == Enforcement::Strict {
            return self.users.limit(self.user, Among::Active, counted);
        }
        let cap = self.users.cap(self.user.weight, counted);
        Limit { soft: cap.clone(), hard: cap.clone(), limit: cap }
    }

    /// Whether the last of so many is admitted, when all before it are there.
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

    /// Whether the user's limits in the queue file allow as much more.
    fn may_have(&self, more: &Resources) -> bool {
        let trackers = &self.books.partition(self.books.queue(self.leaf).partition).trackers;
        trackers.refusing(self.level, 0, &self.given.plus(more)).is_none()
    }
}

/// Whether so much more keeps to a maximum, in the types that an ask needs.
fn is_within(max: &Resources, used: &Resources, more: &Resources, ask: &Resources) -> bool {
    let needed = ask.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
    let mut bounded = needed.filter_map(|(resource, _)| Some((resource, max.get(resource)?)));
    bounded
        .all(|(resource, most)| used.get_or_zero(resource).plus(more.get_or_zero(resource)) <= most)
}

/// The most, up to `count`, of which that is so; it is so of fewer as well.
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
