//! Keeping along who shares a leaf.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::books::{Books, Level};
use crate::id::{ApplicationId, LevelId, PartitionId, QueueId, ShapeId};
use crate::resource::Resources;
use crate::userlimit::{Formula, Leaf};

use super::{LeafUser, LeafUsers};

impl Books {
    /// An ask of an application waits from now on, or does no more.
    #[inline]
    pub(in crate::books) fn share_ask(&mut self, of: ApplicationId, shape: ShapeId, waits: bool) {
        if self.has_user_limits()
            && let Some((leaf, level)) = self.sharer(of)
        {
            self.count_ask(leaf, level, shape, waits);
            self.look_at_user(leaf, level);
        }
    }

    /// An ask of an application was placed: it waits no more, and its user uses more.
    #[inline]
    pub(in crate::books) fn share_placed(&mut self, of: ApplicationId, shape: ShapeId) {
        if self.has_user_limits() {
            if let Some((leaf, level)) = self.sharer(of) {
                self.count_ask(leaf, level, shape, false);
            }
            self.share_use(of);
        }
    }

    /// The user of an application uses more, or less.
    #[inline]
    pub(in crate::books) fn share_use(&mut self, of: ApplicationId) {
        if !self.has_user_limits() {
            return;
        }
        let row = &self.applications[of];
        let (leaf, link) = (row.queue, row.link);
        if self.users_of(leaf).is_some() {
            let used = self.queue(leaf).allocated.clone();
            self.leaf_users(leaf).state.used = used;
        }
        if let Some(link) = link {
            self.look_at_everywhere(leaf, link.user);
        }
    }

    /// An application is tied to its user from now on, with all that it waits for, or is about not
    /// to be.
    pub(in crate::books) fn share_all(&mut self, of: ApplicationId, waits: bool) {
        if !self.has_user_limits() {
            return;
        }
        if let Some((leaf, level)) = self.sharer(of) {
            let asks = self.allocations_of(of).filter(|(_, row)| row.is_pending());
            let shapes: Vec<ShapeId> = asks.map(|(_, row)| row.shape).collect();
            for shape in shapes {
                self.count_ask(leaf, level, shape, waits);
            }
        }
        let row = &self.applications[of];
        if let (leaf, Some(link)) = (row.queue, row.link)
            && self.users_of(leaf).is_some()
        {
            self.look_at_everywhere(leaf, link.user);
        }
    }

    /// A queue has other rules, or is new: count its users anew.
    pub(in crate::books) fn share_leaf(&mut self, leaf: QueueId) {
        let row = self.queue(leaf);
        let config = row.settings.user_limits.clone().filter(|_| row.leaf && row.parent.is_some());
        self.forget_leaf(leaf);
        let Some(config) = config else { return };
        let users = LeafUsers::new(self, &config);
        self.sharing.leaves.insert(leaf, users.into());
        self.look_at_leaf(leaf);
        let of: Vec<ApplicationId> = self.applications_in(leaf).map(|(id, _)| id).collect();
        for application in of {
            self.share_all(application, true);
        }
    }

    /// A queue has another maximum, which holds below it, too.
    pub(in crate::books) fn look_below(&mut self, queue: QueueId) {
        let below = |leaf: &QueueId| self.up(*leaf).any(|(above, _)| above == queue);
        let leaves: Vec<QueueId> =
            self.sharing.leaves.iter().map(|(leaf, _)| *leaf).filter(below).collect();
        for leaf in leaves {
            self.look_at_leaf(leaf);
            self.look_at_all_in(leaf);
        }
    }

    /// Bring what users split up to date.
    fn look_at_leaf(&mut self, leaf: QueueId) {
        let formula = self.users_of(leaf).expect("the leaf has user limits").rules.formula;
        let now = self.leaf_alone(leaf, formula);
        let state = &mut self.leaf_users(leaf).state;
        let Leaf { total, guaranteed, max, used, .. } = now;
        *state = Leaf { total, guaranteed, max, used, ..core::mem::take(state) };
    }

