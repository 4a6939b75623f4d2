//! Usage and limits of users and groups in one partition.
//!
//! Every user, and every group that a limit names, has a *tracker*: a sparse tree that
//! mirrors the queue tree and counts what is charged to him at each queue and below. A
//! level also keeps what is left of its limit, so that a check is one comparison.
//!
//! This module knows paths, names and amounts; it knows neither queues nor applications.
//! A path is the list of queue ids from the root to a leaf, compared as numbers only.

mod level;
mod limit;

pub use level::{Level, Tracker};
pub use limit::{Limit, LimitSettings, LimitSubject};

use alloc::vec::Vec;

use crate::id::{LevelId, QueueId, TrackerId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::resource::Resources;
use crate::table::Table;

use limit::QueueLimits;

/// The name of the wildcard: every other user, or the common group of all others.
pub const WILDCARD: &str = "*";

/// Whether a tracker counts for a user or for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrackerKind {
    /// One user.
    User,
    /// One group, or `*` for all who are in none that is named.
    Group,
}

/// All trackers of one partition, and the limits that they obey.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trackers {
    users: OrderedMap<Name, TrackerId>,
    groups: OrderedMap<Name, TrackerId>,
    rows: Table<TrackerId, Tracker>,
    levels: Table<LevelId, Level>,
    limits: OrderedMap<QueueId, QueueLimits>,
}

impl Trackers {
    /// The level of this user or group at the end of this path, made now where it is missing.
    ///
    /// It lives while it is linked, used or limited: pair with [`Trackers::unlink`].
    pub(crate) fn link(&mut self, kind: TrackerKind, name: &Name, path: &[QueueId]) -> LevelId {
        let leaf = self.ensure(kind, name, path);
        self.each_up(leaf, |level| level.links += 1);
        leaf
    }

    /// Let go of a level; what nothing needs any more disappears, up to the tracker itself.
    pub(crate) fn unlink(&mut self, leaf: LevelId) {
        self.each_up(leaf, |level| level.links -= 1);
        self.prune(leaf);
    }

    /// Charge this much at a level and above it.
    pub(crate) fn increase(&mut self, leaf: LevelId, amount: &Resources) {
        self.each_up(leaf, |level| level.charge(amount));
    }

    /// Give this much back at a level and above it.
    pub(crate) fn decrease(&mut self, leaf: LevelId, amount: &Resources) {
        self.each_up(leaf, |level| level.refund(amount));
    }

    /// Count one more running application at a level and above it.
    pub(crate) fn start_application(&mut self, leaf: LevelId) {
        self.each_up(leaf, |level| level.running += 1);
    }

    /// Count one running application less at a level and above it.
    pub(crate) fn stop_application(&mut self, leaf: LevelId) {
        self.each_up(leaf, |level| level.running -= 1);
    }

    /// Limit a user or group at the end of this path and below, from now on.
    pub(crate) fn set_limit(&mut self, path: &[QueueId], subject: &LimitSubject, limit: Limit) {
        let Some(&queue) = path.last() else { return };
        if self.limits.get(&queue).is_none() {
            self.limits.insert(queue, QueueLimits::default());
        }
        let limits = self.limits.get_mut(&queue).expect("inserted above");
        limits.set(subject, limit.clone());
        let named = match subject {
            LimitSubject::User(name) => Some((TrackerKind::User, name.clone())),
            LimitSubject::Group(name) => Some((TrackerKind::Group, name.clone())),
            LimitSubject::AnyUser => None,
            LimitSubject::AnyGroup => Some((TrackerKind::Group, Name::new(WILDCARD))),
        };
        if let Some((kind, name)) = named {
            let level = self.ensure(kind, &name, path);
            self.levels[level].limit(limit, false);
        } else {
            self.limit_other_users(queue, &limit);
        }
    }

    /// Make these all the limits of the queue at the end of this path, `max` being their
    /// resources as vectors.
    pub(crate) fn set_limits(
        &mut self,
        path: &[QueueId],
        limits: &[LimitSettings],
        max: Vec<Option<Resources>>,
    ) {
        let Some(&queue) = path.last() else { return };
        let row = QueueLimits { settings: limits.to_vec(), ..QueueLimits::default() };
        self.limits.insert(queue, row);
        for (limit, max) in limits.iter().zip(max) {
            let set = Limit { max, max_applications: limit.max_applications };
            self.set_limit(path, &limit.subject, set);
        }
    }

    /// Give every user who is not named at this queue the limit of the others.
    fn limit_other_users(&mut self, queue: QueueId, limit: &Limit) {
        let unnamed: Vec<LevelId> = self
            .levels
            .iter()
            .filter(|(_, level)| level.queue == queue)
            .filter(|(_, level)| self.rows[level.tracker].kind == TrackerKind::User)
            .filter(|(_, level)| !level.is_limited() || level.from_wildcard)
            .map(|(id, _)| id)
            .collect();
        for level in unnamed {
            self.levels[level].limit(limit.clone(), true);
        }
    }

    /// The group that counts for a user with these groups at this path: the first named group
    /// limit, from the leaf up and in configured order, that is one of his; `*` where a level
    /// has a limit for all others; none if no level has either. A user without groups has none.
    pub fn group_for(&self, path: &[QueueId], groups: &[Name]) -> Option<Name> {
        if groups.is_empty() {
            return None;
        }
        path.iter().rev().filter_map(|queue| self.limits.get(queue)).find_map(|limits| {
            let named = limits.groups.iter().find(|(name, _)| groups.contains(name));
            match named {
                Some((name, _)) => Some(name.clone()),
                None => limits.any_group.as_ref().map(|_| Name::new(WILDCARD)),
            }
        })
    }

