//! Usage and limits of users and groups in one partition.
//!
//! Every user, and every group that a limit names, has a *tracker*: a sparse tree with the shape of the queue tree,
//! which counts the usage of each queue including its descendants. The amounts are stored separately from the levels
//! (`account.rs`). Levels that always have the same usage share them (`compression.rs`). `place.rs` creates levels, and
//! `change.rs` applies changes of limits.
//!
//! This module uses paths, names, and amounts only. It does not depend on queues or applications. A path is the list of
//! queue IDs from the root to a leaf.

mod account;
mod bound;
mod change;
mod compression;
mod error;
mod level;
mod levels;
mod limit;
mod place;
#[cfg(feature = "snapshot")]
mod stored;

pub use error::TrackerError;
pub use level::{Level, LevelRow, Tracker};
pub use limit::{Limit, LimitSettings, LimitSubject};

use alloc::sync::Arc;

use crate::id::{LevelId, QueueId, TrackerId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::resource::{PackedDelta, PackedLimit, PackedUsage, Resources, Shortfall};
use crate::table::Table;

use account::Accounts;
use bound::Ceilings;
use levels::Levels;
use limit::QueueLimits;

/// Wildcard name: every other user, or the common group of all other users.
pub const WILDCARD: &str = "*";

/// Kind of a tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrackerKind {
    /// One user.
    User,
    /// One group, or `*` for all users without a named group.
    Group,
}

/// All trackers of one partition, and their limits.
///
/// A refused change has no effect: it applies to the whole path or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Deserialize))]
#[cfg_attr(feature = "snapshot", serde(try_from = "stored::Stored"))]
pub struct Trackers {
    users: OrderedMap<Name, TrackerId>,
    groups: OrderedMap<Name, TrackerId>,
    rows: Table<TrackerId, Tracker>,
    levels: Levels,
    /// Amounts of the levels that have an account.
    accounts: Accounts,
    ceilings: Ceilings,
    /// Levels by queue and tracker. A search does not depend on the number of levels at a queue.
    places: OrderedMap<(QueueId, TrackerId), LevelId>,
    limits: OrderedMap<QueueId, QueueLimits>,
    /// Paths of the queues with a limit for all other users.
    wildcards: OrderedMap<QueueId, Arc<[QueueId]>>,
}

impl Trackers {
    /// Returns the level of a user or group at the end of a path, and creates it if it is missing.
    ///
    /// The level exists while it is linked, used, or limited. Every call needs a later [`Trackers::unlink`].
    ///
    /// # Errors
    ///
    /// Fails if the path or the name is empty, or if the path differs from the known path of its queues.
    pub fn link(
        &mut self,
        kind: TrackerKind,
        name: &Name,
        path: &[QueueId],
    ) -> Result<LevelId, TrackerError> {
        if path.is_empty() {
            return Err(TrackerError::EmptyPath);
        }
        if name.is_empty() {
            return Err(TrackerError::EmptyName);
        }
        self.check_path(path)?;
        let known = self.find(kind, name);
        let tracker = known.unwrap_or_else(|| self.add_tracker(kind, name));
        let leaf = self.ensure(tracker, path);
        self.stand(leaf);
        self.each_up(leaf, |level| level.links += 1)?;
        Ok(leaf)
    }

    /// Removes a link of a level. Unused levels are removed, up to the tracker itself.
    ///
    /// # Errors
    ///
    /// Fails if the level was removed or has no link.
    pub fn unlink(&mut self, leaf: LevelId) -> Result<(), TrackerError> {
        if self.live(leaf)?.links == 0 {
            return Err(TrackerError::NotLinked { level: leaf });
        }
        self.each_up(leaf, |level| level.links -= 1)?;
        self.prune(leaf);
        Ok(())
    }

    /// Charges an amount at a level and its ancestors, regardless of limits.
    ///
    /// # Errors
    ///
    /// Fails if the level was removed.
    #[inline]
    pub fn increase(&mut self, leaf: LevelId, amount: &Resources) -> Result<(), TrackerError> {
        self.charge(leaf, amount).map(drop)
    }

