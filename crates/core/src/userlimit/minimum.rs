//! Lower bounds of user limits. They do not depend on the charges of active users, so most checks need no exact
//! computation.

use crate::resource::{PackedDelta, PackedLimit, PackedUsage};

use super::{Leaf, Rules, formula};

/// Lower bounds of the limit of every active user with weight 1, for any ask.
///
/// They change with the active users, with the usage of inactive users, and with the guarantee and maximum of the leaf.
/// They do not change when an active user is charged. An amount within these bounds is allowed with every enforcement.
/// For any other ask, the exact limit must be computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MinimumShare(Option<Least>);

/// Lower bounds by type.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Least {
    /// The lower of share and cap.
    limit: PackedLimit,
    cap: PackedLimit,
}

impl MinimumShare {
    /// Returns the bounds of a leaf. Empty if types are not compared separately.
    pub(crate) fn of(rules: &Rules, leaf: &Leaf) -> Self {
        Self(rules.is_by_type().then(|| {
            let cap = PackedLimit::of(Some(&formula::smooth_least_cap(rules, leaf)));
            let mut limit = PackedLimit::of(Some(&formula::smooth_least_share(rules, leaf)));
            limit.lower_to(&cap);
            Least { limit, cap }
        }))
    }

    /// Returns the lower of share and cap, if known.
    #[inline]
    pub(crate) fn limit(&self) -> Option<&PackedLimit> {
        self.0.as_ref().map(|least| &least.limit)
    }

    /// Returns the cap, if known.
    #[inline]
    pub(crate) fn cap(&self) -> Option<&PackedLimit> {
        self.0.as_ref().map(|least| &least.cap)
    }

    /// Returns whether an ask with this plain usage is certainly within share and cap.
    #[inline]
    pub(crate) fn admits(&self, used: &PackedUsage, ask: &PackedDelta) -> bool {
        self.limit().is_some_and(|limit| limit.allows(used, ask))
    }

    /// Returns whether an ask with this plain usage is certainly within the cap.
    #[inline]
    pub(crate) fn is_within_cap(&self, used: &PackedUsage, ask: &PackedDelta) -> bool {
        self.cap().is_some_and(|cap| cap.allows(used, ask))
    }
}
