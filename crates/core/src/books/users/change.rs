//! Keeping along who shares a leaf.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::books::tracker::{Level, Trackers};
use crate::books::{Books, Shapes};
use crate::id::{ApplicationId, LevelId, PartitionId, QueueId, ShapeId};
use crate::resource::{Resources, Step};
use crate::userlimit::{Decimal, Formula, Leaf, Rules, Sure};

use super::{Found, LeafShares, LeafUser, UserRow, counted};

impl Books {
    /// An ask of an application waits from now on, or does no more.
    #[inline]
    pub(in crate::books) fn share_ask(&mut self, of: ApplicationId, shape: ShapeId, waits: bool) {
        if self.has_user_limits()
            && let Some((leaf, level)) = self.sharer(of)
        {
            self.look_at_user(leaf, level, Moved { ask: Some((shape, waits)), used: false });
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
        if let Some(link) = link {
            self.look_at_everywhere(leaf, link.user, Moved { ask, used: true });
        } else if let Some(users) = self.sharing.leaves.get_mut(&leaf) {
            // Nobody active uses it.
            Arc::make_mut(users).set_used(&self.queues[leaf].allocated);
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
                let user = self.user_row(leaf, level).expect("he was just looked for");
                for shape in shapes {
                    user.count(shape, waits);
                }
            }
        }
        let row = &self.applications[of];
        if let (leaf, Some(link)) = (row.queue, row.link)
            && self.users_of(leaf).is_some()
        {
            self.look_at_everywhere(leaf, link.user, Moved::default());
        }
    }

    /// A queue has other rules, or is new: count its users anew.
    pub(in crate::books) fn share_leaf(&mut self, leaf: QueueId) {
        let row = self.queue(leaf);
        let config = row.settings.user_limits.clone().filter(|_| row.leaf && row.parent.is_some());
        let partition = row.partition;
        self.forget_leaf(leaf);
        let Some(config) = config else { return };
        let users = LeafShares::new(self, partition, &config);
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
        let formula = self.leaf_users(leaf).rules.formula;
        let now = self.leaf_alone(leaf, formula);
        let users = self.leaf_users(leaf);
        let Leaf { total, guaranteed, max, used, sections, .. } = now;
        let before = core::mem::take(&mut users.state);
        users.state = Leaf { total, guaranteed, max, used, sections, ..before };
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

    /// The leaves of a partition with user limits.
    fn sharing_in(&self, partition: PartitionId) -> Vec<QueueId> {
        let mine = |leaf: &QueueId| self.queues[*leaf].partition == partition;
        self.sharing.leaves.iter().map(|(leaf, _)| *leaf).filter(mine).collect()
    }

    /// Count the users of the leaves of a partition anew: its types are of other labels than before.
    pub(in crate::books) fn share_by_label(&mut self, partition: PartitionId) {
        for leaf in self.sharing_in(partition) {
            self.share_leaf(leaf);
        }
    }

    /// A queue goes, or is counted anew.
    pub(in crate::books) fn forget_leaf(&mut self, leaf: QueueId) {
        let Some(before) = self.sharing.leaves.remove(&leaf) else { return };
        let partition = self.queue(leaf).partition;
        for level in before.rows.levels() {
            self.note_user(partition, (leaf, level), false);
        }
        self.note_nobody_active(leaf);
    }

    /// Limits have changed: look at everybody again.
    pub(in crate::books) fn look_at_all_users(&mut self, partition: PartitionId) {
        for leaf in self.sharing_in(partition) {
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
                let users = self.users_of(leaf).expect("the leaf has user limits");
                let of = |user: LeafUser<'_>| users.rules().dominant(users.state(), &user.used());
                let each = users.users().map(|(_, user)| of(user));
                let dominant = each.fold(Resources::new(), |sum, one| sum.plus(&one)).pruned();
                self.leaf_users(leaf).state.dominant = dominant;
            }
            self.look_at_all_in(leaf);
        }
    }

