//! Usage and limits of users and groups in one partition.
//!
//! Every user, and every group that a limit names, has a *tracker*. That is a sparse tree that
//! mirrors the queue tree and counts what is charged at each queue and below. The amounts are
//! separate from the levels (`account.rs`). Levels that must use the same share them
//! (`compression.rs`). `place.rs` makes levels, and `change.rs` has what other limits lead to.
//!
//! This module knows paths, names and amounts; it knows neither queues nor applications.
//! A path is the list of queue ids from the root to a leaf, compared as numbers only.

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
///
/// Whatever is refused changes nothing: a path is followed as a whole or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Deserialize))]
#[cfg_attr(feature = "snapshot", serde(try_from = "stored::Stored"))]
pub struct Trackers {
    users: OrderedMap<Name, TrackerId>,
    groups: OrderedMap<Name, TrackerId>,
    rows: Table<TrackerId, Tracker>,
    levels: Levels,
    /// The amounts of the levels, by those that stand.
    accounts: Accounts,
    ceilings: Ceilings,
    /// Who has which level at which queue: finding one does not depend on how many there are.
    places: OrderedMap<(QueueId, TrackerId), LevelId>,
    limits: OrderedMap<QueueId, QueueLimits>,
    /// The paths of the queues that have a limit for all other users.
    wildcards: OrderedMap<QueueId, Arc<[QueueId]>>,
}

impl Trackers {
    /// The level of this user or group at the end of this path, made now where it is missing.
    ///
    /// It lives while it is linked, used or limited: pair with [`Trackers::unlink`].
    ///
    /// # Errors
    /// When the path or the name is empty, or the path is not where its queues are.
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

    /// Let go of a level; what nothing needs any more disappears, up to the tracker itself.
    ///
    /// # Errors
    /// When the level is gone, or nobody is tied to it.
    pub fn unlink(&mut self, leaf: LevelId) -> Result<(), TrackerError> {
        if self.live(leaf)?.links == 0 {
            return Err(TrackerError::NotLinked { level: leaf });
        }
        self.each_up(leaf, |level| level.links -= 1)?;
        self.prune(leaf);
        Ok(())
    }

    /// Charge this much at a level and above it, whatever the limits say.
    ///
    /// # Errors
    /// When the level is gone.
    #[inline]
    pub fn increase(&mut self, leaf: LevelId, amount: &Resources) -> Result<(), TrackerError> {
        self.charge(leaf, amount).map(drop)
    }

    /// The same. Returns whether its user certainly stays as active as before in a leaf whose users
    /// share it. If not, [`LeafShares::follow`](super::LeafShares::follow) decides.
    ///
    /// # Errors
    /// When the level is gone.
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

    /// Give this much back at a level and above it; no use goes below zero.
    ///
    /// # Errors
    /// When the level is gone.
    #[inline]
    pub fn decrease(&mut self, leaf: LevelId, amount: &Resources) -> Result<(), TrackerError> {
        self.refund(leaf, amount).map(drop)
    }

    /// The same. Returns whether its user certainly stays as active as before, as for
    /// [`Trackers::charge`].
    ///
    /// # Errors
    /// When the level is gone.
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

    /// Count one more running application at a level and above it.
    ///
    /// # Errors
    /// When the level is gone.
    pub fn start_application(&mut self, leaf: LevelId) -> Result<(), TrackerError> {
        self.each_up(leaf, |level| level.running += 1)
    }

    /// Count one running application less at a level and above it.
    ///
    /// # Errors
    /// When the level is gone, or counts none.
    pub fn stop_application(&mut self, leaf: LevelId) -> Result<(), TrackerError> {
        if self.live(leaf)?.running == 0 {
            return Err(TrackerError::NotRunning { level: leaf });
        }
        self.each_up(leaf, |level| level.running -= 1)
    }

