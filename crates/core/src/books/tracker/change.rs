//! Other limits in a queue: queues and limits §8.6 as a table of what is to be.
//!
//! | limit | what follows |
//! | --- | --- |
//! | names a user or group, `*` groups included | tracker and levels of the path exist, the level has it |
//! | no longer names the user or group | that of all other users applies if there is one, else none; what nothing needs goes |
//! | of all other users, new or changed | every user tracker without a named limit at the queue has it, levels of the path made unless these are very many |
//! | of all other users, gone | cleared wherever it was in force |

use alloc::vec::Vec;

use crate::id::{LevelId, QueueId, TrackerId};
use crate::name::Name;
use crate::resource::Resources;

use super::limit::QueueLimits;
use super::{Level, LimitSettings, TrackerError, TrackerKind, Trackers};

/// How many levels are made for users who may never use them: users by queues that limit all
/// other users. Of 10,000 of each it would be a hundred million.
const LEVELS_FORESEEN_MAX: usize = 100_000;

impl Trackers {
    /// Make these all the limits of the queue at the end of this path, `max` being their
    /// resources as vectors.
    ///
    /// Costs those whom a limit names before or after, and all users where the limit of all
    /// other users comes or changes.
    ///
    /// # Errors
    /// When the path is empty or not where its queues are, or a name is empty.
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

    /// The tracker of someone whom a limit names, with the level at the end of this path.
    ///
    /// A user who is met here for the first time is one of those whom the limits of all other
    /// users concern, wherever they are.
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

    /// Give a level the limit that is in force for it at its queue, or none.
    fn obey(&mut self, queue: QueueId, level: LevelId) {
        let (bound, from_wildcard) = self.bound_of(self.levels[level].tracker, queue);
        let row = &mut self.levels[level];
        (row.bound, row.from_wildcard) = (bound, from_wildcard);
        self.rebind(level);
    }

    /// Give every user whom no limit names at this queue the limit of all others.
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

    /// Whether users get the levels of limits of all other users before they use them: not where
    /// that would be very many. A level that is made later has the same limit, so all that
    /// differs is whether it is listed before it is used.
    fn may_foresee(&self) -> bool {
        self.users.len().saturating_mul(self.wildcards.len()) <= LEVELS_FORESEEN_MAX
    }

    /// Clear the limit of all others wherever it was in force at this queue.
    fn free_other_users(&mut self, queue: QueueId) {
        let held = self.ids_at(queue).filter(|id| self.levels[*id].from_wildcard);
        let held: Vec<LevelId> = held.collect();
        for level in held {
            self.obey(queue, level);
            self.prune(level);
        }
    }

    /// The levels at one queue, of users and groups.
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
