//! One tracker, and one of its levels.

use core::fmt;
use core::ops::Deref;

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::id::{LevelId, QueueId, TrackerId};
use crate::name::Name;
use crate::resource::{PackedDelta, PackedExcess, PackedUsage, Resources, Shortfall};

use super::bound::SharedLimit;
use super::{TrackerKind, Trackers};

/// A user or group, and the root of its tree of levels.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Tracker {
    /// User or group.
    pub kind: TrackerKind,
    /// Name of the user or group.
    pub name: Name,
    /// Level at the root queue.
    pub root: LevelId,
}

/// Usage and limits of one user or group at one queue, including its descendants.
#[derive(Clone, Copy)]
pub struct Level<'books> {
    trackers: &'books Trackers,
    row: &'books LevelRow,
    /// The level itself, or a descendant that shares its account.
    within: LevelId,
}

/// Data of a level except the amounts.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct LevelRow {
    /// Tracker of the level.
    pub tracker: TrackerId,
    /// Level of the parent queue. `None` at the root.
    pub parent: Option<LevelId>,
    /// Queue of the level.
    pub queue: QueueId,
    /// Whether its limit is the one for all other users.
    pub from_wildcard: bool,
    /// Number of running applications, which begins with the first allocation.
    pub running: u64,
    /// Whether it has its own account, and does not share that of its child.
    pub(super) has_account: bool,
    /// Limit. `None` if it has none.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) bound: Option<Arc<SharedLimit>>,
    /// Usage of types beyond those in the account. `None` if it is zero.
    pub(super) beyond: Option<Box<Resources>>,
    pub(super) links: u64,
    pub(super) first_child: Option<LevelId>,
    pub(super) next_sibling: Option<LevelId>,
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) previous_sibling: Option<LevelId>,
}

impl LevelRow {
    pub(super) const fn new(tracker: TrackerId, parent: Option<LevelId>, queue: QueueId) -> Self {
        Self {
            tracker,
            parent,
            queue,
            from_wildcard: false,
            running: 0,
            has_account: false,
            bound: None,
            beyond: None,
            links: 0,
            first_child: None,
            next_sibling: None,
            previous_sibling: None,
        }
    }

    /// Returns the number of applications that are linked to this level.
    pub const fn links(&self) -> u64 {
        self.links
    }

    /// Changes the usage of types beyond those in the account.
    pub(super) fn change_beyond(&mut self, change: impl FnOnce(&mut Resources)) {
        let mut beyond = self.beyond.take().unwrap_or_default();
        change(&mut beyond);
        beyond.prune();
        self.beyond = Some(beyond).filter(|beyond| !beyond.is_empty());
    }

    /// Returns the limit on resources. `None` is unlimited.
    pub fn max(&self) -> Option<&Resources> {
        self.bound.as_ref()?.limit.max.as_ref()
    }

    /// Returns the limit on running applications. 0 is unlimited.
    pub fn max_applications(&self) -> u64 {
        self.bound.as_ref().map_or(0, |bound| bound.limit.max_applications)
    }

    /// Returns whether one more application can start to run here.
    pub fn allows_application(&self) -> bool {
        self.max_applications() == 0 || self.running < self.max_applications()
    }

    /// Returns whether it has a limit.
    pub fn is_limited(&self) -> bool {
        self.max().is_some() || self.max_applications() > 0
    }

    /// Returns whether the user or group has a named limit here, and not that for all others.
    pub fn is_named(&self) -> bool {
        self.is_limited() && !self.from_wildcard
    }

    /// Returns whether the level must remain for a reason other than usage of the first eight types.
    pub(super) fn is_needed(&self) -> bool {
        self.links > 0
            || self.running > 0
            || self.first_child.is_some()
            || self.is_limited()
            || self.beyond.is_some()
    }
}

impl Deref for Level<'_> {
    type Target = LevelRow;

    fn deref(&self) -> &LevelRow {
        self.row
    }
}

impl<'books> Level<'books> {
    /// Creates a view of a level. `within` is the level, or a descendant that shares its account.
    pub(super) const fn new(
        trackers: &'books Trackers,
        row: &'books LevelRow,
        within: LevelId,
    ) -> Self {
        Self { trackers, row, within }
    }

    fn tally(self) -> &'books PackedUsage {
        self.trackers.tally(self.within)
    }

    /// Returns the usage, without types of amount zero.
    pub fn used(self) -> Resources {
        self.tally().with(self.row.beyond.as_deref())
    }

    /// Returns the limit on resources. `None` is unlimited.
    pub fn max(self) -> Option<&'books Resources> {
        self.row.max()
    }

    /// Returns the remaining amounts of the limit, in its types only. Can be negative.
    pub fn left(self) -> Option<Resources> {
        self.max().map(|max| max.minus_existing(&self.used()))
    }

    /// Returns the first type in which a request exceeds the remaining amounts. `None` if the request fits.
    #[inline]
    pub fn shortfall(self, request: &Resources) -> Option<Shortfall> {
        let bound = self.row.bound.as_ref()?;
        let mut excess = PackedExcess::default();
        if let Some(step) = PackedDelta::of(request).filter(|_| self.tally().is_plain()) {
            excess.note(&bound.ceiling, self.tally(), &step);
            if excess.is_none() {
                return None;
            }
        }
        self.left()?.shortfall_of_limit(request)
    }
}

impl PartialEq for Level<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.row == other.row && self.tally() == other.tally()
    }
}

impl fmt::Debug for Level<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Level").field("row", self.row).field("used", &self.used()).finish()
    }
}
