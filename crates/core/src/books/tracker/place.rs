//! The tree of levels: where they hang, how they come and go.

use alloc::sync::Arc;

use crate::id::{LevelId, QueueId, TrackerId};
use crate::name::Name;

use super::account::Bound;
use super::{Level, LevelRow, Tracker, TrackerError, TrackerKind, Trackers};

impl Trackers {
    /// Refuse a path that is not the one of its queues, as far as levels tell: the deepest
    /// queue at which anybody has one knows what is above it, and all begin at one root.
    pub(super) fn check_path(&self, path: &[QueueId]) -> Result<(), TrackerError> {
        let anybody = self.users.first().or_else(|| self.groups.first());
        let Some((_, tracker)) = anybody else { return Ok(()) };
        let root = self.levels[self.rows[*tracker].root].queue;
        if path.first() != Some(&root) {
            let queue = path.first().copied().unwrap_or(root);
            return Err(TrackerError::OtherPath { queue });
        }
        let level = |queue: &QueueId| self.levels_at(*queue).next().map(|(id, _)| id);
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

    /// The level of a tracker at the end of this path, made with those above it where it is
    /// missing, each with the limit in force at its queue.
    pub(super) fn ensure(&mut self, tracker: TrackerId, path: &[QueueId]) -> LevelId {
        let known = |queue: &QueueId| self.places.get(&(*queue, tracker)).copied();
        let deepest = (0..path.len()).rev().find_map(|at| Some((at, known(&path[at])?)));
        let (depth, mut at) = deepest.unwrap_or((0, self.rows[tracker].root));
        for queue in &path[depth + 1..] {
            at = self.add_level(tracker, Some(at), *queue);
        }
        at
    }

    pub(super) fn add_tracker(
        &mut self,
        kind: TrackerKind,
        name: &Name,
        root: QueueId,
    ) -> TrackerId {
        let row = Tracker { kind, name: name.clone(), root: LevelId::NONE };
        let tracker = self.rows.insert(row);
        match kind {
            TrackerKind::User => self.users.insert(name.clone(), tracker),
            TrackerKind::Group => self.groups.insert(name.clone(), tracker),
        };
        let root = self.add_level(tracker, None, root);
        self.rows[tracker].root = root;
        tracker
    }

    fn add_level(
        &mut self,
        tracker: TrackerId,
        parent: Option<LevelId>,
        queue: QueueId,
    ) -> LevelId {
        let (bound, from_wildcard) = self.bound_of(tracker, queue);
        let mut level = LevelRow::new(tracker, parent, queue);
        level.from_wildcard = from_wildcard;
        let next = parent.and_then(|parent| self.levels[parent].first_child);
        level.next_sibling = next;
        let id = self.levels.insert(level);
        let opened = self.accounts.open(parent, bound);
        debug_assert_eq!(id, opened, "levels and accounts come and go together");
        self.places.insert((queue, tracker), id);
        if let Some(next) = next {
            self.levels[next].previous_sibling = Some(id);
        }
        if let Some(parent) = parent {
            self.levels[parent].first_child = Some(id);
        }
        id
    }

    /// The limit that is in force for a tracker at a queue, or none, and whether it is the one
    /// of all others.
    pub(super) fn bound_of(&self, tracker: TrackerId, queue: QueueId) -> (Arc<Bound>, bool) {
        let owner = &self.rows[tracker];
        let limits = self.limits.get(&queue);
        match limits.and_then(|all| all.find(owner.kind, &owner.name)) {
            Some((bound, from_wildcard)) => (bound.clone(), from_wildcard),
            None => (self.unlimited.clone(), false),
        }
    }

    /// The levels right below a level, the newest first.
    pub fn children(&self, parent: LevelId) -> impl Iterator<Item = (LevelId, Level<'_>)> {
        let mut next = self.levels[parent].first_child;
        core::iter::from_fn(move || {
            let id = next?;
            let level = self.level(id);
            next = level.next_sibling;
            Some((id, level))
        })
    }

    /// Remove this level and those above it as far as nothing needs them.
    pub(super) fn prune(&mut self, leaf: LevelId) {
        let mut next = Some(leaf);
        while let Some(id) = next
            && !self.level(id).is_needed()
        {
            let level = self.levels.remove(id).expect("looked at above");
            self.accounts.close(id);
            self.places.remove(&(level.queue, level.tracker));
            match level.parent {
                Some(parent) => self.detach(parent, &level),
                None => self.remove_tracker(level.tracker),
            }
            next = level.parent;
        }
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
