//! One tracker, and one level of it.

use core::fmt;
use core::ops::Deref;

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::id::{LevelId, QueueId, TrackerId};
use crate::name::Name;
use crate::resource::{PackedDelta, PackedExcess, PackedUsage, Resources, Shortfall};

use super::bound::SharedLimit;
use super::{TrackerKind, Trackers};

/// The user or group that is counted, and the root of its tree of levels.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Tracker {
    /// User or group.
    pub kind: TrackerKind,
    /// The name of the user or group.
    pub name: Name,
    /// The level at the root queue.
    pub root: LevelId,
}

/// What is charged to one user or group at one queue and below it.
#[derive(Clone, Copy)]
pub struct Level<'books> {
    trackers: &'books Trackers,
    row: &'books LevelRow,
    /// It, or one below it in its stretch.
    within: LevelId,
}

/// Everything about a level but the amounts.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct LevelRow {
    /// Whose.
    pub tracker: TrackerId,
    /// The level of the parent queue; none at the root.
    pub parent: Option<LevelId>,
    /// At which queue.
    pub queue: QueueId,
    /// Whether the limit is the one of all other users.
    pub from_wildcard: bool,
    /// Applications counted here: those with a first allocation.
    pub running: u64,
    /// Whether it has an account, and does not lean on the level below it.
    pub(super) has_account: bool,
    /// The limit; none if there is none.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) bound: Option<Arc<SharedLimit>>,
    /// Used of types beyond those in the account; none where that is nothing.
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

    /// How many applications are tied to this level.
    pub const fn links(&self) -> u64 {
        self.links
    }

    /// Change what is used of types beyond those in the account.
    pub(super) fn change_beyond(&mut self, change: impl FnOnce(&mut Resources)) {
        let mut beyond = self.beyond.take().unwrap_or_default();
        change(&mut beyond);
        beyond.prune();
        self.beyond = Some(beyond).filter(|beyond| !beyond.is_empty());
    }

    /// The limit on resources; none = unlimited.
    pub fn max(&self) -> Option<&Resources> {
        self.bound.as_ref()?.limit.max.as_ref()
    }

    /// Applications that may run at once; 0 = unlimited.
    pub fn max_applications(&self) -> u64 {
        self.bound.as_ref().map_or(0, |bound| bound.limit.max_applications)
    }

    /// Whether one more application may start to run here.
    pub fn allows_application(&self) -> bool {
        self.max_applications() == 0 || self.running < self.max_applications()
    }

    /// Whether a limit was set here.
    pub fn is_limited(&self) -> bool {
        self.max().is_some() || self.max_applications() > 0
    }

    /// Whether the user or group has a named limit here, and not that of all others.
    pub fn is_named(&self) -> bool {
        self.is_limited() && !self.from_wildcard
    }

    /// Whether anything but use of the first eight types keeps this level in being.
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
    /// A level, or one below it that has the same account.
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

    /// Charged now; no type with amount zero.
    pub fn used(self) -> Resources {
        self.tally().with(self.row.beyond.as_deref())
    }

    /// The limit on resources; none = unlimited.
    pub fn max(self) -> Option<&'books Resources> {
        self.row.max()
    }

    /// What is left of the limit, in its types only; may be negative.
    pub fn left(self) -> Option<Resources> {
        self.max().map(|max| max.minus_existing(&self.used()))
    }

    /// The first type in which a request exceeds what is left; none if it fits.
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
