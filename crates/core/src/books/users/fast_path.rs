//! Fast paths: stored bounds decide most checks of users, and the exact computation decides the others.

use alloc::borrow::Cow;

use crate::id::LevelId;
use crate::resource::{PackedDelta, PackedLimit, PackedUsage, Resources};
use crate::userlimit::{Among, Decimal, Formula, Leaf, MinimumShare};

use super::{LeafShares, LeafUser, LeafUsers};

impl LeafShares {
    /// Returns whether a step certainly stays within the user cap for a user with this weight and plain usage.
    #[inline]
    pub(super) fn is_within_cap(
        &self,
        weight: Decimal,
        used: &PackedUsage,
        ask: &PackedDelta,
    ) -> bool {
        weight == Decimal::ONE && self.sure.is_within_cap(used, ask)
    }
}

impl<'books> LeafUsers<'books> {
    /// Returns whether the limits, the fair share, and the cap allow an ask of the user of a level.
    #[inline]
    pub fn allows(self, level: LevelId, ask: &Resources) -> bool {
        self.fast_allows(level, ask) || self.allows_exactly(level, ask)
    }

    /// Returns whether the fast path proves that the ask is allowed and the user is active. If not, the ask can still
    /// be allowed.
    #[inline]
    pub(crate) fn fast_allows(self, level: LevelId, ask: &Resources) -> bool {
        let is_sure = self.surely_allow_within(level, ask, self.shares.sure.limit());
        debug_assert!(!is_sure || self.allows_exactly(level, ask), "{ask:?} is allowed for sure");
        is_sure
    }

    /// Returns whether the fast path proves that the limits and the cap allow the ask.
    #[inline]
    pub(crate) fn fast_within_cap(self, level: LevelId, ask: &Resources) -> bool {
        self.surely_allow_within(level, ask, self.shares.sure.cap())
    }

    /// Returns whether the user of a level is certainly active, and an ask is within `least` and the limits of the
    /// user.
    #[inline]
    fn surely_allow_within(
        self,
        level: LevelId,
        ask: &Resources,
        least: Option<&PackedLimit>,
    ) -> bool {
        let (true, Some(least)) = (self.shares.counts_as_is, least) else { return false };
        PackedDelta::of(ask)
            .is_some_and(|step| self.trackers.surely_allow_within(level, &step, least))
    }

    #[cold]
    fn allows_exactly(self, level: LevelId, ask: &Resources) -> bool {
        self.trackers.refusing(level, 0, ask).is_none()
            && self.user(level).is_some_and(|user| self.admits(&user, &self.counted(ask)))
    }

    /// Returns whether an active user can use an ask of this counted size, according to the limit of the user. Equals
    /// [`Rules::admits`](crate::userlimit::Rules::admits) with [`LeafUsers::limit`] at a lower cost.
    #[inline]
    pub fn admits(self, user: &LeafUser<'_>, ask: &Resources) -> bool {
        self.fast_admits(user, ask) || self.admits_exactly(user, ask)
    }

    /// Returns whether the fast path proves that. If not, the ask can still be admitted.
    #[inline]
    pub(crate) fn fast_admits(self, user: &LeafUser<'_>, ask: &Resources) -> bool {
        let is_sure = user.active
            && user.weight == Decimal::ONE
            && user.plain
            && PackedDelta::of(ask).is_some_and(|ask| self.shares.sure.admits(user.tally, &ask));
        debug_assert!(!is_sure || self.admits_exactly(user, ask), "{ask:?} is admitted for sure");
        is_sure
    }

    #[cold]
    fn admits_exactly(self, user: &LeafUser<'_>, ask: &Resources) -> bool {
        let limit = self.limit(user, Among::Active, ask);
        self.rules().admits(self.outline(), &limit, &user.used(), ask)
    }

    /// Returns whether an ask of this counted size would exceed the user cap.
    #[inline]
    pub(crate) fn exceeds_cap(self, user: &LeafUser<'_>, ask: &Resources) -> bool {
        let (weight, shares) = (user.weight, self.shares);
        let is_sure = user.plain
            && PackedDelta::of(ask)
                .is_some_and(|ask| shares.is_within_cap(weight, user.tally, &ask));
        let exactly = || self.rules().exceeds_cap(&self.capped(), weight, &user.used(), ask);
        debug_assert!(!is_sure || !exactly(), "{ask:?} is within the cap for sure");
        !is_sure && exactly()
    }

    /// Returns the user cap for a user with this weight and an ask of this counted size.
    pub fn cap(self, weight: Decimal, ask: &Resources) -> Resources {
        self.rules().cap(&self.capped(), weight, ask)
    }

    /// Returns the state from which caps are computed. The cap of `smooth` does not depend on usage.
    fn capped(self) -> Cow<'books, Leaf> {
        match self.rules().formula {
            Formula::Smooth => Cow::Borrowed(self.outline()),
            Formula::Yarn27 | Formula::Yarn3 => Cow::Owned(self.state()),
        }
    }

    /// Returns the stored bounds that certainly apply to the active users of the leaf.
    pub(crate) const fn sure(self) -> &'books MinimumShare {
        &self.shares.sure
    }

    /// Returns the stored usage up to which a user certainly stays active. `None` if none is stored.
    pub(crate) fn active_up_to(self, level: LevelId) -> Option<&'books PackedLimit> {
        self.trackers.active_up_to(level)
    }
}
