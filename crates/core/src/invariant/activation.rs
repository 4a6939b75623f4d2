//! Checks activated applications by recomputation.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::tracker::TrackerKind;
use crate::books::{Application, ApplicationState, Books, LeafDrivers, UserDrivers};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::resource::Resources;

use super::{Outcome, equal};

impl Books {
    /// Checks the numbers of applications of queues and users, and their drivers.
    pub(super) fn check_activation(&self) -> Outcome {
        let live = || self.applications().iter().filter(|(_, row)| row.state.is_active());
        let mut queues: BTreeMap<QueueId, (u64, u64)> = BTreeMap::new();
        let mut users: BTreeMap<(PartitionId, Name), u64> = BTreeMap::new();
        let mut waiting: BTreeMap<QueueId, u64> = BTreeMap::new();
        for (id, row) in live() {
            let has_some = self.allocations_of(id).any(|(_, one)| one.is_allocated());
            let starts = matches!(row.state, ApplicationState::New | ApplicationState::Accepted);
            let asks = self.allocations_of(id).any(|(_, one)| one.is_pending());
            if starts && !has_some || row.task.is_some() && asks {
                *waiting.entry(row.queue).or_default() += 1;
            }
            let activated = u64::from(row.driver.is_some());
            for (queue, _) in self.up(row.queue) {
                let counts = queues.entry(queue).or_default();
                (counts.0, counts.1) = (counts.0 + 1, counts.1 + activated);
            }
            if activated > 0 {
                *users.entry((row.partition, row.user.clone())).or_default() += 1;
            }
        }
        for (id, row) in self.queues().iter() {
            let counts = queues.get(&id).copied().unwrap_or_default();
            equal(
                &row.path,
                "applications and those activated",
                &(row.applications, row.activated),
                &counts,
            )?;
            let waits = waiting.get(&id).copied().unwrap_or_default();
            equal(&row.path, "applications that have not started", &row.waiting, &waits)?;
            let above = self.up(id).any(|(_, one)| one.settings.application_limits.is_some());
            let counted = row.leaf && row.parent.is_some() && above;
            equal(
                &row.path,
                "whether its drivers are counted",
                &self.drivers_of(id).is_some(),
                &counted,
            )?;
        }
        let stored: Vec<_> =
            self.activated_by_user().map(|(key, count)| (key.clone(), count)).collect();
        equal(
            "users",
            "their applications that were activated",
            &stored,
            &users.into_iter().collect(),
        )?;
        for (leaf, drivers) in self.leaves_with_drivers() {
            let here = live().map(|(_, row)| row).filter(|row| row.queue == leaf);
            self.check_drivers(leaf, drivers, here.collect())?;
        }
        Ok(())
    }

    fn check_drivers(
        &self,
        leaf: QueueId,
        stored: &LeafDrivers,
        here: Vec<&Application>,
    ) -> Outcome {
        let path = &self.queue(leaf).path;
        let mut users: BTreeMap<&Name, UserDrivers> = BTreeMap::new();
        let mut used = Resources::new();
        for row in here {
            let user = users.entry(&row.user).or_default();
            user.applications += 1;
            if let Some(driver) = row.driver.as_deref() {
                user.activated += 1;
                user.used.add(driver);
                used.add(driver);
            }
        }
        let trackers = &self.partition(self.queue(leaf).partition).trackers;
        for (name, user) in &mut users {
            user.used.prune();
            let level = trackers.level_of(TrackerKind::User, name, leaf);
            let row = level.zip(self.users_of(leaf)).and_then(|(level, all)| all.user(level));
            user.active = row.is_some_and(|row| row.active);
        }
        let activated: u64 = users.values().map(|user| user.activated).sum();
        equal(path, "activated applications", &stored.activated, &activated)?;
        equal(path, "what drivers have", &stored.used, &used.pruned())?;
        let waits = |user: &&UserDrivers| user.applications > user.activated && !user.active;
        let waiting = users.values().filter(waits).count() as u64;
        equal(path, "users who wait to begin", &stored.waiting_users, &waiting)?;
        let stored: Vec<_> = stored.users().collect();
        equal(
            path,
            "users with applications",
            &stored,
            &users.iter().map(|(name, user)| (*name, user)).collect(),
        )
    }
}
