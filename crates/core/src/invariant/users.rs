//! Checks the users of leaves with user limits by recomputation.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::Books;
use crate::id::{LevelId, QueueId, ShapeId};
use crate::resource::{PackedDelta, PackedLimit, Resources};
use crate::userlimit::{Decimal, Formula, Leaf, MinimumShare};

use super::sums::Sums;
use super::{NOTHING, Outcome, equal};

#[derive(Default)]
struct User {
    waits: BTreeMap<ShapeId, u32>,
    used: Resources,
}

impl Books {
    /// Checks that exactly the leaves with user limits have users, and the sums over these users.
    pub(super) fn check_users(&self, sums: &Sums) -> Outcome {
        for (id, row) in self.queues().iter() {
            let shared = row.leaf && row.parent.is_some() && row.settings.user_limits.is_some();
            let known = self.users_of(id).is_some();
            equal(&row.path, "whether its users share it", &known, &shared)?;
            if known {
                self.check_users_of(id, sums)?;
            }
        }
        let rows: usize = self.leaves_with_users().map(|(_, one)| one.users().count()).sum();
        equal("leaves with user limits", "their rows by user", &self.rows_by_user(), &rows)?;
        let noted = self.partitions().values().map(|one| one.trackers.calm_levels()).sum::<usize>();
        let calm = self.leaves_with_users().map(|(_, users)| {
            users.users().filter(|(level, _)| users.active_up_to(*level).is_some()).count()
        });
        equal("leaves with user limits", "the users marked to stay active", &noted, &calm.sum())?;
        let leaves = self.leaves_sharing().filter(|leaf| self.queues().get(*leaf).is_none());
        equal("leaves with user limits", "those that are gone", &leaves.count(), &0)
    }

    fn check_users_of(&self, leaf: QueueId, sums: &Sums) -> Outcome {
        let (row, stored) = (self.queue(leaf), self.users_of(leaf).expect("it has user limits"));
        let mut users: BTreeMap<LevelId, User> = BTreeMap::new();
        for (id, application) in self.applications_in(leaf) {
            let Some(link) = application.link else { continue };
            let user = users.entry(link.user).or_default();
            let looked_at = !self.waits_for_activation(id);
            for (_, ask) in self.allocations_of(id).filter(|(_, ask)| looked_at && ask.is_pending())
            {
                *user.waits.entry(ask.shape).or_default() += 1;
            }
            let level = sums.levels.get(&(row.partition, link.user));
            user.used = level.map_or(&NOTHING, |level| &level.used).clone();
        }
        users.retain(|_, user| !user.waits.is_empty() || !user.used.is_zero());
        let levels: Vec<LevelId> = users.keys().copied().collect();
        let listed: Vec<LevelId> = stored.users().map(|(level, _)| level).collect();
        equal(&row.path, "users", &listed, &levels)?;
        equal(&row.path, "users found without a search", &stored.seated(), &levels.len())?;
        let (mut active, mut weight, mut used) = (0, Decimal::ZERO, Resources::new());
        for ((level, user), (_, stored_user)) in users.iter().zip(stored.users()) {
            let waits: Vec<(ShapeId, u32)> =
                user.waits.iter().map(|(id, many)| (*id, *many)).collect();
            equal(&row.path, "what a user waits for", &stored_user.waits().to_vec(), &waits)?;
            equal(&row.path, "what a user uses", &stored_user.used(), &user.used)?;
            let is_active = self.waits_for_share(leaf, *level, user);
            equal(&row.path, "whether a user is active", &stored_user.active, &is_active)?;
            self.check_active_up_to(leaf, *level, (user, is_active))?;
            if is_active {
                active += 1;
                weight = weight.plus(stored_user.weight);
                used.add(&user.used);
            }
        }
        let state = self.shared_leaf(leaf).expect("it has user limits");
        self.check_shared(leaf, &state)?;
        equal(&row.path, "active users", &state.active, &active)?;
        equal(&row.path, "weight of its active users", &state.active_weight, &weight)?;
        equal(&row.path, "what its active users use", &state.used_active, &used.pruned())?;
        let minimum = MinimumShare::of(stored.rules(), &state);
        equal(&row.path, "what each active user surely may have", stored.sure(), &minimum)?;
        if stored.rules().formula == Formula::Yarn3 {
            let each = users.values().map(|user| stored.rules().dominant(&state, &user.used));
            let sum = each.fold(Resources::new(), |sum, one| sum.plus(&one)).pruned();
            equal(&row.path, "its dominant use", &state.dominant, &sum)?;
        }
        Ok(())
    }