    fn look_at_all_in(&mut self, leaf: QueueId) {
        let users = self.sharing.leaves.get(&leaf).expect("it was just found");
        let levels: Vec<LevelId> = users.rows.levels().collect();
        for level in levels {
            self.look_at_user(leaf, level, Moved::default());
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

    fn leaf_users(&mut self, leaf: QueueId) -> &mut LeafShares {
        Arc::make_mut(self.sharing.leaves.get_mut(&leaf).expect("the leaf has user limits"))
    }

    /// The row of a user, if he has one.
    fn user_row(&mut self, leaf: QueueId, level: LevelId) -> Option<&mut UserRow> {
        let users = Arc::make_mut(self.sharing.leaves.get_mut(&leaf)?);
        let trackers = &self.partitions[&self.queues[leaf].partition].trackers;
        let seat = users.rows.find(trackers, level)?.seat;
        Some(users.rows.at_mut(seat))
    }

    /// Give a user his row.
    fn know_user(&mut self, leaf: QueueId, level: LevelId) {
        let users = self.sharing.leaves.get(&leaf).expect("the leaf has user limits");
        if users.rows.has(level) {
            return;
        }
        let partition = self.queue(leaf).partition;
        let trackers = &self.partition(partition).trackers;
        let name = &trackers.tracker(trackers.level(level).tracker).name;
        let row = UserRow { weight: users.config.weight(name), ..UserRow::default() };
        let used = trackers.level(level).used();
        let users = self.leaf_users(leaf);
        if users.rules.formula == Formula::Yarn3 {
            users.state.dominate(&users.rules, &Resources::new(), &used);
        }
        let seat = users.rows.insert(level, row);
        self.trackers(partition).set_seat(level, seat);
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
    fn look_at_everywhere(&mut self, leaf: QueueId, level: LevelId, moved: Moved) {
        self.look_at_user(leaf, level, moved);
        let others: Vec<(QueueId, LevelId)> = self.other_rows_of(leaf, level).collect();
        for (leaf, level) in others {
            self.look_at_user(leaf, level, Moved::default());
        }
    }

    /// Bring the row of a user, and the sums of his leaf, up to date.
    fn look_at_user(&mut self, leaf: QueueId, level: LevelId, moved: Moved) {
        let Some(users) = self.sharing.leaves.get_mut(&leaf) else { return };
        let row = &self.queues[leaf];
        let (partition, users) = (row.partition, Arc::make_mut(users));
        let trackers = &self.partitions[&partition].trackers;
        let used = moved.used.then_some(&row.allocated);
        let change = Change { ask: moved.ask, used };
        match users.follow((trackers, &self.shapes), level, change) {
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
                if let Some(used) = used {
                    users.set_used(used); // Nobody active uses it.
                }
                let uses = trackers.find_level(level).is_some_and(|level| !level.used().is_empty());
                if moved.ask.is_some() || uses {
                    self.know_user(leaf, level);
                    self.look_at_user(leaf, level, Moved { used: false, ..moved });
                }
            }
        }
    }
}

/// What has changed for a user in one of his leaves.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    /// An ask of this shape waits from now on, or does no more.
    ask: Option<(ShapeId, bool)>,
    /// He uses more or less.
    used: bool,
}

/// The same, with what all users of the leaf use by now where he uses more or less.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// An ask of this shape waits from now on, or does no more.
    pub ask: Option<(ShapeId, bool)>,
    /// What they use, if he uses more or less than he did.
    pub used: Option<&'a Resources>,
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

impl LeafShares {
    /// Bring the row of a user, and the sums of his leaf, up to date with what these trackers charge to
    /// him by now, and with what has changed.
    #[inline]
    pub fn follow(
        &mut self,
        (trackers, shapes): (&Trackers, &Shapes),
        level: LevelId,
        change: Change<'_>,
    ) -> Followed {
        let Some(mut found) = self.rows.find(trackers, level) else { return Followed::Unknown };
        let (seat, was_active, weight) = (found.seat, found.row.active, found.row.weight);
        if let Some((shape, waits)) = change.ask {
            let Found { tally, plain, .. } = found;
            self.rows.at_mut(seat).count(shape, waits);
            found = Found { seat, row: self.rows.at(seat), tally, plain };
        }
        let active = self.is_active((trackers, shapes), level, &found);
        let idles = found.tally.is_zero() && found.row.waits.is_empty();
        let used = || trackers.find_level(level).map(Level::used).unwrap_or_default();
        if let Some(now) = change.used {
            if self.rules.formula == Formula::Yarn3 {
                let (used, more) = (used(), now.minus(&self.state.used));
                self.state.dominate(&self.rules, &used.minus(&more).pruned(), &used);
            }
            if was_active {
                let Leaf { used, used_active, .. } = &mut self.state;
                used_active.follow(used, now);
            } else {
                self.set_used(now);
            }
        }
        if was_active != active {
            self.rows.at_mut(seat).active = active;
            self.state.turn(active, weight, &used());
            self.settle();
        }
        if idles && used().is_empty() {
            self.rows.remove(level);
            return Followed::Gone;
        }
        if was_active == active { Followed::Kept } else { Followed::Turned }
    }

