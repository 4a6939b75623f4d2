//! Compressed paths: tracker levels that share one account.
//!
//! A charge at a queue also charges all its ancestors. Nested levels therefore have the same usage as long as each has
//! only one child level and is not charged directly. Such a level *leans*: it shares the account of its child. Every
//! other level *stands*: it has an account, which counts for the path from this level up to the next one that stands.
//!
//! | level | result |
//! | --- | --- |
//! | without child levels | stands |
//! | with several child levels | stands |
//! | with directly linked applications | stands |
//! | with other usage than its only child | stands |
//! | otherwise | leans |
//!
//! One change is not reversed at once: a level that was charged directly and refunded completely stands until a link or
//! a level there is removed.

use alloc::collections::BTreeMap;

use crate::id::LevelId;
use crate::resource::{PackedLimit, PackedUsage};

use super::account::Account;
use super::{LevelRow, TrackerError, Trackers};

impl Trackers {
    /// Returns the level whose account counts for this level: the level itself, or a descendant.
    #[inline]
    pub(super) fn bearer(&self, level: LevelId) -> LevelId {
        let mut id = level;
        loop {
            let row = &self.levels[id];
            if row.has_account {
                return id;
            }
            id = row.first_child.expect("a level leans on one below it");
        }
    }

    /// Returns the usage of the first eight types of a level.
    pub(super) fn tally(&self, level: LevelId) -> &PackedUsage {
        self.accounts[self.bearer(level)].tally()
    }

    /// Gives an existing level its own account.
    ///
    /// # Errors
    ///
    /// Fails if the level was removed.
    #[cold]
    pub(super) fn stand_if_live(&mut self, level: LevelId) -> Result<(), TrackerError> {
        self.live(level)?;
        self.stand(level);
        Ok(())
    }

    /// Gives a level its own account with its current usage.
    pub(super) fn stand(&mut self, level: LevelId) {
        if self.levels[level].has_account {
            return;
        }
        let below = self.bearer(level);
        let account = &self.accounts[below];
        let (tally, above) = (*account.tally(), self.accounts.above(account));
        self.open(level, tally, above);
        self.accounts.hang(below, Some(level));
        self.rebind(below);
    }

    /// Makes a level share the account of its child, if possible.
    pub(super) fn lean(&mut self, level: LevelId) {
        if self.levels[level].has_account && self.may_lean(level) {
            let below = self.levels[level].first_child.expect("it may lean on it");
            let below = self.bearer(below);
            let account = self.close(level);
            self.levels[level].has_account = false;
            self.accounts.hang(below, self.accounts.above(&account));
            self.rebind(below);
        }
    }

    /// Returns whether this level can share the account of its only child.
    fn may_lean(&self, level: LevelId) -> bool {
        let row = &self.levels[level];
        self.only_child(row).is_some_and(|(id, child)| {
            child.links == row.links && self.tally(id) == self.tally(level)
        })
    }

    fn only_child(&self, row: &LevelRow) -> Option<(LevelId, &LevelRow)> {
        let child = row.first_child?;
        Some((child, &self.levels[child])).filter(|(_, child)| child.next_sibling.is_none())
    }

    /// Opens an account for a level and the ancestor levels that lean on it.
    pub(super) fn open(&mut self, level: LevelId, tally: PackedUsage, above: Option<LevelId>) {
        self.levels[level].has_account = true;
        let held = self.ceilings.take(self.ceiling_from(level));
        self.accounts.open(level, tally, held, above);
    }

    /// Closes the account of a level.
    pub(super) fn close(&mut self, level: LevelId) -> Account {
        let account = self.accounts.close(level);
        self.ceilings.give_back(account.ceiling());
        account
    }

    /// Updates the combined limits of the path of a level after a limit changed.
    pub(super) fn rebind(&mut self, level: LevelId) {
        let bottom = self.bearer(level);
        let ceiling = self.ceiling_from(bottom);
        if *self.accounts[bottom].ceiling() != ceiling {
            let held = self.ceilings.take(ceiling);
            let before = self.accounts.bind(bottom, held);
            self.ceilings.give_back(&before.limits);
        }
    }

    /// Stores the usage up to which the user of a level certainly stays active, if the level has an account. Callers
    /// pass `None` when they stop updating it.
    pub(crate) fn set_active_up_to(&mut self, level: LevelId, calm: Option<PackedLimit>) {
        let Some(account) = self.accounts.get(level) else { return };
        if account.active_up_to() != calm.as_ref() {
            let held = self.ceilings.with_active_up_to(account.ceiling(), calm);
            self.accounts.bind(level, held);
        }
    }

    /// Returns the stored usage up to which the user certainly stays active.
    pub(crate) fn active_up_to(&self, level: LevelId) -> Option<&PackedLimit> {
        self.accounts.get(level)?.active_up_to()
    }

    /// Returns whether the user of a level is within that usage.
    pub(crate) fn stays_active(&self, level: LevelId) -> bool {
        self.accounts.get(level).is_some_and(Account::stays_active)
    }

    /// Returns the combined limits of the user of a level. `None` if the user has more than one account on the path.
    pub(crate) fn limits_alone(&self, level: LevelId) -> Option<&PackedLimit> {
        let account = self.accounts.get(level)?;
        self.accounts.above(account).is_none().then(|| account.ceiling())
    }

    /// Returns the number of levels with a stored bound.
    pub(crate) fn calm_levels(&self) -> usize {
        self.accounts.iter().filter(|account| account.active_up_to().is_some()).count()
    }

    /// Returns the combined limits from a level up to the next one that stands.
    fn ceiling_from(&self, bottom: LevelId) -> PackedLimit {
        let (mut ceiling, mut next) = (PackedLimit::of(None), Some(bottom));
        while let Some(id) = next {
            let row = &self.levels[id];
            if let Some(bound) = &row.bound {
                ceiling.lower_to(&bound.ceiling);
            }
            next = row.parent.filter(|above| !self.levels[*above].has_account);
        }
        ceiling
    }

    /// Returns whether a level leans only where that is possible. Also checks that its account, if any, is in the index
    /// and has the limits of its path.
    pub fn is_in_place(&self, level: LevelId) -> bool {
        let row = &self.levels[level];
        if row.has_account != self.accounts.get(level).is_some() {
            return false;
        }
        if !row.has_account {
            return self.may_lean(level);
        }
        let mut above = row.parent;
        while let Some(id) = above.filter(|above| !self.levels[*above].has_account) {
            above = self.levels[id].parent;
        }
        self.accounts.holds(level, above)
            && *self.accounts[level].ceiling() == self.ceiling_from(level)
    }

    /// Returns whether a level leans if that is possible. True unless a caller charges a level without a link, or
    /// unlinks before everything is refunded.
    pub fn leans_if_it_may(&self, level: LevelId) -> bool {
        self.may_lean(level) != self.levels[level].has_account
    }

    /// Returns whether the shared limits are exactly those in use, with correct counts.
    pub fn shared_are_counted(&self) -> bool {
        let mut counted = BTreeMap::new();
        for account in self.accounts.iter() {
            *counted.entry(*account.ceiling()).or_insert(0) += 1;
        }
        self.ceilings.iter().eq(counted.iter().map(|(ceiling, uses)| (ceiling, *uses)))
    }
}
