//! Changes of the limits of a queue: queues and limits §8.6 as a table of the results.
//!
//! | limit | result |
//! | --- | --- |
//! | names a user or group, including the group `*` | the levels of the path exist, and the last one has it |
//! | no longer names the user or group | the limit for all other users applies, if any; unused levels are removed |
//! | for all other users, new or changed | every user without a named limit has it; see `LEVELS_FORESEEN_MAX` |
//! | for all other users, removed | cleared wherever it applied |

use alloc::vec::Vec;

use crate::id::{LevelId, QueueId, TrackerId};
use crate::name::Name;
use crate::resource::Resources;

use super::limit::QueueLimits;
use super::{Level, LimitSettings, TrackerError, TrackerKind, Trackers};

/// Largest number of levels that are created for users who might never use them: users times queues with a limit for
/// all other users. For 10,000 of each, the product would be a hundred million.
const LEVELS_FORESEEN_MAX: usize = 100_000;

impl Trackers {
    /// Replaces all limits of the queue at the end of this path. `max` has their resources as vectors.
    ///
    /// Costs the users and groups that a limit names before or after. If the limit for all other users is added or
    /// changed, costs all users.
    ///
    /// # Errors
    ///
    /// Fails if the path is empty or differs from the known path of its queues, or if a name is empty.
    pub fn set_limits(
        &mut self,
        path: &[QueueId],
        limits: &[LimitSettings],
        max: Vec<Option<Resources>>,
    ) -> Result<(), TrackerError> {
        let &queue = path.last().ok_or(TrackerError::EmptyPath)?;
        let after = QueueLimits::of(limits, max);
        if after.names().any(|(_, name)| name.is_empty()) {
            return Err(TrackerError::EmptyName);
        }
        self.check_path(path)?;
        let before = self.limits.remove(&queue).unwrap_or_default();
        match &after.any_user {
            Some(_) => self.wildcards.insert(queue, path.into()),
            None => self.wildcards.remove(&queue),
        };
        if !limits.is_empty() {
            self.limits.insert(queue, after.clone());
        }
        for (kind, name) in after.names() {
            let level = self.ensure_named(kind, &name, path);
            self.obey(queue, level);
        }
        for (kind, name) in before.names().filter(|(kind, name)| !after.has_name(*kind, name)) {
            if let Some(level) = self.level_of(kind, &name, queue) {
                self.obey(queue, level);
                self.prune(level);
            }
        }
        if before.any_user != after.any_user {
            if after.any_user.is_some() {
                self.limit_other_users(path, &after);
            } else {
                self.free_other_users(queue);
            }
        }
        Ok(())
    }

    /// Returns the level of a named user or group at the end of this path, and creates it if it is missing.
    ///
    /// A new user also gets levels at all queues with a limit for all other users.
    fn ensure_named(&mut self, kind: TrackerKind, name: &Name, path: &[QueueId]) -> LevelId {
        let known = self.find(kind, name);
        let tracker = known.unwrap_or_else(|| self.add_tracker(kind, name));
        if known.is_none() && kind == TrackerKind::User && self.may_foresee() {
            let paths: Vec<_> = self.wildcards.iter().map(|(_, path)| path.clone()).collect();
            for path in paths {
                self.ensure(tracker, &path);
            }
        }
        self.ensure(tracker, path)
    }

    /// Sets the limit that applies to a level at its queue, or clears it.
    fn obey(&mut self, queue: QueueId, level: LevelId) {
        let (bound, from_wildcard) = self.bound_of(self.levels[level].tracker, queue);
        let row = &mut self.levels[level];
        (row.bound, row.from_wildcard) = (bound, from_wildcard);
        self.rebind(level);
    }

    /// Sets the limit for all other users on every user without a named limit at this queue.
    fn limit_other_users(&mut self, path: &[QueueId], limits: &QueueLimits) {
        let Some(&queue) = path.last() else { return };
        if !self.may_foresee() {
            let is_user = |tracker: TrackerId| self.rows[tracker].kind == TrackerKind::User;
            let here = self.ids_at(queue).filter(|id| is_user(self.levels[*id].tracker));
            for level in here.collect::<Vec<_>>() {
                self.obey(queue, level);
            }
            return;
        }
        let others: Vec<TrackerId> = self
            .users
            .iter()
            .filter(|(name, _)| limits.users.get(&**name).is_none())
            .map(|(_, tracker)| *tracker)
            .collect();
        for tracker in others {
            let level = self.ensure(tracker, path);
            self.obey(queue, level);
        }
    }

    /// Returns whether users get levels for limits for all other users before they use them. Not if there would be very
    /// many. A level that is created later has the same limit, so the only difference is whether it is listed before
    /// its first use.
    fn may_foresee(&self) -> bool {
        self.users.len().saturating_mul(self.wildcards.len()) <= LEVELS_FORESEEN_MAX
    }

    /// Clears the limit for all other users wherever it applied at this queue.
    fn free_other_users(&mut self, queue: QueueId) {
        let held = self.ids_at(queue).filter(|id| self.levels[*id].from_wildcard);
        let held: Vec<LevelId> = held.collect();
        for level in held {
            self.obey(queue, level);
            self.prune(level);
        }
    }

    /// Returns the levels of users and groups at one queue.
    pub fn levels_at(&self, queue: QueueId) -> impl Iterator<Item = (LevelId, Level<'_>)> {
        self.ids_at(queue).map(|id| (id, self.level(id)))
    }

    pub(super) fn ids_at(&self, queue: QueueId) -> impl Iterator<Item = LevelId> {
        self.places
            .iter_from(&(queue, TrackerId::FIRST))
            .take_while(move |((at, _), _)| *at == queue)
            .map(|(_, level)| *level)
    }
}
