//! Levels that have one account together.
//!
//! What is charged at a queue is charged at all above it, so levels above one another use the
//! same as long as only one hangs below each of them and nothing is charged at them directly.
//! Such a level *leans* on the one below it. One that does not *stands*: it has an account, which
//! counts for the stretch of levels from it up to below the next one that stands.
//!
//! | a level | |
//! | --- | --- |
//! | with none below it | stands |
//! | with several below it | stands |
//! | to which somebody is tied directly | stands |
//! | that uses something else than the one below it | stands |
//! | else | leans |
//!
//! One thing is not undone at once: who was charged at directly, and gives all back, stands until
//! a link or a level there goes.

use alloc::collections::BTreeMap;

use crate::id::LevelId;
use crate::resource::{PackedLimit, PackedUsage};

use super::account::Account;
use super::{LevelRow, TrackerError, Trackers};

impl Trackers {
    /// The level whose account counts for this one: itself, or one below it.
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

    /// What is used at a level of the first eight types.
    pub(super) fn tally(&self, level: LevelId) -> &PackedUsage {
        self.accounts[self.bearer(level)].tally()
    }

    /// Have a level that is there stand.
    ///
    /// # Errors
    /// When it is gone.
    #[cold]
    pub(super) fn stand_if_live(&mut self, level: LevelId) -> Result<(), TrackerError> {
        self.live(level)?;
        self.stand(level);
        Ok(())
    }

    /// Have a level stand, with what it uses.
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

    /// Have a level lean if it may.
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

    /// Whether this level may lean on the one below it.
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

    /// Open an account at a level, for it and those above it that lean.
    pub(super) fn open(&mut self, level: LevelId, tally: PackedUsage, above: Option<LevelId>) {
        self.levels[level].has_account = true;
        let held = self.ceilings.take(self.ceiling_from(level));
        self.accounts.open(level, tally, held, above);
    }

    /// Close the account of a level.
    pub(super) fn close(&mut self, level: LevelId) -> Account {
        let account = self.accounts.close(level);
        self.ceilings.give_back(account.ceiling());
        account
    }

    /// Have the stretch of a level obey the limits that its levels have now.
    pub(super) fn rebind(&mut self, level: LevelId) {
        let bottom = self.bearer(level);
        let ceiling = self.ceiling_from(bottom);
        if *self.accounts[bottom].ceiling() != ceiling {
            let held = self.ceilings.take(ceiling);
            let before = self.accounts.bind(bottom, held);
            self.ceilings.give_back(&before.limits);
        }
    }

    /// Note up to which use the user of a level certainly stays active, if the level has an
    /// account. A caller that no longer follows the user notes none.
    pub(crate) fn set_active_up_to(&mut self, level: LevelId, calm: Option<PackedLimit>) {
        let Some(account) = self.accounts.get(level) else { return };
        if account.active_up_to() != calm.as_ref() {
            let held = self.ceilings.with_active_up_to(account.ceiling(), calm);
            self.accounts.bind(level, held);
        }
    }

    /// What is noted of that.
    pub(crate) fn active_up_to(&self, level: LevelId) -> Option<&PackedLimit> {
        self.accounts.get(level)?.active_up_to()
    }

    /// Whether the user of a level is within that.
    pub(crate) fn stays_active(&self, level: LevelId) -> bool {
        self.accounts.get(level).is_some_and(Account::stays_active)
    }

    /// What limits allow the user of a level together, where the user has only one account.
    pub(crate) fn limits_alone(&self, level: LevelId) -> Option<&PackedLimit> {
        let account = self.accounts.get(level)?;
        self.accounts.above(account).is_none().then(|| account.ceiling())
    }

    /// The levels of whose users something is noted.
    pub(crate) fn calm_levels(&self) -> usize {
        self.accounts.iter().filter(|account| account.active_up_to().is_some()).count()
    }

    /// What the limits allow together from a level up to below the next one that stands.
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

    /// Whether a level leans only where it may, and whether its account, if it has one, is
    /// where it is looked for and bound to the limits of its stretch.
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

    /// Whether a level leans if it may. It does wherever nothing is charged by those who are not
    /// tied to the level they charge, and all is given back before the tie is.
    pub fn leans_if_it_may(&self, level: LevelId) -> bool {
        self.may_lean(level) != self.levels[level].has_account
    }

    /// Whether the ceilings that are shared are those in use, each counted as often as it is.
    pub fn shared_are_counted(&self) -> bool {
        let mut counted = BTreeMap::new();
        for account in self.accounts.iter() {
            *counted.entry(*account.ceiling()).or_insert(0) += 1;
        }
        self.ceilings.iter().eq(counted.iter().map(|(ceiling, uses)| (ceiling, *uses)))
    }
}
