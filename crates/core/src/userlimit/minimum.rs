//! What users may have whatever else they and others do, so that mostly nothing has to be worked out.

use crate::resource::{PackedDelta, PackedLimit, PackedUsage};

use super::{Leaf, Rules, formula};

/// What every active user of weight one may have at least, for any ask.
///
/// It changes with who is active, with what the inactive use, and with what the leaf is guaranteed and
/// may use; not when somebody active is charged. What it allows is allowed under every enforcement;
/// of what it does not allow nothing is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MinimumShare(Option<Least>);

/// What they may have at least, type by type.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Least {
    /// The lower of share and cap.
    limit: PackedLimit,
    cap: PackedLimit,
}

impl MinimumShare {
    /// What follows from how a leaf is; nothing where types are not compared one by one.
    pub(crate) fn of(rules: &Rules, leaf: &Leaf) -> Self {
        Self(rules.is_by_type().then(|| {
            let cap = PackedLimit::of(Some(&formula::smooth_least_cap(rules, leaf)));
            let mut limit = PackedLimit::of(Some(&formula::smooth_least_share(rules, leaf)));
            limit.lower_to(&cap);
            Least { limit, cap }
        }))
    }

    /// Of share and cap the lower, if anything is known.
    #[inline]
    pub(crate) fn limit(&self) -> Option<&PackedLimit> {
        self.0.as_ref().map(|least| &least.limit)
    }

    /// The cap, if anything is known.
    #[inline]
    pub(crate) fn cap(&self) -> Option<&PackedLimit> {
        self.0.as_ref().map(|least| &least.cap)
    }

    /// Whether somebody whose use is plain, and this, is surely within share and cap with an ask.
    #[inline]
    pub(crate) fn admits(&self, used: &PackedUsage, ask: &PackedDelta) -> bool {
        self.limit().is_some_and(|limit| limit.allows(used, ask))
    }

    /// Whether the user is certainly within the cap with the ask.
    #[inline]
    pub(crate) fn is_within_cap(&self, used: &PackedUsage, ask: &PackedDelta) -> bool {
        self.cap().is_some_and(|cap| cap.allows(used, ask))
    }
}
