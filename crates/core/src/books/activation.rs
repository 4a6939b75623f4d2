//! Activated applications, whose asks the scheduler checks and whose drivers are counted. Source: user-headroom §5.
//!
//! All data follows from the applications and the application limits of the queue file. It is stored so that a check
//! costs the depth of the tree. Contains only leaves in the subtree of a queue with `applicationlimits`.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::config::ApplicationLimitsConfig;
use crate::config::legal::RECOVERY_QUEUE;
use crate::id::{ApplicationId, LevelId, PartitionId, QueueId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::resource::Resources;
use crate::userlimit::DriverRules;

use super::{Books, Queue};

/// All leaves in which applications are counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Activation {
    leaves: OrderedMap<QueueId, Arc<LeafDrivers>>,
    /// Number of active applications by user.
    by_user: OrderedMap<(PartitionId, Name), u64>,
}

/// Applications of one leaf by user, and their drivers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeafDrivers {
    /// Whether applications must be activated here.
    holds: bool,
    rules: Option<DriverRules>,
    /// Usage of the drivers of active applications.
    pub used: Resources,
    /// Number of active applications.
    pub activated: u64,
    /// Number of users with an application that waits for activation who are not active users themselves.
    pub waiting_users: u64,
    users: OrderedMap<Name, UserDrivers>,
}

/// Applications of one user in a leaf.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserDrivers {
    /// Number of unfinished applications.
    pub applications: u64,
    /// Number of active applications.
    pub activated: u64,
    /// Usage of their drivers.
    pub used: Resources,
    /// Whether the user is an active user of the leaf.
    pub active: bool,
}

impl UserDrivers {
    /// Returns whether the user counts only because of applications that wait for activation.
    const fn waits(&self) -> bool {
        self.applications > self.activated && !self.active
    }
}

impl LeafDrivers {
    /// Returns whether applications must be activated here before their asks are checked.
    pub const fn holds_back(&self) -> bool {
        self.holds
    }

    /// Returns the limits on drivers. `None` if there is no limit.
    pub const fn rules(&self) -> Option<DriverRules> {
        self.rules
    }

    /// Returns the users with an unfinished application, in the order of their names.
    pub fn users(&self) -> impl Iterator<Item = (&Name, &UserDrivers)> {
        self.users.iter()
    }

    /// Returns the counts of a user.
    pub fn user(&self, user: &str) -> Option<&UserDrivers> {
        self.users.get(user)
    }

    /// Changes the counts of a user. Removes the row with the last application of the user.
    fn change_user(&mut self, user: &Name, change: impl FnOnce(&mut UserDrivers)) {
        let mut row = self.users.get(user).cloned().unwrap_or_default();
        let before = u64::from(row.waits());
        change(&mut row);
        self.waiting_users = self.waiting_users - before + u64::from(row.waits());
        if row.applications == 0 {
            self.users.remove(user);
        } else {
            self.users.insert(user.clone(), row);
        }
    }
}

impl Books {
    /// Returns the applications of a leaf and their drivers. `None` if the leaf does not count them.
    #[inline]
    pub fn drivers_of(&self, leaf: QueueId) -> Option<&LeafDrivers> {
        if self.activation.leaves.is_empty() {
            return None;
        }
        self.activation.leaves.get(&leaf).map(|drivers| &**drivers)
    }

    /// Returns whether any leaf counts applications.
    #[inline]
    pub const fn counts_applications(&self) -> bool {
        !self.activation.leaves.is_empty()
    }

    /// Returns whether an application must be activated before its asks are checked.
    #[inline]
    pub fn waits_for_activation(&self, application: ApplicationId) -> bool {
        if self.activation.leaves.is_empty() {
            return false;
        }
        let Some(row) = self.applications.get(application) else { return false };
        let may_wait = row.driver.is_none() && row.state.is_active();
        may_wait && self.drivers_of(row.queue).is_some_and(|leaf| leaf.holds)
    }

    /// Returns the number of active applications of a user in a partition.
    pub fn activated_of(&self, partition: PartitionId, user: &Name) -> u64 {
        self.activation.by_user.get(&(partition, user.clone())).copied().unwrap_or(0)
    }

    /// Returns the users with an active application, with their numbers.
    pub(crate) fn activated_by_user(&self) -> impl Iterator<Item = (&(PartitionId, Name), u64)> {
        self.activation.by_user.iter().map(|(key, count)| (key, *count))
    }

    /// Returns the leaves that count applications.
    pub fn leaves_with_drivers(&self) -> impl Iterator<Item = (QueueId, &LeafDrivers)> {
        self.activation.leaves.iter().map(|(leaf, drivers)| (*leaf, &**drivers))
    }

    /// Adds an application to the counts of its queue, or removes it.
    pub(super) fn count_application(&mut self, application: ApplicationId, is_there: bool) {
        let row = &self.applications[application];
        let (partition, leaf, user) = (row.partition, row.queue, row.user.clone());
        let (driver, waits) = (row.driver.clone(), row.is_waiting());
        if waits {
            add(&mut self.queues[leaf].waiting, is_there);
        }
        self.each_up(leaf, |queue| add(&mut queue.applications, is_there));
        let count = |books: &mut Self| {
            if let Some(drivers) = books.leaf_drivers(leaf) {
                drivers.change_user(&user, |user| add(&mut user.applications, is_there));
            }
        };
        // The row of a user is removed with the last application of the user.
        if is_there {
            count(self);
        }
        if let Some(driver) = driver {
            self.count_driver(partition, leaf, &user, &driver, is_there);
        }
        if !is_there {
            count(self);
        }
    }

