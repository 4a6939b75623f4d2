//! The amounts of the levels, apart from everything else that there is of one: a check and a
//! charge touch nothing more.

use alloc::sync::Arc;
use core::ops::Index;

use crate::id::{Id, LevelId};
use crate::resource::{Ceiling, Excess, Resources, Step, Tally};
use crate::table::Table;

use super::Limit;

/// A limit, shared by all whom it concerns.
#[derive(Debug, PartialEq)]
pub(super) struct Bound {
    pub(super) limit: Limit,
    ceiling: Ceiling,
}

impl Bound {
    pub(super) fn new(limit: Limit) -> Arc<Self> {
        let ceiling = Ceiling::of(limit.max.as_ref());
        Arc::new(Self { limit, ceiling })
    }
}

impl Default for Bound {
    /// No limit.
    fn default() -> Self {
        Self { limit: Limit::default(), ceiling: Ceiling::of(None) }
    }
}

/// What one level uses and may use, and which one is above it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Account {
    /// Used of the first eight types.
    pub(super) tally: Tally,
    pub(super) bound: Arc<Bound>,
    /// The slot of the level above.
    above: u32,
    /// How many of the levels above are each in the slot right before that of the level below.
    /// So a path is read in one go, and not one level after another as each names the next.
    straight: u16,
    /// Whether the use is plain, so that its lanes are taken all at once.
    plain: bool,
}

/// No slot: the level is at the root.
const NONE: u32 = u32::MAX;

impl Account {
    /// Whether a step stays within the limit, if that can be told at once.
    #[inline]
    pub(super) fn allows(&self, step: &Step) -> Option<bool> {
        let mut excess = Excess::default();
        excess.note(&self.bound.ceiling, &self.tally, step);
        self.plain.then(|| excess.is_none())
    }
}

/// The accounts of all levels, by the ids of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Accounts(Table<LevelId, Account>);

impl Accounts {
    /// Open one for the level that is made next.
    pub(super) fn open(&mut self, above: Option<LevelId>, bound: Arc<Bound>) -> LevelId {
        let id = self.0.next_id();
        let (above, straight) = self.place(id, above);
        let tally = Tally::default();
        self.0.insert(Account { tally, bound, above, straight, plain: true })
    }

    fn place(&self, id: LevelId, above: Option<LevelId>) -> (u32, u16) {
        let Some(above) = above else { return (NONE, 0) };
        let slot = above.slot().number();
        let near = Table::<LevelId, Account>::are_neighbours(slot, id.slot().number());
        (slot, if near { self.0[above].straight + 1 } else { 0 })
    }

    pub(super) fn close(&mut self, id: LevelId) {
        self.0.remove(id);
    }

    #[inline]
    pub(super) fn get(&self, id: LevelId) -> Option<&Account> {
        self.0.get(id)
    }

    pub(super) fn bind(&mut self, id: LevelId, bound: Arc<Bound>) {
        self.0[id].bound = bound;
    }

    /// Whether this account knows where the one above it is, and what it has is plain or not.
    pub(super) fn holds(&self, id: LevelId, above: Option<LevelId>) -> bool {
        let one = &self.0[id];
        (one.above, one.straight) == self.place(id, above) && one.plain == one.tally.is_plain()
    }

    /// Whether a step stays within the limits of this level and all above it; none if that
    /// cannot be told at once.
    #[inline]
    pub(super) fn allow(&self, leaf: LevelId, step: &Step) -> Option<bool> {
        self.0.expect_write(leaf);
        let (mut excess, mut plain) = (Excess::default(), true);
        self.each_up(leaf, |account| {
            excess.note(&account.bound.ceiling, &account.tally, step);
            plain &= account.plain;
        });
        plain.then(|| excess.is_none())
    }

    /// Charge this much at a level that is there and above it.
    #[inline]
    pub(super) fn charge(&mut self, leaf: LevelId, amount: &Resources) {
        match Step::of(amount).filter(|step| self.is_plain_with(leaf, step)) {
            Some(step) => self.change_each_up(leaf, |account| account.tally.add(&step)),
            None => self.change_exactly(leaf, |tally| tally.add_saturating(amount)),
        }
    }

    /// Take this much off at a level that is there and above it; of a type that has less, what
    /// there is.
    #[inline]
    pub(super) fn refund(&mut self, leaf: LevelId, amount: &Resources) {
        let step = Step::of(amount).map(Step::negated);
        match step.filter(|step| self.is_plain_with(leaf, step)) {
            Some(step) => self.change_each_up(leaf, |account| account.tally.add(&step)),
            None => self.change_exactly(leaf, |tally| tally.subtract_floored(amount)),
        }
    }

    /// Whether all from this level up is plain, and would be so with this step. To look at
    /// them all before any is changed lets the lanes stay together in both.
    #[inline]
    fn is_plain_with(&self, leaf: LevelId, step: &Step) -> bool {
        let (mut sums, mut plain) = (Tally::default(), true);
        self.each_up(leaf, |account| {
            account.tally.note_sum(step, &mut sums);
            plain &= account.plain;
        });
        plain && sums.is_plain()
    }

    #[cold]
    fn change_exactly(&mut self, leaf: LevelId, change: impl Fn(&mut Tally)) {
        self.change_each_up(leaf, |account| {
            change(&mut account.tally);
            account.plain = account.tally.is_plain();
        });
    }

    #[inline]
    fn each_up(&self, leaf: LevelId, mut look: impl FnMut(&Account)) {
        let mut next = leaf.slot().number();
        while next != NONE {
            let mut above = NONE;
            for account in self.0.run(next, self.straight(next)) {
                look(account);
                above = account.above;
            }
            next = above;
        }
    }

    #[inline]
    fn change_each_up(&mut self, leaf: LevelId, change: impl Fn(&mut Account)) {
        let mut next = leaf.slot().number();
        while next != NONE {
            let (straight, mut above) = (self.straight(next), NONE);
            for account in self.0.run_mut(next, straight) {
                change(account);
                above = account.above;
            }
            next = above;
        }
    }

    #[inline]
    fn straight(&self, slot: u32) -> u32 {
        self.0.run(slot, 0).next().map_or(0, |account| u32::from(account.straight))
    }
}

impl Index<LevelId> for Accounts {
    type Output = Account;

    fn index(&self, level: LevelId) -> &Account {
        &self.0[level]
    }
}
