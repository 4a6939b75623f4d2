//! Updates the users of leaves with user limits.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::books::{Books, Shapes};
use crate::id::{ApplicationId, LevelId, PartitionId, QueueId, ShapeId};
use crate::resource::Resources;
use crate::userlimit::{Formula, Leaf};

use super::{Change, LeafShares, LeafUser, RowUpdate, UserRow};

impl Books {
    /// Records whether an ask of an application waits.
    #[inline]
    pub(in crate::books) fn share_ask(&mut self, of: ApplicationId, shape: ShapeId, waits: bool) {
        if self.has_user_limits()
            && let Some((leaf, level)) = self.sharer(of)
        {
            self.look_at_user(leaf, level, Moved { ask: Some((shape, waits)), ..Moved::default() });
        }
    }

    /// Records that an ask of an application was placed, which increases the usage of its user. `calm` is whether the
    /// trackers report that the user certainly stays as active as before.
    #[inline]
    pub(in crate::books) fn share_placed(&mut self, of: ApplicationId, shape: ShapeId, calm: bool) {
        if self.has_user_limits() {
            let ask = self.sharer(of).is_some().then_some((shape, false));
            self.look_at_use(of, Moved { ask, used: Used::Shape(shape), calm });
        }
    }

    /// Changes the usage of the user of an application. The amount can be negative.
    #[inline]
    pub(in crate::books) fn share_use(
        &mut self,
        of: ApplicationId,
        calm: bool,
        more: impl FnOnce() -> Resources,
    ) {
        if self.has_user_limits() && !calm {
            self.look_at_use(of, Moved { ask: None, used: Used::By(&more()), calm });
        }
    }

    fn look_at_use(&mut self, of: ApplicationId, moved: Moved<'_>) {
        let row = &self.applications[of];
        let (leaf, link) = (row.queue, row.link);
        if let Some(link) = link {
            self.look_at_everywhere(leaf, link.user, moved);
        } else if let Some(users) = self.sharing.leaves.get_mut(&leaf) {
            // The usage belongs to an inactive user.
            if let Some(more) = moved.used.amount(&self.shapes) {
                Arc::make_mut(users).use_inactively(more);
            }
        }
    }

