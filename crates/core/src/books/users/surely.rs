//! What holds for users without anything being worked out, and the same worked out where that says
//! nothing.

use alloc::borrow::Cow;

use crate::id::LevelId;
use crate::resource::{Ceiling, Resources, Step, Tally};
use crate::userlimit::{Among, Decimal, Formula, Leaf, Sure};

use super::{LeafShares, LeafUser, LeafUsers};

impl LeafShares {
    /// Whether a step surely takes somebody of this weight, whose use is plain, not beyond his cap.
    #[inline]
    pub(super) fn is_within_cap(&self, weight: Decimal, used: &Tally, ask: &Step) -> bool {
        weight == Decimal::ONE && self.sure.is_within_cap(used, ask)
    }
}

impl<'books> LeafUsers<'books> {
    /// Whether the user of a level may have an ask, as far as his limits, his share and his cap go.
    #[inline]
    pub fn allows(self, level: LevelId, ask: &Resources) -> bool {
        self.surely_allows(level, ask) || self.allows_exactly(level, ask)
    }

    /// Whether that is so without anything being worked out, and he is active; if not, he still may
    /// have it.
    #[inline]
    pub(crate) fn surely_allows(self, level: LevelId, ask: &Resources) -> bool {
        let is_sure = self.surely_allow_within(level, ask, self.shares.sure.limit());
        debug_assert!(!is_sure || self.allows_exactly(level, ask), "{ask:?} is allowed for sure");
        is_sure
    }

    /// The same as far as his limits and his cap go.
    #[inline]
    pub(crate) fn surely_within_cap(self, level: LevelId, ask: &Resources) -> bool {
        self.surely_allow_within(level, ask, self.shares.sure.cap())
    }

    /// Whether the user of a level surely is active, and an ask is within this and his limits.
    #[inline]
    fn surely_allow_within(self, level: LevelId, ask: &Resources, least: Option<&Ceiling>) -> bool {
        let (true, Some(least)) = (self.shares.counts_as_is, least) else { return false };
        Step::of(ask).is_some_and(|step| self.trackers.surely_allow_within(level, &step, least))
    }

    #[cold]
    fn allows_exactly(self, level: LevelId, ask: &Resources) -> bool {
        self.trackers.refusing(level, 0, ask).is_none()
            && self.user(level).is_some_and(|user| self.admits(&user, &self.counted(ask)))
    }

    /// Whether an active user may have an ask, of this size as it counts, as far as his limit goes: the same as
    /// [`Rules::admits`](crate::userlimit::Rules::admits) with [`LeafUsers::limit`], for less.
    #[inline]
    pub fn admits(self, user: &LeafUser<'_>, ask: &Resources) -> bool {
        self.surely_admits(user, ask) || self.admits_exactly(user, ask)
    }

    /// Whether that is so without anything being worked out; if not, he still may have it.
    #[inline]
    pub(crate) fn surely_admits(self, user: &LeafUser<'_>, ask: &Resources) -> bool {
        let is_sure = user.active
            && user.weight == Decimal::ONE
            && user.plain
            && Step::of(ask).is_some_and(|ask| self.shares.sure.admits(user.tally, &ask));
        debug_assert!(!is_sure || self.admits_exactly(user, ask), "{ask:?} is admitted for sure");
        is_sure
    }

    #[cold]
    fn admits_exactly(self, user: &LeafUser<'_>, ask: &Resources) -> bool {
        let limit = self.limit(user, Among::Active, ask);
        self.rules().admits(self.outline(), &limit, &user.used(), ask)
    }

    /// Whether an ask, of this size as it counts, would take a user beyond his cap.
    #[inline]
    pub(crate) fn exceeds_cap(self, user: &LeafUser<'_>, ask: &Resources) -> bool {
        let (weight, shares) = (user.weight, self.shares);
        let is_sure = user.plain
            && Step::of(ask).is_some_and(|ask| shares.is_within_cap(weight, user.tally, &ask));
        let exactly = || self.rules().exceeds_cap(&self.capped(), weight, &user.used(), ask);
        debug_assert!(!is_sure || !exactly(), "{ask:?} is within the cap for sure");
        !is_sure && exactly()
    }

    /// Never more than that for a user of this weight, who asks for this much as it counts.
    pub fn cap(self, weight: Decimal, ask: &Resources) -> Resources {
        self.rules().cap(&self.capped(), weight, ask)
    }

    /// What caps are worked out from: ours do not look at what is used.
    fn capped(self) -> Cow<'books, Leaf> {
        match self.rules().formula {
            Formula::Smooth => Cow::Borrowed(self.outline()),
            Formula::Yarn27 | Formula::Yarn3 => Cow::Owned(self.state()),
        }
    }

    /// What surely holds for its active users, as it is kept.
    pub(crate) const fn sure(self) -> &'books Sure {
        &self.shares.sure
    }

    /// Up to which use somebody surely stays active, as it is kept; none where nothing is.
    pub(crate) fn calm(self, level: LevelId) -> Option<&'books Ceiling> {
        self.trackers.calm(level)
    }
}
