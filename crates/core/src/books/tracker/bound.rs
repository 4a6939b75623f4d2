//! Limits as they are compared with, shared by all whom they concern.

use alloc::sync::Arc;

use crate::ordered::OrderedMap;
use crate::resource::PackedLimit;

use super::Limit;

/// A limit, shared by all whom it concerns.
#[derive(Debug, PartialEq)]
pub(super) struct SharedLimit {
    pub(super) limit: Limit,
    pub(super) ceiling: PackedLimit,
}

impl SharedLimit {
    pub(super) fn new(limit: Limit) -> Arc<Self> {
        let ceiling = PackedLimit::of(limit.max.as_ref());
        Arc::new(Self { limit, ceiling })
    }
}

/// What a stretch of levels is held against.
#[derive(Debug)]
pub(super) struct PathLimits {
    /// What all limits of the stretch allow together.
    pub(super) limits: PackedLimit,
    /// Up to which use nobody else has to look at its user; see [`PathLimits::active_up_to`].
    calm: Option<PackedLimit>,
}

/// Until when nobody has to look is worked out by others, who see to it that it holds: it is no part of
/// what limits are.
impl PartialEq for PathLimits {
    fn eq(&self, other: &Self) -> bool {
        self.limits == other.limits
    }
}

impl PathLimits {
    /// A user within it, of a leaf with user limits, certainly stays active, whatever is charged or
    /// given back. None where nothing is known, or where the user is not active.
    #[inline]
    pub(super) const fn active_up_to(&self) -> Option<&PackedLimit> {
        self.calm.as_ref()
    }
}

/// What the limits of a stretch of levels allow together: each ceiling that is in use, once.
///
/// Equal ones are one, so that what a check compares with stays close at hand. How many use
/// one is counted here: what `Arc` counts depends on clones of the books.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ceilings(OrderedMap<PackedLimit, CeilingEntry>);

#[derive(Clone, Debug)]
struct CeilingEntry {
    held: Arc<PathLimits>,
    uses: u64,
    /// The same with the last noted use up to which users stay active: mostly it is the same for
    /// all.
    calm: Option<Arc<PathLimits>>,
}

impl PartialEq for CeilingEntry {
    fn eq(&self, other: &Self) -> bool {
        (&self.held, self.uses) == (&other.held, other.uses)
    }
}

impl Ceilings {
    /// One more use of this ceiling.
    pub(super) fn take(&mut self, limits: PackedLimit) -> Arc<PathLimits> {
        let entry = match self.0.get(&limits) {
            Some(entry) => CeilingEntry { uses: entry.uses + 1, ..entry.clone() },
            None => CeilingEntry {
                held: Arc::new(PathLimits { limits, calm: None }),
                uses: 1,
                calm: None,
            },
        };
        let shared = entry.held.clone();
        self.0.insert(limits, entry);
        shared
    }

    /// One use less; what nobody uses goes.
    pub(super) fn give_back(&mut self, limits: &PackedLimit) {
        let Some(entry) = self.0.get(limits).cloned() else { return };
        if entry.uses == 1 {
            self.0.remove(limits);
        } else {
            self.0.insert(*limits, CeilingEntry { uses: entry.uses - 1, ..entry });
        }
    }

    /// A ceiling that is in use, for a user who stays active up to this use.
    pub(super) fn with_active_up_to(
        &mut self,
        limits: &PackedLimit,
        calm: Option<PackedLimit>,
    ) -> Arc<PathLimits> {
        let entry = self.0.get(limits).expect("the ceiling is in use");
        let Some(calm) = calm else { return entry.held.clone() };
        if let Some(known) = entry.calm.as_ref().filter(|known| known.calm == Some(calm)) {
            return known.clone();
        }
        let made = Arc::new(PathLimits { limits: *limits, calm: Some(calm) });
        let entry = CeilingEntry { calm: Some(made.clone()), ..entry.clone() };
        self.0.insert(*limits, entry);
        made
    }

    /// All of them, and how many use each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&PackedLimit, u64)> {
        self.0.iter().map(|(limits, entry)| (limits, entry.uses))
    }
}
