//! Demand for preemption: the part of the pending amounts of a leaf that its users can get. Source: user-headroom §6.

use crate::books::Books;
use crate::id::QueueId;
use crate::resource::{Quantity, Resources};
use crate::userlimit::{Among, Enforcement, Formula};

use super::{LeafUser, LeafUsers};

impl LeafUsers<'_> {
    /// Returns the sum of the asks of a user, each as it counts.
    fn wanted(self, books: &Books, user: &LeafUser<'_>) -> Resources {
        let mut wanted = Resources::new();
        for (shape, count) in user.waits() {
            let counted = self.normalised(books.shapes().get(*shape));
            for (resource, amount) in counted.iter() {
                let all = i128::from(amount.get()) * i128::from(*count);
                let all = Quantity::of(i64::try_from(all).unwrap_or(i64::MAX));
                wanted.set(resource, wanted.get_or_zero(resource).plus(all));
            }
        }
        wanted
    }

    /// Returns the part of the demand that the user can get, bounded by the limit of the user for the smallest
    /// countable ask. If a share only determines the next user, the user cap is the bound.
    fn demand(self, books: &Books, user: &LeafUser<'_>) -> Resources {
        let limit = self.limit(user, Among::Active, &self.rules().step);
        let is_turn_only = self.rules().enforcement == Enforcement::Progress
            && self.rules().formula == Formula::Smooth;
        let most = if is_turn_only { &limit.hard } else { &limit.limit };
        let mut wanted = self.wanted(books, user);
        for (resource, most) in most.iter() {
            if wanted.has(resource) {
                let left = most.minus(user.used_of(resource)).max(Quantity::ZERO);
                wanted.set(resource, wanted.get_or_zero(resource).min(left));
            }
        }
        wanted
    }
}

impl Books {
    /// Returns the demand of a queue within the limits of its users. For a parent, or a leaf without user limits,
    /// returns all pending amounts. Costs the users of the leaf.
    pub fn demand_of(&self, queue: QueueId) -> Resources {
        let Some(users) = self.users_of(queue) else {
            return self.queue(queue).pending.clone();
        };
        let each = users.users().map(|(_, user)| users.demand(self, &user));
        each.fold(Resources::new(), |sum, one| sum.plus(&one)).pruned()
    }
}
