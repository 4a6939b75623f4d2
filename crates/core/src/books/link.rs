//! The trackers that count for an application.

use alloc::boxed::Box;

use crate::id::LevelId;
use crate::resource::Resources;

/// The trackers that count for an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TrackerLink {
    /// Its user's level at its queue.
    pub user: LevelId,
    /// Its group's level at its queue.
    pub group: GroupLink,
}

impl TrackerLink {
    /// The user's level, and the group's if there is one.
    #[inline]
    pub fn levels(self) -> impl Iterator<Item = LevelId> {
        core::iter::once(self.user).chain(self.group.level())
    }
}

/// The group that counts for an application: at most one, chosen once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum GroupLink {
    /// To be chosen at the next look: the limit is gone by which it had one.
    Undecided,
    /// No group limit concerns it. It stays so, whatever limits come later.
    Nobody,
    /// The level of its group at its queue.
    Level(LevelId),
}

impl GroupLink {
    /// The level of the group, if there is one.
    #[inline]
    pub const fn level(self) -> Option<LevelId> {
        match self {
            Self::Level(level) => Some(level),
            Self::Undecided | Self::Nobody => None,
        }
    }

    /// Whether it is still to be chosen.
    pub const fn is_undecided(self) -> bool {
        matches!(self, Self::Undecided)
    }
}

/// What the group of an application was not charged with, because the application already had
/// allocations when it was tied to the group. Gone as soon as that is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct UnchargedToGroup {
    /// Allocated to the application and not charged to its group; no type with amount zero.
    pub(super) amount: Resources,
    /// Whether the group counts the application as running.
    pub(super) counted: bool,
}

impl UnchargedToGroup {
    /// What of `amount`, to be given back out of `allocated`, goes back to the group: at most
    /// what it was charged with, type by type. The rest is forgotten here.
    pub(super) fn give_back(&mut self, allocated: &Resources, amount: &Resources) -> Resources {
        let charged = allocated.minus(&self.amount);
        let mut back = Resources::new();
        for (resource, wanted) in amount.iter() {
            back.set(resource, wanted.min(charged.get_or_zero(resource)));
        }
        self.amount = self.amount.minus(&amount.minus(&back)).pruned();
        back
    }

    /// Nothing, if there is nothing that the group was not charged with.
    pub(super) fn settle(this: &mut Option<Box<Self>>) {
        if this.as_ref().is_some_and(|one| one.counted && one.amount.is_empty()) {
            *this = None;
        }
    }
}