    /// All limits of a queue, as configured.
    pub fn limits_at(&self, queue: QueueId) -> &[LimitSettings] {
        self.limits.get(&queue).map_or(&[], |limits| &limits.settings)
    }

    /// The limit of a user or group at one queue, as configured: his own, or that of the others.
    pub fn configured(&self, kind: TrackerKind, name: &str, queue: QueueId) -> Option<&Limit> {
        self.limits.get(&queue)?.find(kind, name).map(|(limit, _)| limit)
    }

    /// The tracker of this name.
    pub fn find(&self, kind: TrackerKind, name: &str) -> Option<TrackerId> {
        self.names(kind).get(name).copied()
    }

    /// One tracker.
    pub fn tracker(&self, tracker: TrackerId) -> &Tracker {
        &self.rows[tracker]
    }

    /// One level.
    pub fn level(&self, level: LevelId) -> &Level {
        &self.levels[level]
    }

    /// All users or all groups that have a tracker, by name.
    pub fn names(&self, kind: TrackerKind) -> &OrderedMap<Name, TrackerId> {
        match kind {
            TrackerKind::User => &self.users,
            TrackerKind::Group => &self.groups,
        }
    }

    /// One level, if it still is there.
    pub fn find_level(&self, level: LevelId) -> Option<&Level> {
        self.levels.get(level)
    }

    /// All levels of all trackers.
    pub fn levels(&self) -> impl Iterator<Item = (LevelId, &Level)> {
        self.levels.iter()
    }

    /// A level and those above it, up to the root of its tracker.
    pub fn up(&self, leaf: LevelId) -> impl Iterator<Item = (LevelId, &Level)> {
        let mut next = Some(leaf);
        core::iter::from_fn(move || {
            let id = next?;
            let level = &self.levels[id];
            next = level.parent;
            Some((id, level))
        })
    }

    #[inline]
    fn each_up(&mut self, leaf: LevelId, mut change: impl FnMut(&mut Level)) {
        let mut next = Some(leaf);
        while let Some(id) = next {
            let level = &mut self.levels[id];
            change(level);
            next = level.parent;
        }
    }

    fn ensure(&mut self, kind: TrackerKind, name: &Name, path: &[QueueId]) -> LevelId {
        let tracker = self.find(kind, name).unwrap_or_else(|| self.add_tracker(kind, name, path));
        let mut at = self.rows[tracker].root;
        for queue in &path[1..] {
            at = match self.child(at, *queue) {
                Some(child) => child,
                None => self.add_level(tracker, Some(at), *queue),
            };
        }
        at
    }

    fn add_tracker(&mut self, kind: TrackerKind, name: &Name, path: &[QueueId]) -> TrackerId {
        let root = LevelId::NONE;
        let tracker = self.rows.insert(Tracker { kind, name: name.clone(), root });
        match kind {
            TrackerKind::User => self.users.insert(name.clone(), tracker),
            TrackerKind::Group => self.groups.insert(name.clone(), tracker),
        };
        let root = self.add_level(tracker, None, path[0]);
        self.rows[tracker].root = root;
        tracker
    }

    fn add_level(
        &mut self,
        tracker: TrackerId,
        parent: Option<LevelId>,
        queue: QueueId,
    ) -> LevelId {
        let mut level = Level::new(tracker, parent, queue);
        let owner = &self.rows[tracker];
        let limits = self.limits.get(&queue);
        if let Some((limit, wildcard)) = limits.and_then(|all| all.find(owner.kind, &owner.name)) {
            level.limit(limit.clone(), wildcard);
        }
        level.next_sibling = parent.and_then(|parent| self.levels[parent].first_child);
        let id = self.levels.insert(level);
        if let Some(parent) = parent {
            self.levels[parent].first_child = Some(id);
        }
        id
    }

    fn child(&self, parent: LevelId, queue: QueueId) -> Option<LevelId> {
        self.children(parent).find(|(_, level)| level.queue == queue).map(|(id, _)| id)
    }

    /// The levels right below a level.
    pub fn children(&self, parent: LevelId) -> impl Iterator<Item = (LevelId, &Level)> {
        let mut next = self.levels[parent].first_child;
        core::iter::from_fn(move || {
            let id = next?;
            let level = &self.levels[id];
            next = level.next_sibling;
            Some((id, level))
        })
    }

    /// Remove this level and those above it as far as nothing needs them.
    fn prune(&mut self, leaf: LevelId) {
        let mut at = leaf;
        loop {
            let level = &self.levels[at];
            if level.is_needed() {
                return;
            }
            let level = self.levels.remove(at).expect("looked at above");
            let Some(parent) = level.parent else {
                let tracker = self.rows.remove(level.tracker).expect("a level has its tracker");
                match tracker.kind {
                    TrackerKind::User => self.users.remove(&*tracker.name),
                    TrackerKind::Group => self.groups.remove(&*tracker.name),
                };
                return;
            };
            self.cut_child(parent, at, level.next_sibling);
            at = parent;
        }
    }

    fn cut_child(&mut self, parent: LevelId, child: LevelId, next: Option<LevelId>) {
        if self.levels[parent].first_child == Some(child) {
            self.levels[parent].first_child = next;
            return;
        }
        let before = self
            .children(parent)
            .find(|(_, level)| level.next_sibling == Some(child))
            .map(|(id, _)| id)
            .expect("the child is in its parent's list");
        self.levels[before].next_sibling = next;
    }
}

#[cfg(test)]
mod tests;