    /// Whether a user waits for something; under `smooth` for something that his own cap and limits
    /// allow.
    #[inline]
    fn is_active(
        &self,
        (trackers, shapes): (&Trackers, &Shapes),
        level: LevelId,
        of: &Found<'_, '_>,
    ) -> bool {
        let mut waits = of.row.waits.iter();
        if self.rules.formula != Formula::Smooth {
            return !of.row.waits.is_empty();
        }
        waits.any(|(shape, _)| {
            let ask = shapes.get(*shape);
            self.surely_allows(trackers, level, of, ask)
                || self.allows_exactly(trackers, level, of, ask)
        })
    }

    /// Whether cap and limits of a user allow an ask, without anything being worked out; if not, they
    /// still may.
    #[inline]
    fn surely_allows(
        &self,
        trackers: &Trackers,
        level: LevelId,
        of: &Found<'_, '_>,
        ask: &Resources,
    ) -> bool {
        let counted = counted(self.measure(), ask);
        let (Some(step), true) = (Step::of(ask), of.plain) else { return false };
        trackers.surely_allow(level, &step)
            && match &counted {
                Cow::Borrowed(_) => self.is_within_cap(of.row.weight, of.tally, &step),
                Cow::Owned(counted) => Step::of(counted)
                    .is_some_and(|step| self.is_within_cap(of.row.weight, of.tally, &step)),
            }
    }

    #[cold]
    fn allows_exactly(
        &self,
        trackers: &Trackers,
        level: LevelId,
        of: &Found<'_, '_>,
        ask: &Resources,
    ) -> bool {
        let counted = counted(self.measure(), ask);
        let used = trackers.find_level(level).map(Level::used).unwrap_or_default();
        trackers.refusing(level, 0, ask).is_none()
            && !self.rules.exceeds_cap(&self.state, of.row.weight, &used, &counted)
    }

    /// Who is active, what the inactive use, or what the leaf has, is something else.
    fn settle(&mut self) {
        self.sure = Sure::of(&self.rules, &self.state);
    }

    /// All users of the leaf use this by now, and what is other than before nobody active uses.
    fn set_used(&mut self, used: &Resources) {
        if self.state.used != *used {
            self.state.used.clone_from(used);
            self.settle();
        }
    }
}

impl Leaf {
    /// A user of this weight, who uses this, is active from now on, or no more.
    fn turn(&mut self, active: bool, weight: Decimal, used: &Resources) {
        if active {
            self.active += 1;
            self.active_weight = self.active_weight.plus(weight);
            self.used_active.add(used);
        } else {
            self.active -= 1;
            self.active_weight = self.active_weight.minus(weight);
            self.used_active.subtract(used);
        }
        self.used_active.prune();
    }

    /// A user uses something else than before.
    fn dominate(&mut self, rules: &Rules, before: &Resources, used: &Resources) {
        let [before, after] = [before, used].map(|used| rules.dominant(self, used));
        self.dominant.subtract(&before);
        self.dominant.add(&after);
        self.dominant.prune();
    }
}