    /// Count the users of all leaves: the books were read back.
    #[cfg(feature = "snapshot")]
    pub(in crate::books) fn share_leaves(&mut self) {
        let leaves: Vec<QueueId> = self.queues.iter().map(|(id, _)| id).collect();
        for leaf in leaves {
            self.share_leaf(leaf);
        }
    }

    /// A queue goes, or is counted anew.
    pub(in crate::books) fn forget_leaf(&mut self, leaf: QueueId) {
        let Some(before) = self.sharing.leaves.remove(&leaf) else { return };
        let partition = self.queue(leaf).partition;
        for (level, _) in before.users.iter() {
            self.note_user(partition, (leaf, *level), false);
        }
    }

    /// Limits have changed: look at everybody again.
    pub(in crate::books) fn look_at_all_users(&mut self, partition: PartitionId) {
        let mine = |leaf: &QueueId| self.queues[*leaf].partition == partition;
        let leaves: Vec<QueueId> =
            self.sharing.leaves.iter().map(|(leaf, _)| *leaf).filter(mine).collect();
        for leaf in leaves {
            self.look_at_all_in(leaf);
        }
    }

    /// The cluster has another size, or queues below this one have: what users split, what is
    /// dominant, and who is active, may have changed.
    pub(in crate::books) fn look_at_sizes(&mut self, top: QueueId) {
        if !self.has_user_limits() {
            return;
        }
        let below = |leaf: &QueueId| self.up(*leaf).any(|(above, _)| above == top);
        let leaves: Vec<QueueId> =
            self.sharing.leaves.iter().map(|(leaf, _)| *leaf).filter(below).collect();
        for leaf in leaves {
            let sizes = |state: &Leaf| (state.guaranteed.clone(), state.max.clone());
            let before = self.shared_leaf(leaf).map(sizes);
            self.look_at_leaf(leaf);
            let sized = before != self.shared_leaf(leaf).map(sizes);
            let users = self.leaf_users(leaf);
            if !users.looks_at_cluster() && !sized {
                continue;
            }
            if users.rules.formula == Formula::Yarn3 {
                let (state, rules) = (&users.state, &users.rules);
                let each = users.users.iter().map(|(_, user)| rules.dominant(state, &user.used));
                let dominant = each.fold(Resources::new(), |sum, one| sum.plus(&one)).pruned();
                users.state.dominant = dominant;
            }
            self.look_at_all_in(leaf);
        }
    }

    fn look_at_all_in(&mut self, leaf: QueueId) {
        let users = self.sharing.leaves.get(&leaf).expect("it was just found");
        let levels: Vec<LevelId> = users.users.iter().map(|(level, _)| *level).collect();
        for level in levels {
            self.look_at_user(leaf, level);
        }
    }

    /// The leaf and the level of an application in a leaf with user limits.
    fn sharer(&self, of: ApplicationId) -> Option<(QueueId, LevelId)> {
        let row = &self.applications[of];
        self.sharing.leaves.get(&row.queue)?;
        // Nobody is active by what is not looked at.
        let counts = !self.waits_for_activation(of);
        counts.then_some((row.queue, row.link?.user))
    }

    fn count_ask(&mut self, leaf: QueueId, level: LevelId, shape: ShapeId, waits: bool) {
        self.know_user(leaf, level);
        let users = self.leaf_users(leaf);
        let user = users.users.get_mut(&level).expect("he was just looked for");
        match (user.waits.binary_search_by_key(&shape, |(shape, _)| *shape), waits) {
            (Ok(place), true) => user.waits[place].1 += 1,
            (Err(place), true) => user.waits.insert(place, (shape, 1)),
            (Ok(place), false) if user.waits[place].1 > 1 => user.waits[place].1 -= 1,
            (Ok(place), false) => drop(user.waits.remove(place)),
            (Err(_), false) => unreachable!("what waits was counted when it came"),
        }
    }

    fn leaf_users(&mut self, leaf: QueueId) -> &mut LeafUsers {
        Arc::make_mut(self.sharing.leaves.get_mut(&leaf).expect("the leaf has user limits"))
    }

