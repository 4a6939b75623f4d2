//! Keeping along who shares a leaf.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::books::tracker::{Level, Trackers};
use crate::books::{Books, Shapes};
use crate::id::{ApplicationId, LevelId, PartitionId, QueueId, ShapeId};
use crate::resource::Resources;
use crate::userlimit::{Formula, Leaf, Rules, Sure};

use super::{LeafUser, LeafUsers, counted, exceeds_cap};

impl Books {
    /// An ask of an application waits from now on, or does no more.
    #[inline]
    pub(in crate::books) fn share_ask(&mut self, of: ApplicationId, shape: ShapeId, waits: bool) {
        if self.has_user_limits()
            && let Some((leaf, level)) = self.sharer(of)
        {
            self.look_at_user(leaf, level, Some((shape, waits)));
        }
    }

    /// An ask of an application was placed: it waits no more, and its user uses more.
    #[inline]
    pub(in crate::books) fn share_placed(&mut self, of: ApplicationId, shape: ShapeId) {
        if self.has_user_limits() {
            let counts = self.sharer(of).is_some();
            self.look_at_use(of, counts.then_some((shape, false)));
        }
    }

    /// The user of an application uses more, or less.
    #[inline]
    pub(in crate::books) fn share_use(&mut self, of: ApplicationId) {
        if self.has_user_limits() {
            self.look_at_use(of, None);
        }
    }

    /// The same, while one of its asks waits from now on, or does no more.
    fn look_at_use(&mut self, of: ApplicationId, ask: Option<(ShapeId, bool)>) {
        let row = &self.applications[of];
        let (leaf, link) = (row.queue, row.link);
        if let Some(users) = self.sharing.leaves.get_mut(&leaf) {
            let users = Arc::make_mut(users);
            users.set_used(&self.queues[leaf].allocated);
            if link.is_none() {
                users.settle(); // Nobody active uses it.
            }
        }
        if let Some(link) = link {
            self.look_at_everywhere(leaf, link.user, ask);
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
            if !shapes.is_empty() {
                self.know_user(leaf, level);
                let users = self.leaf_users(leaf);
                let user = users.users.get_mut(&level).expect("he was just looked for");
                for shape in shapes {
                    user.count(shape, waits);
                }
            }
        }
        let row = &self.applications[of];
        if let (leaf, Some(link)) = (row.queue, row.link)
            && self.users_of(leaf).is_some()
        {
            self.look_at_everywhere(leaf, link.user, None);
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
        let users = self.leaf_users(leaf);
        let Leaf { total, guaranteed, max, used, .. } = now;
        users.state = Leaf { total, guaranteed, max, used, ..core::mem::take(&mut users.state) };
        users.settle();
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
        self.note_nobody_active(leaf);
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
            self.look_at_user(leaf, level, None);
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
    /// other leaves. With an ask that waits in this leaf from now on, or does no more.
    fn look_at_everywhere(&mut self, leaf: QueueId, level: LevelId, ask: Option<(ShapeId, bool)>) {
        self.look_at_user(leaf, level, ask);
        let partition = self.queue(leaf).partition;
        let others: Vec<(QueueId, LevelId)> = self.other_rows_of(partition, level).collect();
        for (leaf, level) in others {
            self.look_at_user(leaf, level, None);
        }
    }

    /// Bring the row of a user, and the sums of his leaf, up to date, with an ask that waits from now
    /// on, or does no more.
    fn look_at_user(&mut self, leaf: QueueId, level: LevelId, ask: Option<(ShapeId, bool)>) {
        let Some(users) = self.sharing.leaves.get_mut(&leaf) else { return };
        let partition = self.queues[leaf].partition;
        let trackers = &self.partitions[&partition].trackers;
        match Arc::make_mut(users).follow((trackers, &self.shapes), level, ask) {
            Followed::Kept => {}
            Followed::Turned => {
                let user = self.users_of(leaf).and_then(|users| users.user(level));
                let active = user.is_some_and(|user| user.active);
                self.note_active(leaf, level, active);
            }
            Followed::Gone => {
                self.note_active(leaf, level, false);
                self.note_user(partition, (leaf, level), false);
            }
            Followed::Unknown => {
                let uses = trackers.find_level(level).is_some_and(|level| !level.used().is_empty());
                if ask.is_some() || uses {
                    self.know_user(leaf, level);
                    self.look_at_user(leaf, level, ask);
                }
            }
        }
    }
}

/// What became of a user's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// It is up to date, and he is as active as he was.
    Kept,
    /// It is up to date; he was active and is no more, or the other way round.
    Turned,
    /// He has nothing and waits for nothing: it is gone.
    Gone,
    /// He has none, and nothing was done.
    Unknown,
}

impl LeafUsers {
    /// Bring the row of a user, and the sums of his leaf, up to date with what these trackers charge to
    /// him, and with an ask of this shape that waits from now on, or does no more.
    pub fn follow(
        &mut self,
        (trackers, shapes): (&Trackers, &Shapes),
        level: LevelId,
        ask: Option<(ShapeId, bool)>,
    ) -> Followed {
        let Self { rules, increment, largest, users, state, sure, .. } = self;
        let Some(user) = users.get_mut(&level) else { return Followed::Unknown };
        let used = trackers.find_level(level).map(Level::used).unwrap_or_default();
        if let Some((shape, waits)) = ask {
            user.count(shape, waits);
        }
        let is_within = |ask: &Resources| {
            let counted = counted(rules, increment, largest, ask);
            trackers.refusing(level, 0, ask).is_none()
                && !exceeds_cap((rules, sure, state), user.weight, &used, &counted)
        };
        // Under `smooth` for something that his own cap and limits allow.
        let is_smooth = rules.formula == Formula::Smooth;
        let mut waits = user.waits.iter();
        let active = waits.any(|(shape, _)| !is_smooth || is_within(shapes.get(*shape)));
        let turned = user.active != active;
        let settles = turned || (!active && user.used != used);
        state.follow(rules, user, &used, active);
        (user.used, user.active) = (used, active);
        let gone = user.waits.is_empty() && user.used.is_empty();
        if gone {
            users.remove(&level);
        }
        if settles {
            self.settle();
        }
        match (gone, turned) {
            (true, _) => Followed::Gone,
            (false, true) => Followed::Turned,
            (false, false) => Followed::Kept,
        }
    }

