//! Limits in the form in which they are compared, shared by all levels that use them.

use alloc::sync::Arc;

use crate::ordered::OrderedMap;
use crate::resource::PackedLimit;

use super::Limit;

/// A limit that all its levels share.
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

/// Limits of a compressed path.
#[derive(Debug)]
pub(super) struct PathLimits {
    /// Combined limits of all levels of the path.
    pub(super) limits: PackedLimit,
    /// Usage up to which the user certainly stays active. See [`PathLimits::active_up_to`].
    calm: Option<PackedLimit>,
}

/// Other modules compute and maintain the bound `calm`, so it is no part of the value of the limits.
impl PartialEq for PathLimits {
    fn eq(&self, other: &Self) -> bool {
        self.limits == other.limits
    }
}

impl PathLimits {
    /// Returns the usage up to which a user of a leaf with user limits certainly stays active after any charge or
    /// refund. `None` if no such usage is known, or if the user is not active.
    #[inline]
    pub(super) const fn active_up_to(&self) -> Option<&PackedLimit> {
        self.calm.as_ref()
    }
}

/// Distinct combined limits of compressed paths.
///
/// Equal limits are stored once, so that the data of checks stays in the cache. Uses are counted here, because the
/// reference counts of `Arc` depend on clones of the books.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ceilings(OrderedMap<PackedLimit, CeilingEntry>);

#[derive(Clone, Debug)]
struct CeilingEntry {
    held: Arc<PathLimits>,
    uses: u64,
    /// Limits of `held` with the last `calm` bound, which is usually equal for all users.
    calm: Option<Arc<PathLimits>>,
}

impl PartialEq for CeilingEntry {
    fn eq(&self, other: &Self) -> bool {
        (&self.held, self.uses) == (&other.held, other.uses)
    }
}

impl Ceilings {
    /// Adds a use of these limits, and creates the entry if it is missing.
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

    /// Removes a use of these limits, and the entry with its last use.
    pub(super) fn give_back(&mut self, limits: &PackedLimit) {
        let Some(entry) = self.0.get(limits).cloned() else { return };
        if entry.uses == 1 {
            self.0.remove(limits);
        } else {
            self.0.insert(*limits, CeilingEntry { uses: entry.uses - 1, ..entry });
        }
    }

    /// Returns limits in use with this `calm` bound.
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

    /// Returns all limits with their numbers of uses.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&PackedLimit, u64)> {
        self.0.iter().map(|(limits, entry)| (limits, entry.uses))
    }
}