    /// The first level, from this one up and `lifted` of them passed over, whose limit does not
    /// allow this much more; none if all do.
    #[inline]
    pub fn refusing(
        &self,
        leaf: LevelId,
        lifted: usize,
        amount: &Resources,
    ) -> Option<(LevelId, Shortfall)> {
        let first = if lifted == 0 { leaf } else { self.up(leaf).nth(lifted)?.0 };
        // Where this level leans, those below it that have the same account are asked too: if
        // they allow it, so does it.
        let bottom = if lifted == 0 { leaf } else { self.bearer(first) };
        if PackedDelta::of(amount).is_some_and(|step| self.accounts.allow(bottom, &step)) {
            return None;
        }
        self.refusing_exactly(first, amount)
    }

    /// Whether the limits of this level and above it surely allow a step.
    #[inline]
    pub(crate) fn surely_allow(&self, leaf: LevelId, step: &PackedDelta) -> bool {
        self.accounts.allow(leaf, step)
    }

    /// Whether its user surely is active, and a step surely stays within this and the limits of this level
    /// and above it.
    #[inline]
    pub(crate) fn surely_allow_within(
        &self,
        leaf: LevelId,
        step: &PackedDelta,
        least: &PackedLimit,
    ) -> bool {
        self.accounts.allow_within(leaf, step, least)
    }

    /// The seat that a caller noted for a level, with what is used there and whether that is plain.
    /// None where the level depends on another.
    #[inline]
    pub(crate) fn seat(&self, level: LevelId) -> Option<(u32, &PackedUsage, bool)> {
        let account = self.accounts.get(level)?;
        Some((account.seat(), account.tally(), account.is_plain()))
    }

    /// Note the seat at which a caller stores something of a level.
    pub(crate) fn set_seat(&mut self, level: LevelId, seat: u32) {
        self.accounts.set_seat(level, seat);
    }

    #[cold]
    fn refusing_exactly(&self, first: LevelId, amount: &Resources) -> Option<(LevelId, Shortfall)> {
        self.up(first).find_map(|(id, level)| Some((id, level.shortfall(amount)?)))
    }

    /// How many levels there are from this one up to the highest that has a limit of its own
    /// name, that one included; 0 if none has.
    pub fn named_up_to(&self, leaf: LevelId) -> usize {
        let named = self.up(leaf).zip(1..).filter(|((_, level), _)| level.is_named());
        named.last().map_or(0, |(_, count)| count)
    }

    /// The group that counts for a user with these groups at this path. It is the first named group
    /// limit for one of them, from the leaf up and in configured order. It is `*` where a level has
    /// a limit for all others; none if no level has either. A user without groups has none.
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

    /// The limit of a user or group at one queue, as configured: the named one, or that of all
    /// others.
    pub fn configured(&self, kind: TrackerKind, name: &str, queue: QueueId) -> Option<&Limit> {
        self.limits.get(&queue)?.find(kind, name).map(|(bound, _)| &bound.limit)
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
    ///
    /// # Panics
    /// When it is gone.
    pub fn level(&self, level: LevelId) -> Level<'_> {
        Level::new(self, &self.levels[level], level)
    }

    /// All users or all groups that have a tracker, by name.
    pub fn names(&self, kind: TrackerKind) -> &OrderedMap<Name, TrackerId> {
        match kind {
            TrackerKind::User => &self.users,
            TrackerKind::Group => &self.groups,
        }
    }

    /// One level, if it still is there.
    pub fn find_level(&self, level: LevelId) -> Option<Level<'_>> {
        Some(Level::new(self, self.levels.get(level)?, level))
    }

    /// The level of this user or group at one queue, if there is one.
    pub fn level_of(&self, kind: TrackerKind, name: &str, queue: QueueId) -> Option<LevelId> {
        self.places.get(&(queue, self.find(kind, name)?)).copied()
    }

    /// Queues that have limits.
    pub fn limited_queues(&self) -> impl Iterator<Item = QueueId> {
        self.limits.iter().map(|(queue, _)| *queue)
    }

    /// All levels of all trackers.
    pub fn levels(&self) -> impl Iterator<Item = (LevelId, Level<'_>)> {
        self.levels.iter().map(|(id, row)| (id, Level::new(self, row, id)))
    }

    /// A level and those above it, up to the root of its tracker.
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

    /// A level that still is there.
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