    /// Who is active, what the inactive use, or what the leaf has, is something else.
    fn settle(&mut self) {
        self.sure = Sure::of(&self.rules, &self.state);
    }

    /// All users of the leaf use this by now.
    pub fn set_used(&mut self, used: &Resources) {
        self.state.used.clone_from(used);
    }
}

impl Leaf {
    /// Bring the sums up to date with a user who uses this by now, and is active or not.
    #[inline]
    fn follow(&mut self, rules: &Rules, user: &LeafUser, used: &Resources, active: bool) {
        if user.active {
            self.used_active.subtract(&user.used);
        }
        if active {
            self.used_active.add(used);
        }
        if user.active || active {
            self.used_active.prune();
        }
        match (user.active, active) {
            (false, true) => {
                self.active += 1;
                self.active_weight = self.active_weight.plus(user.weight);
            }
            (true, false) => {
                self.active -= 1;
                self.active_weight = self.active_weight.minus(user.weight);
            }
            _ => {}
        }
        if rules.formula == Formula::Yarn3 {
            let [before, after] = [&user.used, used].map(|used| rules.dominant(self, used));
            self.dominant.subtract(&before);
            self.dominant.add(&after);
            self.dominant.prune();
        }
    }
}

impl LeafUser {
    /// An ask of this shape waits from now on, or does no more.
    #[inline]
    fn count(&mut self, shape: ShapeId, waits: bool) {
        match (self.waits.binary_search_by_key(&shape, |(shape, _)| *shape), waits) {
            (Ok(place), true) => self.waits[place].1 += 1,
            (Err(place), true) => self.waits.insert(place, (shape, 1)),
            (Ok(place), false) if self.waits[place].1 > 1 => self.waits[place].1 -= 1,
            (Ok(place), false) => drop(self.waits.remove(place)),
            (Err(_), false) => unreachable!("what waits was counted when it came"),
        }
    }
}