    /// Checks the properties of a leaf for user limits against the queues.
    fn check_shared(&self, leaf: QueueId, state: &Leaf) -> Outcome {
        let row = self.queue(leaf);
        let total = self.queue(self.partition(row.partition).root).max.clone().unwrap_or_default();
        let maxima = self.up(leaf).filter(|(_, queue)| queue.parent.is_some());
        let max = maxima.filter_map(|(_, queue)| queue.max.as_ref());
        let mut max = max.fold(Resources::new(), |all, one| all.minimum(one));
        if self.users_of(leaf).is_some_and(|users| users.rules().formula != Formula::Smooth) {
            max = max.minimum(&total);
        }
        equal(&row.path, "what its users may have together", &state.max, &max)?;
        equal(&row.path, "what its users split is all", &state.total, &total)?;
        equal(&row.path, "what its users use", &state.used, &row.allocated)?;
        let guaranteed = row.guaranteed.clone().unwrap_or_default();
        equal(&row.path, "what its users split", &state.guaranteed, &guaranteed)
    }

    /// Checks that a user with a stored bound is active. Up to the stored usage, the limits and the cap of the user
    /// allow the first shape that the user waits for.
    fn check_active_up_to(
        &self,
        leaf: QueueId,
        level: LevelId,
        (user, active): (&User, bool),
    ) -> Outcome {
        let row = self.queue(leaf);
        let stored = self.users_of(leaf).expect("it has user limits");
        let Some(bound) = stored.active_up_to(level) else { return Ok(()) };
        equal(&row.path, "whether who stays active is active", &active, &true)?;
        let trackers = &self.partition(row.partition).trackers;
        let Some((shape, _)) = user.waits.first_key_value() else { return Ok(()) };
        let ask = self.shapes().get(*shape);
        let mut limits = PackedLimit::of(None);
        for (_, one) in trackers.up(level) {
            limits.lower_to(&PackedLimit::of(one.max()));
        }
        let (rules, counted) = (stored.rules(), stored.normalised(ask));
        let state = self.shared_leaf(leaf).expect("it has user limits");
        let weight = stored.user(level).map(|user| user.weight).unwrap_or_default();
        let cap = PackedLimit::of(Some(&rules.cap(&state, weight, &Resources::new())));
        let (ask, counted) = (PackedDelta::of(ask), PackedDelta::of(&counted));
        let expected = ask.zip(counted).map(|(ask, counted)| {
            let mut expected = limits.before(&ask);
            expected.lower_to(&cap.before(&counted));
            expected
        });
        if trackers.limits_alone(level).is_some() {
            equal(&row.path, "up to which use a user stays active", &Some(*bound), &expected)?;
        }
        Ok(())
    }

    /// Returns whether a user has waiting asks. With `smooth`, the cap and the limits of the user must also allow one.
    fn waits_for_share(&self, leaf: QueueId, level: LevelId, user: &User) -> bool {
        let stored = self.users_of(leaf).expect("it has user limits");
        let rules = stored.rules();
        let trackers = &self.partition(self.queue(leaf).partition).trackers;
        let state = &self.shared_leaf(leaf).expect("it has user limits");
        let weight = stored.user(level).map(|user| user.weight).unwrap_or_default();
        user.waits.keys().any(|shape| {
            let ask = self.shapes().get(*shape);
            let counted = stored.normalised(ask);
            let cap = rules.cap(state, weight, &counted);
            let mut limits = trackers.up(level);
            rules.formula != Formula::Smooth
                || (limits.all(|(_, one)| one.left().is_none_or(|left| left.allows(ask)))
                    && !rules.is_capped(state, &cap, &user.used, &counted))
        })
    }
}