    /// Charges an amount as [`Trackers::increase`] does. Returns whether its user certainly stays as active as before
    /// in a leaf with user limits. If not, [`LeafShares::follow`](super::LeafShares::follow) decides.
    ///
    /// # Errors
    ///
    /// Fails if the level was removed.
    #[inline]
    pub fn charge(&mut self, leaf: LevelId, amount: &Resources) -> Result<bool, TrackerError> {
        let calm = if let Some(calm) = self.accounts.charge(leaf, amount) {
            calm
        } else {
            self.stand_if_live(leaf)?;
            self.accounts.charge(leaf, amount).unwrap_or(false)
        };
        if let Some(amount) = amount.beyond() {
            self.each_up(leaf, |level| level.change_beyond(|used| used.add(&amount)))?;
        }
        Ok(calm)
    }

    /// Refunds an amount at a level and its ancestors. No usage becomes negative.
    ///
    /// # Errors
    ///
    /// Fails if the level was removed.
    #[inline]
    pub fn decrease(&mut self, leaf: LevelId, amount: &Resources) -> Result<(), TrackerError> {
        self.refund(leaf, amount).map(drop)
    }

    /// Refunds an amount as [`Trackers::decrease`] does. Returns whether its user certainly stays as active as before,
    /// as for [`Trackers::charge`].
    ///
    /// # Errors
    ///
    /// Fails if the level was removed.
    #[inline]
    pub fn refund(&mut self, leaf: LevelId, amount: &Resources) -> Result<bool, TrackerError> {
        let calm = if let Some(calm) = self.accounts.refund(leaf, amount) {
            calm
        } else {
            self.stand_if_live(leaf)?;
            self.accounts.refund(leaf, amount).unwrap_or(false)
        };
        if let Some(amount) = amount.beyond() {
            let floored = |used: &mut Resources| {
                *used = used.minus(&amount).maximum(&Resources::new());
            };
            self.each_up(leaf, |level| level.change_beyond(floored))?;
        }
        Ok(calm)
    }

    /// Counts one more running application at a level and its ancestors.
    ///
    /// # Errors
    ///
    /// Fails if the level was removed.
    pub fn start_application(&mut self, leaf: LevelId) -> Result<(), TrackerError> {
        self.each_up(leaf, |level| level.running += 1)
    }

    /// Counts one running application less at a level and its ancestors.
    ///
    /// # Errors
    ///
    /// Fails if the level was removed or counts none.
    pub fn stop_application(&mut self, leaf: LevelId) -> Result<(), TrackerError> {
        if self.live(leaf)?.running == 0 {
            return Err(TrackerError::NotRunning { level: leaf });
        }
        self.each_up(leaf, |level| level.running -= 1)
    }

    /// Returns the first level from this one to the root whose limit does not allow this additional amount. Skips the
    /// first `lifted` levels. `None` if all limits allow it.
    #[inline]
    pub fn refusing(
        &self,
        leaf: LevelId,
        lifted: usize,
        amount: &Resources,
    ) -> Option<(LevelId, Shortfall)> {
        let first = if lifted == 0 { leaf } else { self.up(leaf).nth(lifted)?.0 };
        // Descendants that share the account of this level are checked too. If they allow the amount, so does this
        // level.
        let bottom = if lifted == 0 { leaf } else { self.bearer(first) };
        if PackedDelta::of(amount).is_some_and(|step| self.accounts.allow(bottom, &step)) {
            return None;
        }
        self.refusing_exactly(first, amount)
    }

    /// Returns whether the limits of this level and its ancestors certainly allow a step.
    #[inline]
    pub(crate) fn surely_allow(&self, leaf: LevelId, step: &PackedDelta) -> bool {
        self.accounts.allow(leaf, step)
    }

    /// Returns whether its user is certainly active, and a step is certainly within `least` and the limits of this
    /// level and its ancestors.
    #[inline]
    pub(crate) fn surely_allow_within(
        &self,
        leaf: LevelId,
        step: &PackedDelta,
        least: &PackedLimit,
    ) -> bool {
        self.accounts.allow_within(leaf, step, least)
    }

    /// Returns the hint that a caller stored for a level, with the usage and whether that is plain. `None` if the level
    /// has no account of its own.
    #[inline]
    pub(crate) fn seat(&self, level: LevelId) -> Option<(u32, &PackedUsage, bool)> {
        let account = self.accounts.get(level)?;
        Some((account.seat(), account.tally(), account.is_plain()))
    }

