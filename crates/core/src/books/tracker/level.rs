//! One tracker, and one level of it.

use crate::id::{LevelId, QueueId, TrackerId};
use crate::name::Name;
use crate::resource::{Resources, Shortfall};

use super::{Limit, TrackerKind};

/// Who is counted, and where the tree of his levels begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracker {
    /// User or group.
    pub kind: TrackerKind,
    /// His name.
    pub name: Name,
    /// His level at the root queue.
    pub root: LevelId,
}

/// What is charged to one user or group at one queue and below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Whose.
    pub tracker: TrackerId,
    /// The level of the parent queue; none at the root.
    pub parent: Option<LevelId>,
    /// At which queue.
    pub queue: QueueId,
    /// Charged now; no type with amount zero.
    pub used: Resources,
    /// The limit on resources; none = unlimited.
    pub max: Option<Resources>,
    /// What is left of the limit, in its types only; may be negative. Kept beside `used`
    /// so that a check is one comparison.
    pub left: Option<Resources>,
    /// Applications that may run at once; 0 = unlimited.
    pub max_applications: u64,
    /// Whether the limit is the one of all other users.
    pub from_wildcard: bool,
    /// Applications counted here: those with a first allocation.
    pub running: u64,
    pub(super) links: u64,
    pub(super) first_child: Option<LevelId>,
    pub(super) next_sibling: Option<LevelId>,
    pub(super) previous_sibling: Option<LevelId>,
}

impl Level {
    pub(super) const fn new(tracker: TrackerId, parent: Option<LevelId>, queue: QueueId) -> Self {
        Self {
            tracker,
            parent,
            queue,
            used: Resources::new(),
            max: None,
            left: None,
            max_applications: 0,
            from_wildcard: false,
            running: 0,
            links: 0,
            first_child: None,
            next_sibling: None,
            previous_sibling: None,
        }
    }

    /// Whether one more application may start to run here.
    pub const fn allows_application(&self) -> bool {
        self.max_applications == 0 || self.running < self.max_applications
    }

    /// The first type in which a request exceeds what is left; none if it fits.
    #[inline]
    pub fn shortfall(&self, request: &Resources) -> Option<Shortfall> {
        let left = self.left.as_ref()?;
        if left.allows(request) { None } else { left.shortfall_of_limit(request) }
    }

    /// How many applications are tied to this level.
    pub const fn links(&self) -> u64 {
        self.links
    }

    /// Whether a limit was set here.
    pub const fn is_limited(&self) -> bool {
        self.max.is_some() || self.max_applications > 0
    }

    /// Whether a limit of his own was set here, and not that of all others.
    pub const fn is_named(&self) -> bool {
        self.is_limited() && !self.from_wildcard
    }

    /// Whether anything keeps this level in being.
    pub(super) fn is_needed(&self) -> bool {
        self.links > 0
            || self.running > 0
            || self.first_child.is_some()
            || self.is_limited()
            || !self.used.is_empty()
    }

    #[inline]
    pub(super) fn charge(&mut self, amount: &Resources) {
        self.used.add(amount);
        if let Some(left) = &mut self.left {
            left.subtract_existing(amount);
        }
    }

    /// Take this much off; of a type that has less, what there is.
    #[inline]
    pub(super) fn refund(&mut self, amount: &Resources) {
        self.used.subtract(amount);
        if self.used.has_negative() {
            return self.exhaust();
        }
        self.used.prune();
        if let Some(left) = &mut self.left {
            left.add_existing(amount);
        }
    }

    /// More was given back than was charged: the rest is lost, and not owed.
    #[cold]
    fn exhaust(&mut self) {
        self.used = self.used.maximum(&Resources::new()).pruned();
        self.left = self.max.as_ref().map(|max| max.minus_existing(&self.used));
    }

    pub(super) fn limit(&mut self, limit: Limit, from_wildcard: bool) {
        self.left = limit.max.as_ref().map(|max| max.minus_existing(&self.used));
        self.max = limit.max;
        self.max_applications = limit.max_applications;
        self.from_wildcard = from_wildcard;
    }

    pub(super) fn unlimit(&mut self) {
        self.limit(Limit::default(), false);
    }
}
