//! Tree of levels: creation and removal.

use alloc::sync::Arc;

use crate::id::{LevelId, QueueId, TrackerId};
use crate::name::Name;
use crate::resource::PackedUsage;

use super::bound::SharedLimit;
use super::{Level, LevelRow, Tracker, TrackerError, TrackerKind, Trackers};

impl Trackers {
    /// Rejects a path that differs from the known path of its queues. The deepest queue with a level determines its
    /// ancestors, and all paths begin at one root.
    pub(super) fn check_path(&self, path: &[QueueId]) -> Result<(), TrackerError> {
        let anybody = self.users.first().or_else(|| self.groups.first());
        let Some((_, tracker)) = anybody else { return Ok(()) };
        let root = self.levels[self.rows[*tracker].root].queue;
        if path.first() != Some(&root) {
            let queue = path.first().copied().unwrap_or(root);
            return Err(TrackerError::OtherPath { queue });
        }
        let level = |queue: &QueueId| self.ids_at(*queue).next();
        let deepest = (0..path.len()).rev().find_map(|at| Some((at, level(&path[at])?)));
        let Some((depth, mut level)) = deepest else { return Ok(()) };
        for queue in path[..depth].iter().rev() {
            match self.levels[level].parent.filter(|above| self.levels[*above].queue == *queue) {
                Some(above) => level = above,
                None => return Err(TrackerError::OtherPath { queue: self.levels[level].queue }),
            }
        }
        match self.levels[level].parent {
            Some(_) => Err(TrackerError::OtherPath { queue: root }),
            None => Ok(()),
        }
    }

    /// Returns the level of a tracker at the end of this path. Creates missing levels, each with the limit that applies
    /// at its queue.
    pub(super) fn ensure(&mut self, tracker: TrackerId, path: &[QueueId]) -> LevelId {
        let known = |queue: &QueueId| self.places.get(&(*queue, tracker)).copied();
        let deepest = (0..path.len()).rev().find_map(|at| Some((at, known(&path[at])?)));
        let (depth, above) = deepest.map_or((0, None), |(at, level)| (at + 1, Some(level)));
        if let Some(level) = above.filter(|_| depth == path.len()) {
            return level;
        }
        if let Some(above) = above {
            self.stand(above);
        }
        let mut bottom = above;
        for at in depth..path.len() {
            bottom = Some(self.add_level(tracker, bottom, path[at], at + 1 == path.len()));
        }
        let bottom = bottom.expect("a path has a queue");
        self.open(bottom, PackedUsage::default(), above);
        if let Some(above) = above {
            self.lean(above);
        }
        bottom
    }

    /// Adds a tracker without levels. Its first path creates them.
    pub(super) fn add_tracker(&mut self, kind: TrackerKind, name: &Name) -> TrackerId {
        let row = Tracker { kind, name: name.clone(), root: LevelId::NONE };
        let tracker = self.rows.insert(row);
        match kind {
            TrackerKind::User => self.users.insert(name.clone(), tracker),
            TrackerKind::Group => self.groups.insert(name.clone(), tracker),
        };
        tracker
    }

    fn add_level(
        &mut self,
        tracker: TrackerId,
        parent: Option<LevelId>,
        queue: QueueId,
        is_end: bool,
    ) -> LevelId {
        let mut level = LevelRow::new(tracker, parent, queue);
        (level.bound, level.from_wildcard) = self.bound_of(tracker, queue);
        let next = parent.and_then(|parent| self.levels[parent].first_child);
        level.next_sibling = next;
        let id = self.levels.insert(level, is_end);
        self.places.insert((queue, tracker), id);
        if let Some(next) = next {
            self.levels[next].previous_sibling = Some(id);
        }
        match parent {
            Some(parent) => self.levels[parent].first_child = Some(id),
            None => self.rows[tracker].root = id,
        }
        id
    }

    /// Returns the limit that applies to a tracker at a queue, if any, and whether it is the one for all others.
    pub(super) fn bound_of(
        &self,
        tracker: TrackerId,
        queue: QueueId,
    ) -> (Option<Arc<SharedLimit>>, bool) {
        let owner = &self.rows[tracker];
        let limits = self.limits.get(&queue);
        match limits.and_then(|all| all.find(owner.kind, &owner.name)) {
            Some((bound, from_wildcard)) => (Some(bound.clone()), from_wildcard),
            None => (None, false),
        }
    }

    /// Returns the child levels of a level, newest first.
    pub fn children(&self, parent: LevelId) -> impl Iterator<Item = (LevelId, Level<'_>)> {
        let mut next = self.levels[parent].first_child;
        core::iter::from_fn(move || {
            let id = next?;
            let level = self.level(id);
            next = level.next_sibling;
            Some((id, level))
        })
    }

    /// Removes this level and its ancestors as long as they are not needed. Updates whether the first remaining level
    /// has its own account.
    pub(super) fn prune(&mut self, leaf: LevelId) {
        let (mut next, mut closed) = (Some(leaf), None);
        while let Some(id) = next
            && !self.is_needed(id)
        {
            let level = self.levels.remove(id).expect("looked at above");
            if level.has_account {
                closed = Some(self.close(id));
            }
            self.places.remove(&(level.queue, level.tracker));
            match level.parent {
                Some(parent) => self.detach(parent, &level),
                None => self.remove_tracker(level.tracker),
            }
            next = level.parent;
        }
        let Some(left) = next else { return };
        match closed.filter(|_| !self.levels[left].has_account) {
            // The remaining level shared the account of the removed one.
            Some(account) => self.open(left, *account.tally(), self.accounts.above(&account)),
            None => self.lean(left),
        }
    }

    /// Returns whether a level must remain. A level without an account and without a child shared the account of a
    /// removed level, which had no usage.
    fn is_needed(&self, level: LevelId) -> bool {
        let row = &self.levels[level];
        row.is_needed() || (row.has_account && !self.accounts[level].tally().is_zero())
    }

    fn detach(&mut self, parent: LevelId, level: &LevelRow) {
        match level.previous_sibling {
            Some(previous) => self.levels[previous].next_sibling = level.next_sibling,
            None => self.levels[parent].first_child = level.next_sibling,
        }
        if let Some(next) = level.next_sibling {
            self.levels[next].previous_sibling = level.previous_sibling;
        }
    }

    fn remove_tracker(&mut self, tracker: TrackerId) {
        let row = self.rows.remove(tracker).expect("a level has its tracker");
        match row.kind {
            TrackerKind::User => self.users.remove(&*row.name),
            TrackerKind::Group => self.groups.remove(&*row.name),
        };
    }
}