    /// Adds or removes all waiting asks of an application that was linked, or is about to be unlinked.
    pub(in crate::books) fn share_all(&mut self, of: ApplicationId, waits: bool) {
        if !self.has_user_limits() {
            return;
        }
        if let Some((leaf, level)) = self.sharer(of) {
            let asks = self.allocations_of(of).filter(|(_, row)| row.is_pending());
            let shapes: Vec<ShapeId> = asks.map(|(_, row)| row.shape).collect();
            if !shapes.is_empty() {
                self.know_user(leaf, level);
                let user = self.user_row(leaf, level).expect("the lookup just succeeded");
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

    /// Recounts the users of a new queue, or of one with changed rules.
    pub(in crate::books) fn share_leaf(&mut self, leaf: QueueId) {
        let row = self.queue(leaf);
        let config = row.settings.user_limits.clone().filter(|_| row.leaf && row.parent.is_some());
        let partition = row.partition;
        self.forget_leaf(leaf);
        let Some(config) = config else { return };
        let mut users = LeafShares::new(self, partition, &config);
        // No user is active yet.
        users.use_inactively(&self.queue(leaf).allocated);
        self.sharing.leaves.insert(leaf, users.into());
        self.look_at_leaf(leaf);
        let of: Vec<ApplicationId> = self.applications_in(leaf).map(|(id, _)| id).collect();
        for application in of {
            self.share_all(application, true);
        }
    }

    /// Updates the leaves in the subtree of a queue after its maximum changed.
    pub(in crate::books) fn look_below(&mut self, queue: QueueId) {
        let below = |leaf: &QueueId| self.up(*leaf).any(|(above, _)| above == queue);
        let leaves: Vec<QueueId> =
            self.sharing.leaves.iter().map(|(leaf, _)| *leaf).filter(below).collect();
        for leaf in leaves {
            self.look_at_leaf(leaf);
            self.look_at_all_in(leaf);
        }
    }

    /// Updates the properties of a leaf that its users share.
    fn look_at_leaf(&mut self, leaf: QueueId) {
        let formula = self.leaf_users(leaf).rules.formula;
        let now = self.leaf_alone(leaf, formula);
        let users = self.leaf_users(leaf);
        let Leaf { total, guaranteed, max, sections, .. } = now;
        let before = core::mem::take(&mut users.outline);
        users.outline = Leaf { total, guaranteed, max, sections, ..before };
        users.settle();
    }

    /// Counts the users of all leaves after the books were deserialized.
    #[cfg(feature = "snapshot")]
    pub(in crate::books) fn share_leaves(&mut self) {
        let leaves: Vec<QueueId> = self.queues.iter().map(|(id, _)| id).collect();
        for leaf in leaves {
            self.share_leaf(leaf);
        }
    }

    /// Returns the leaves of a partition with user limits.
    fn sharing_in(&self, partition: PartitionId) -> Vec<QueueId> {
        let mine = |leaf: &QueueId| self.queues[*leaf].partition == partition;
        self.sharing.leaves.iter().map(|(leaf, _)| *leaf).filter(mine).collect()
    }

    /// Recounts the users of the leaves of a partition after the labels of its types changed.
    pub(in crate::books) fn share_by_label(&mut self, partition: PartitionId) {
        for leaf in self.sharing_in(partition) {
            self.share_leaf(leaf);
        }
    }

    /// Removes the users of a queue that is removed or about to be recounted.
    pub(in crate::books) fn forget_leaf(&mut self, leaf: QueueId) {
        let Some(before) = self.sharing.leaves.remove(&leaf) else { return };
        let partition = self.queue(leaf).partition;
        for level in before.rows.levels() {
            self.trackers(partition).set_active_up_to(level, None);
            self.note_user(partition, (leaf, level), false);
        }
        self.note_nobody_active(leaf);
    }

    /// Updates all users of a partition after its limits changed.
    pub(in crate::books) fn look_at_all_users(&mut self, partition: PartitionId) {
        for leaf in self.sharing_in(partition) {
            self.look_at_all_in(leaf);
        }
    }

    /// Updates leaves after the size of the cluster or of queues in the subtree of `top` changed. The shared amounts,
    /// the dominant types, and the active users can change.
    pub(in crate::books) fn look_at_sizes(&mut self, top: QueueId) {
        if !self.has_user_limits() {
            return;
        }
        let below = |leaf: &QueueId| self.up(*leaf).any(|(above, _)| above == top);
        let leaves: Vec<QueueId> =
            self.sharing.leaves.iter().map(|(leaf, _)| *leaf).filter(below).collect();
        for leaf in leaves {
            let sizes = |of: &LeafShares| (of.outline.guaranteed.clone(), of.outline.max.clone());
            let before = sizes(self.leaf_users(leaf));
            self.look_at_leaf(leaf);
            let users = self.leaf_users(leaf);
            let sized = before != sizes(users);
            if !users.looks_at_cluster() && !sized {
                continue;
            }
            if users.rules.formula == Formula::Yarn3 {
                let users = self.users_of(leaf).expect("the leaf has user limits");
                let of = |user: LeafUser<'_>| users.rules().dominant(users.outline(), &user.used());
                let each = users.users().map(|(_, user)| of(user));
                let dominant = each.fold(Resources::new(), |sum, one| sum.plus(&one)).pruned();
                self.leaf_users(leaf).outline.dominant = dominant;
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

    /// Returns the leaf and the level of an application in a leaf with user limits.
    fn sharer(&self, of: ApplicationId) -> Option<(QueueId, LevelId)> {
        let row = &self.applications[of];
        self.sharing.leaves.get(&row.queue)?;
        // Asks that are not checked yet do not make a user active.
        let counts = !self.waits_for_activation(of);
        counts.then_some((row.queue, row.link?.user))
    }

    fn leaf_users(&mut self, leaf: QueueId) -> &mut LeafShares {
        Arc::make_mut(self.sharing.leaves.get_mut(&leaf).expect("the leaf has user limits"))
    }

    /// Returns the row of a user, if it exists.
    fn user_row(&mut self, leaf: QueueId, level: LevelId) -> Option<&mut UserRow> {
        let users = Arc::make_mut(self.sharing.leaves.get_mut(&leaf)?);
        let trackers = &self.partitions[&self.queues[leaf].partition].trackers;
        let seat = users.rows.find(trackers, level)?.seat;
        Some(users.rows.at_mut(seat))
    }

    /// Creates a row for a user.
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
            users.outline.dominate(&users.rules, &Resources::new(), &used);
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

    /// Updates the rows of a user in all leaves. The usage in one leaf counts against limits of ancestors, and
    /// therefore in other leaves.
    fn look_at_everywhere(&mut self, leaf: QueueId, level: LevelId, moved: Moved<'_>) {
        self.look_at_user(leaf, level, moved);
        if moved.calm {
            return; // The user has no other row.
        }
        let others: Vec<(QueueId, LevelId)> = self.other_rows_of(leaf, level).collect();
        for (leaf, level) in others {
            self.look_at_user(leaf, level, Moved::default());
        }
    }

    /// Updates the row of a user, and the sums of the leaf.
    fn look_at_user(&mut self, leaf: QueueId, level: LevelId, moved: Moved<'_>) {
        let Some(users) = self.sharing.leaves.get_mut(&leaf) else { return };
        let (partition, users) = (self.queues[leaf].partition, Arc::make_mut(users));
        let of = self.partitions.get_mut(&partition).expect("a queue has its partition");
        let used = moved.used.amount(&self.shapes);
        let change = Change { ask: moved.ask, used, calm: moved.calm };
        match users.follow((&mut of.trackers, &self.shapes), level, change) {
            RowUpdate::Unchanged => {}
            RowUpdate::ActivityChanged => {
                let user = self.users_of(leaf).and_then(|users| users.user(level));
                let active = user.is_some_and(|user| user.active);
                self.note_active(leaf, level, active);
            }
            RowUpdate::Gone => {
                self.note_active(leaf, level, false);
                self.note_user(partition, (leaf, level), false);
            }
            RowUpdate::Unknown => {
                if let Some(used) = used {
                    users.use_inactively(used); // Nobody active uses it.
                }
                let level_row = of.trackers.find_level(level);
                let uses = level_row.is_some_and(|level| !level.used().is_empty());
                if moved.ask.is_some() || uses {
                    self.know_user(leaf, level);
                    self.look_at_user(leaf, level, Moved { used: Used::AsBefore, ..moved });
                }
            }
        }
    }
}

/// Change of a user in one leaf.
#[derive(Clone, Copy, Debug, Default)]
struct Moved<'a> {
    /// An ask of this shape, and whether it waits now.
    ask: Option<(ShapeId, bool)>,
    used: Used<'a>,
    /// Whether the user certainly stays as active as before, and uses no other leaf.
    calm: bool,
}

/// Change of the usage of a user.
#[derive(Clone, Copy, Debug, Default)]
enum Used<'a> {
    /// No change.
    #[default]
    AsBefore,
    /// The amounts of an ask of this shape.
    Shape(ShapeId),
    /// This amount, which can be negative.
    By(&'a Resources),
}

impl<'a> Used<'a> {
    fn amount(self, shapes: &'a Shapes) -> Option<&'a Resources> {
        match self {
            Self::AsBefore => None,
            Self::Shape(shape) => Some(shapes.get(shape)),
            Self::By(more) => Some(more),
        }
    }
}