    /// Stores a hint for a level.
    pub(crate) fn set_seat(&mut self, level: LevelId, seat: u32) {
        self.accounts.set_seat(level, seat);
    }

    #[cold]
    fn refusing_exactly(&self, first: LevelId, amount: &Resources) -> Option<(LevelId, Shortfall)> {
        self.up(first).find_map(|(id, level)| Some((id, level.shortfall(amount)?)))
    }

    /// Returns the number of levels from this one up to the highest with a named limit, including that level. 0 if no
    /// level has one.
    pub fn named_up_to(&self, leaf: LevelId) -> usize {
        let named = self.up(leaf).zip(1..).filter(|((_, level), _)| level.is_named());
        named.last().map_or(0, |(_, count)| count)
    }

    /// Returns the group that counts a user with these groups at this path.
    ///
    /// It is the first named group limit for one of the groups, from the leaf to the root and in configured order. At a
    /// level with a limit for all other groups, it is `*`. `None` if no level has either, and for a user without
    /// groups.
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

    /// Returns the configured limits of a queue.
    pub fn limits_at(&self, queue: QueueId) -> &[LimitSettings] {
        self.limits.get(&queue).map_or(&[], |limits| &limits.settings)
    }

    /// Returns the configured limit of a user or group at one queue: the named one, or that for all others.
    pub fn configured(&self, kind: TrackerKind, name: &str, queue: QueueId) -> Option<&Limit> {
        self.limits.get(&queue)?.find(kind, name).map(|(bound, _)| &bound.limit)
    }

    /// Returns the tracker with this name.
    pub fn find(&self, kind: TrackerKind, name: &str) -> Option<TrackerId> {
        self.names(kind).get(name).copied()
    }

    /// Returns a tracker.
    pub fn tracker(&self, tracker: TrackerId) -> &Tracker {
        &self.rows[tracker]
    }

    /// Returns a level.
    ///
    /// # Panics
    ///
    /// Panics if the level was removed.
    pub fn level(&self, level: LevelId) -> Level<'_> {
        Level::new(self, &self.levels[level], level)
    }

    /// Returns all users or all groups with a tracker, by name.
    pub fn names(&self, kind: TrackerKind) -> &OrderedMap<Name, TrackerId> {
        match kind {
            TrackerKind::User => &self.users,
            TrackerKind::Group => &self.groups,
        }
    }

    /// Returns a level. `None` if it was removed.
    pub fn find_level(&self, level: LevelId) -> Option<Level<'_>> {
        Some(Level::new(self, self.levels.get(level)?, level))
    }

    /// Returns the level of a user or group at one queue, if it exists.
    pub fn level_of(&self, kind: TrackerKind, name: &str, queue: QueueId) -> Option<LevelId> {
        self.places.get(&(queue, self.find(kind, name)?)).copied()
    }

    /// Returns the queues with limits.
    pub fn limited_queues(&self) -> impl Iterator<Item = QueueId> {
        self.limits.iter().map(|(queue, _)| *queue)
    }

    /// Returns all levels of all trackers.
    pub fn levels(&self) -> impl Iterator<Item = (LevelId, Level<'_>)> {
        self.levels.iter().map(|(id, row)| (id, Level::new(self, row, id)))
    }

    /// Returns a level and its ancestors, up to the root of its tracker.
    pub fn up(&self, leaf: LevelId) -> impl Iterator<Item = (LevelId, Level<'_>)> {
        let (mut next, mut within) = (Some(leaf), leaf);
        core::iter::from_fn(move || {
            let id = next?;
            let row = &self.levels[id];
            if row.has_account {
                within = id;
            }
            next = row.parent;
            Some((id, Level::new(self, row, within)))
        })
    }

    /// Returns an existing level.
    #[inline]
    fn live(&self, level: LevelId) -> Result<&LevelRow, TrackerError> {
        self.levels.get(level).ok_or(TrackerError::LevelGone { level })
    }

    #[inline]
    fn each_up(
        &mut self,
        leaf: LevelId,
        change: impl FnMut(&mut LevelRow),
    ) -> Result<(), TrackerError> {
        let live = self.levels.each_up(leaf, change);
        if live { Ok(()) } else { Err(TrackerError::LevelGone { level: leaf }) }
    }
}

#[cfg(test)]
mod tests;