    /// Updates the number of waiting applications after an application can have started or can wait again.
    #[inline]
    pub(super) fn follow_start(&mut self, application: ApplicationId, waited: bool) {
        let row = &self.applications[application];
        let waits = row.is_waiting();
        if waits != waited {
            add(&mut self.queues[row.queue].waiting, waits);
        }
    }

    /// Records the activation of an application.
    pub(super) fn activate(&mut self, application: ApplicationId, driver: &Resources) {
        let row = &mut self.applications[application];
        row.driver = Some(Box::new(driver.clone()));
        let (partition, leaf, user) = (row.partition, row.queue, row.user.clone());
        self.count_driver(partition, leaf, &user, driver, true);
        self.share_all(application, true);
    }

    fn count_driver(
        &mut self,
        partition: PartitionId,
        leaf: QueueId,
        user: &Name,
        driver: &Resources,
        is_there: bool,
    ) {
        self.each_up(leaf, |queue| add(&mut queue.activated, is_there));
        let key = (partition, user.clone());
        let mut count = self.activation.by_user.get(&key).copied().unwrap_or(0);
        add(&mut count, is_there);
        if count == 0 {
            self.activation.by_user.remove(&key);
        } else {
            self.activation.by_user.insert(key, count);
        }
        let Some(drivers) = self.leaf_drivers(leaf) else { return };
        let change = |used: &mut Resources| {
            if is_there {
                used.add(driver);
            } else {
                used.subtract(driver);
            }
            used.prune();
        };
        add(&mut drivers.activated, is_there);
        change(&mut drivers.used);
        drivers.change_user(user, |user| {
            add(&mut user.activated, is_there);
            change(&mut user.used);
        });
    }

    /// Records whether a user of a leaf is an active user.
    pub(super) fn note_active(&mut self, leaf: QueueId, level: LevelId, active: bool) {
        if self.drivers_of(leaf).is_none() {
            return;
        }
        let trackers = &self.partition(self.queue(leaf).partition).trackers;
        let Some(row) = trackers.find_level(level) else { return };
        let user = trackers.tracker(row.tracker).name.clone();
        if let Some(drivers) = self.leaf_drivers(leaf).filter(|leaf| leaf.user(&user).is_some()) {
            drivers.change_user(&user, |user| user.active = active);
        }
    }

    /// Marks all users of a leaf as inactive.
    pub(super) fn note_nobody_active(&mut self, leaf: QueueId) {
        let Some(drivers) = self.leaf_drivers(leaf) else { return };
        let active = drivers.users.iter().filter(|(_, user)| user.active);
        let active: Vec<Name> = active.map(|(name, _)| name.clone()).collect();
        for user in active {
            drivers.change_user(&user, |user| user.active = false);
        }
    }

    fn leaf_drivers(&mut self, leaf: QueueId) -> Option<&mut LeafDrivers> {
        self.activation.leaves.get_mut(&leaf).map(Arc::make_mut)
    }

    /// Recounts the applications of a leaf after it was added or removed, or after settings of it or of an ancestor
    /// changed.
    pub(super) fn count_leaf(&mut self, leaf: QueueId) {
        self.activation.leaves.remove(&leaf);
        let Some(row) = self.queues.get(leaf).filter(|row| row.leaf && row.parent.is_some()) else {
            return;
        };
        let own = row.settings.application_limits.as_deref();
        let says = |queue: &Queue| queue.settings.application_limits.is_some();
        if !self.up(leaf).any(|(_, queue)| says(queue)) {
            return;
        }
        let counts = |queue: &Queue| {
            let limits = queue.settings.application_limits.as_deref();
            limits.is_some_and(|limits| limits.max_parallel.is_some())
        };
        let holds = own.is_some_and(ApplicationLimitsConfig::holds_back)
            || self.up(leaf).any(|(_, queue)| counts(queue));
        let mut drivers = LeafDrivers {
            // The recovery queue does not wait for activation.
            holds: holds && row.name != RECOVERY_QUEUE,
            rules: own.and_then(|limits| limits.driver).map(|part| DriverRules { part }),
            ..LeafDrivers::default()
        };
        for (_, application) in self.applications_in(leaf) {
            let driver = application.driver.as_deref();
            drivers.change_user(&application.user, |user| {
                user.applications += 1;
                user.activated += u64::from(driver.is_some());
                user.used.add(driver.unwrap_or(&Resources::new()));
            });
            if let Some(driver) = driver {
                drivers.activated += 1;
                drivers.used.add(driver);
            }
        }
        self.activation.leaves.insert(leaf, drivers.into());
        let users = self.users_of(leaf).into_iter().flat_map(super::LeafUsers::users);
        let active: Vec<LevelId> =
            users.filter(|(_, user)| user.active).map(|(level, _)| level).collect();
        for level in active {
            self.note_active(leaf, level, true);
        }
    }

    /// Recounts the leaves in the subtree of a queue after its settings changed.
    pub(super) fn count_leaves_below(&mut self, queue: QueueId) {
        let mut open: Vec<QueueId> = alloc::vec![queue];
        while let Some(queue) = open.pop() {
            open.extend(self.children(queue).map(|(id, _)| id));
            self.count_leaf(queue);
            self.share_leaf(queue);
        }
    }

    /// Counts all applications after the books were deserialized.
    #[cfg(feature = "snapshot")]
    pub(super) fn count_all(&mut self) {
        let live = self.applications.iter().filter(|(_, row)| row.state.is_active());
        let live: Vec<ApplicationId> = live.map(|(id, _)| id).collect();
        for application in live {
            self.count_application(application, true);
        }
        let queues: Vec<QueueId> = self.queues.iter().map(|(id, _)| id).collect();
        for queue in queues {
            self.count_leaf(queue);
        }
    }
}

fn add(count: &mut u64, is_there: bool) {
    if is_there { *count += 1 } else { *count -= 1 }
}