    /// Give a user his row.
    fn know_user(&mut self, leaf: QueueId, level: LevelId) {
        let users = self.sharing.leaves.get(&leaf).expect("the leaf has user limits");
        if users.users.get(&level).is_some() {
            return;
        }
        let partition = self.queue(leaf).partition;
        let trackers = &self.partition(partition).trackers;
        let name = &trackers.tracker(trackers.level(level).tracker).name;
        let user = LeafUser { weight: users.config.weight(name), ..LeafUser::default() };
        let users = self.leaf_users(leaf);
        users.users.insert(level, user);
        self.note_user(partition, (leaf, level), true);
    }

    fn note_user(&mut self, partition: PartitionId, (leaf, level): (QueueId, LevelId), is: bool) {
        let trackers = &self.partition(partition).trackers;
        let Some(row) = trackers.find_level(level) else { return };
        let key = (partition, row.tracker, leaf);
        if is {
            self.sharing.by_user.insert(key, level);
        } else {
            self.sharing.by_user.remove(&key);
        }
    }

    /// His use in a leaf, whether users share that or not, counts against his limits above, and so in
    /// other leaves.
    fn look_at_everywhere(&mut self, leaf: QueueId, level: LevelId) {
        if self.users_of(leaf).is_some() {
            self.look_at_user(leaf, level);
        }
        let partition = self.queue(leaf).partition;
        let others: Vec<(QueueId, LevelId)> = self.other_rows_of(partition, level).collect();
        for (leaf, level) in others {
            self.look_at_user(leaf, level);
        }
    }

    /// Bring the row of a user, and the sums of his leaf, up to date.
    fn look_at_user(&mut self, leaf: QueueId, level: LevelId) {
        let partition = self.queue(leaf).partition;
        let trackers = &self.partition(partition).trackers;
        let used = trackers.find_level(level).map(Level::used).unwrap_or_default();
        let is_known =
            self.sharing.leaves.get(&leaf).is_some_and(|of| of.users.get(&level).is_some());
        if !is_known {
            if used.is_zero() {
                return;
            }
            self.know_user(leaf, level);
        }
        let active = self.is_active(leaf, level, &used);
        let LeafUsers { rules, users, state, .. } = self.leaf_users(leaf);
        let user = users.get_mut(&level).expect("he has a row by now");
        let was_active = core::mem::replace(&mut user.active, active);
        let (weight, gone) = (user.weight, user.waits.is_empty() && used.is_zero());
        if was_active {
            state.active -= 1;
            state.active_weight = state.active_weight.minus(weight);
            state.used_active.subtract(&user.used);
        }
        if active {
            state.active += 1;
            state.active_weight = state.active_weight.plus(weight);
            state.used_active.add(&used);
        }
        state.used_active.prune();
        if rules.formula == Formula::Yarn3 {
            let [before, after] = [&user.used, &used].map(|used| rules.dominant(state, used));
            state.dominant.subtract(&before);
            state.dominant.add(&after);
            state.dominant.prune();
        }
        user.used = used;
        if gone {
            users.remove(&level);
            self.note_user(partition, (leaf, level), false);
        }
    }

    /// Whether a user counts among those who split the leaf: he waits for something; under `smooth`
    /// for something that his own cap and limits allow.
    fn is_active(&self, leaf: QueueId, level: LevelId, used: &Resources) -> bool {
        let users = self.users_of(leaf).expect("the leaf has user limits");
        let user = users.users.get(&level).expect("he has a row");
        if users.rules.formula != Formula::Smooth {
            return !user.waits.is_empty();
        }
        if user.waits.is_empty() {
            return false;
        }
        let state = &users.state;
        let trackers = &self.partition(self.queue(leaf).partition).trackers;
        user.waits.iter().any(|(shape, _)| {
            let ask = self.shapes.get(*shape);
            let counted = users.normalised(ask);
            let cap = || users.rules.cap(state, user.weight, &counted);
            trackers.refusing(level, 0, ask).is_none()
                && !users.rules.is_capped(state, &cap(), used, &counted)
        })
    }
}
