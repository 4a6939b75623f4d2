//! Trackers that count an application.

use alloc::boxed::Box;

use crate::id::LevelId;
use crate::resource::Resources;

/// Trackers that count an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TrackerLink {
    /// Level of its user at its queue.
    pub user: LevelId,
    /// Level of its group at its queue.
    pub group: GroupLink,
}

impl TrackerLink {
    /// Returns the level of the user, and that of the group if there is one.
    #[inline]
    pub fn levels(self) -> impl Iterator<Item = LevelId> {
        core::iter::once(self.user).chain(self.group.level())
    }
}

/// Group that counts an application: at most one, selected once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum GroupLink {
    /// To be selected at the next check, because the limit of the previous group was removed.
    Undecided,
    /// No group limit applies. Does not change when limits are added later.
    Nobody,
    /// Level of the group at the queue of the application.
    Level(LevelId),
}

impl GroupLink {
    /// Returns the level of the group, if there is one.
    #[inline]
    pub const fn level(self) -> Option<LevelId> {
        match self {
            Self::Level(level) => Some(level),
            Self::Undecided | Self::Nobody => None,
        }
    }

    /// Returns whether the group is still to be selected.
    pub const fn is_undecided(self) -> bool {
        matches!(self, Self::Undecided)
    }
}

/// Amounts that the group of an application was not charged with, because the application had allocations when it was
/// linked to the group. Removed when the amounts are zero.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct UnchargedToGroup {
    /// Usage of the application that is not charged to its group, without types of amount zero.
    pub(super) amount: Resources,
    /// Whether the group counts the application as running.
    pub(super) counted: bool,
}

impl UnchargedToGroup {
    /// Returns the part of `amount` to refund to the group, when `amount` of `allocated` is released. For each type, at
    /// most what the group was charged with. The rest reduces the uncharged amounts.
    pub(super) fn give_back(&mut self, allocated: &Resources, amount: &Resources) -> Resources {
        let charged = allocated.minus(&self.amount);
        let mut back = Resources::new();
        for (resource, wanted) in amount.iter() {
            back.set(resource, wanted.min(charged.get_or_zero(resource)));
        }
        self.amount = self.amount.minus(&amount.minus(&back)).pruned();
        back
    }

    /// Removes the record if everything is charged.
    pub(super) fn settle(this: &mut Option<Box<Self>>) {
        if this.as_ref().is_some_and(|one| one.counted && one.amount.is_empty()) {
            *this = None;
        }
    }
}
