//! Accounts: the amounts of tracker levels, separate from their other data, so that a check and a charge read nothing
//! else.
//!
//! Levels of a compressed path always have the same usage and share one account (`compression.rs`), which has the
//! number of the lowest level. So a user in one leaf has one account, regardless of the depth of the leaf.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Index;

use crate::id::{Id, LevelId, Slot};
use crate::resource::{PackedDelta, PackedExcess, PackedLimit, PackedUsage, Resources};

use super::bound::PathLimits;

/// Number of accounts that are copied together when a clone shares them: the number of levels of one kind with
/// consecutive numbers.
const CHUNK: usize = super::levels::BLOCK as usize;

/// Number of no account: there is no account above.
const NONE: u32 = u32::MAX;

/// Usage and limits of one compressed path, and the next account above.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Account {
    /// Usage of the first eight types.
    tally: PackedUsage,
    /// Combined limits of the path, and the bound up to which its user stays active.
    held: Arc<PathLimits>,
    /// Generation of the lowest level, whose number is that of the account.
    generation: u32,
    /// Number of the next account above.
    above: u32,
    /// Whether the usage is plain: small enough for packed arithmetic without overflow.
    plain: bool,
    seat: RowHint,
}

/// Hint: position at which other modules store data of the lowest level.
///
/// A hint is verified before use. It is no part of the value of an account, so any two hints are equal.
#[derive(Clone, Copy, Debug)]
struct RowHint(u32);

impl PartialEq for RowHint {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Account {
    /// Returns the usage of the first eight types.
    pub(super) const fn tally(&self) -> &PackedUsage {
        &self.tally
    }

    /// Returns the combined limits of the path.
    pub(super) fn ceiling(&self) -> &PackedLimit {
        &self.held.limits
    }

    /// Returns the usage up to which its user certainly stays active.
    #[inline]
    pub(super) fn active_up_to(&self) -> Option<&PackedLimit> {
        self.held.active_up_to()
    }

    /// Returns whether its user certainly stays as active as before.
    #[inline]
    pub(super) fn stays_active(&self) -> bool {
        self.plain && self.stays_active_with(&self.tally)
    }

    /// Returns whether its user certainly stays as active as before at this plain usage. This account does not know
    /// charges at an account above, so it must be the only one.
    #[inline]
    fn stays_active_with(&self, used: &PackedUsage) -> bool {
        self.above == NONE && self.active_up_to().is_some_and(|calm| calm.is_above(used))
    }

    /// Returns whether the usage is plain.
    #[inline]
    pub(super) const fn is_plain(&self) -> bool {
        self.plain
    }

    /// Returns the hint that a caller stored.
    #[inline]
    pub(super) const fn seat(&self) -> u32 {
        self.seat.0
    }

    /// Adds a step. `exactly` handles a result that is not plain. Returns whether its user certainly stays as active as
    /// before.
    ///
    /// The exact result is computed from the sum in registers, because reading a value just after its write is slow.
    #[inline]
    fn add(&mut self, step: &PackedDelta, exactly: impl Fn(&mut PackedUsage)) -> bool {
        let sum = self.tally.plus(step);
        if self.plain && sum.is_plain() {
            let calm = self.stays_active_with(&sum);
            self.tally = sum;
            calm
        } else {
            self.change(exactly)
        }
    }

    #[cold]
    fn change(&mut self, exactly: impl Fn(&mut PackedUsage)) -> bool {
        exactly(&mut self.tally);
        self.plain = self.tally.is_plain();
        self.stays_active()
    }
}

/// All accounts by the ID of the lowest level of their paths.
///
/// Cheap to clone, like a table. Unlike a table, it allocates chunks only around levels with accounts.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Accounts {
    chunks: Vec<Option<Arc<Chunk>>>,
}

#[derive(Clone, PartialEq)]
struct Chunk {
    /// Number of accounts in the chunk.
    count: u32,
    rows: [Option<Account>; CHUNK],
}

impl Accounts {
    /// Opens an account for a path with this usage. `above` is the lowest level of the next path.
    pub(super) fn open(
        &mut self,
        bottom: LevelId,
        tally: PackedUsage,
        held: Arc<PathLimits>,
        above: Option<LevelId>,
    ) {
        let (chunk, row) = place(bottom.slot().number());
        if self.chunks.len() <= chunk {
            self.chunks.resize_with(chunk + 1, || None);
        }
        let chunk = self.chunks[chunk].get_or_insert_with(|| {
            Arc::new(Chunk { count: 0, rows: core::array::from_fn(|_| None) })
        });
        let chunk = Arc::make_mut(chunk);
        debug_assert!(chunk.rows[row].is_none(), "a level has one account");
        chunk.count += 1;
        chunk.rows[row] = Some(Account {
            tally,
            held,
            generation: bottom.slot().generation(),
            above: number_of(above),
            plain: tally.is_plain(),
            seat: RowHint(NONE),
        });
    }

    /// Closes the account of a level, which must have one.
    pub(super) fn close(&mut self, bottom: LevelId) -> Account {
        let (chunk, row) = place(bottom.slot().number());
        let place = &mut self.chunks[chunk];
        let chunk = Arc::make_mut(place.as_mut().expect(HELD));
        let account = chunk.rows[row].take().expect(HELD);
        chunk.count -= 1;
        if chunk.count == 0 {
            *place = None;
        }
        account
    }

    /// Returns the account of a level, if a path begins there.
    #[inline]
    pub(super) fn get(&self, bottom: LevelId) -> Option<&Account> {
        let slot = bottom.slot();
        self.at(slot.number()).filter(|account| account.generation == slot.generation())
    }

    #[inline]
    fn at(&self, number: u32) -> Option<&Account> {
        let (chunk, row) = place(number);
        self.chunks.get(chunk)?.as_ref()?.rows[row].as_ref()
    }

    fn held_mut(&mut self, bottom: LevelId) -> &mut Account {
        let (chunk, row) = place(bottom.slot().number());
        let chunk = Arc::make_mut(self.chunks[chunk].as_mut().expect(HELD));
        chunk.rows[row].as_mut().expect(HELD)
    }

    /// Sets the limits of a path. Returns the previous limits.
    pub(super) fn bind(&mut self, bottom: LevelId, held: Arc<PathLimits>) -> Arc<PathLimits> {
        core::mem::replace(&mut self.held_mut(bottom).held, held)
    }

    /// Stores a hint for a level, if it has an account.
    pub(super) fn set_seat(&mut self, bottom: LevelId, seat: u32) {
        if self.get(bottom).is_some() {
            self.held_mut(bottom).seat = RowHint(seat);
        }
    }

    /// Sets the account above.
    pub(super) fn hang(&mut self, bottom: LevelId, above: Option<LevelId>) {
        self.held_mut(bottom).above = number_of(above);
    }

    /// Returns the lowest level of the parent path of an account.
    pub(super) fn above(&self, account: &Account) -> Option<LevelId> {
        let above = self.at(account.above)?;
        Some(LevelId::from_slot(Slot::new(account.above, above.generation)))
    }

    /// Returns whether this account has the correct account above and the correct flag for plain usage.
    pub(super) fn holds(&self, bottom: LevelId, above: Option<LevelId>) -> bool {
        let one = &self[bottom];
        one.above == number_of(above)
            && self.above(one) == above
            && one.plain == one.tally.is_plain()
    }

    /// Returns all accounts.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Account> {
        self.chunks.iter().flatten().flat_map(|chunk| chunk.rows.iter().flatten())
    }

    /// Returns whether a step certainly stays within the limits of this path and of all paths above.
    #[inline]
    pub(super) fn allow(&self, bottom: LevelId, step: &PackedDelta) -> bool {
        self.get(bottom)
            .is_some_and(|account| self.allow_from(account, step, PackedExcess::default()))
    }

    /// Returns the same for a user who is certainly active, with the additional bound `least`.
    #[inline]
    pub(super) fn allow_within(
        &self,
        bottom: LevelId,
        step: &PackedDelta,
        least: &PackedLimit,
    ) -> bool {
        let active = self.get(bottom).filter(|account| account.active_up_to().is_some());
        active.is_some_and(|account| {
            let mut excess = PackedExcess::default();
            excess.note(least, &account.tally, step);
            self.allow_from(account, step, excess)
        })
    }

    /// Always inlined, so that the excess stays in registers.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "measured: a tenth of a check and charge")]
    fn allow_from<'a>(
        &'a self,
        mut account: &'a Account,
        step: &PackedDelta,
        mut excess: PackedExcess,
    ) -> bool {
        let mut plain = true;
        loop {
            excess.note(&account.held.limits, &account.tally, step);
            plain &= account.plain;
            match self.at(account.above) {
                Some(above) => account = above,
                None => return plain && excess.is_none(),
            }
        }
    }

    /// Charges an amount to a path and all paths above. Returns whether its user certainly stays as active as before.
    /// `None` if no path begins at this level.
    #[inline]
    pub(super) fn charge(&mut self, bottom: LevelId, amount: &Resources) -> Option<bool> {
        let exactly = |tally: &mut PackedUsage| tally.add_saturating(amount);
        self.change_each_up(bottom, PackedDelta::of(amount), exactly)
    }

    /// Refunds an amount, at most the usage of each type. Returns the same as [`Self::charge`].
    #[inline]
    pub(super) fn refund(&mut self, bottom: LevelId, amount: &Resources) -> Option<bool> {
        let exactly = |tally: &mut PackedUsage| tally.subtract_floored(amount);
        self.change_each_up(bottom, PackedDelta::of(amount).map(PackedDelta::negated), exactly)
    }

    #[inline]
    fn change_each_up(
        &mut self,
        bottom: LevelId,
        step: Option<PackedDelta>,
        exactly: impl Fn(&mut PackedUsage),
    ) -> Option<bool> {
        self.get(bottom)?;
        let (mut next, mut calm) = (bottom.slot().number(), None);
        loop {
            let (chunk, row) = place(next);
            let Some(Some(chunk)) = self.chunks.get_mut(chunk) else { return calm };
            let Some(account) = &mut Arc::make_mut(chunk).rows[row] else { return calm };
            let is_calm = match &step {
                Some(step) => account.add(step, &exactly),
                None => account.change(&exactly),
            };
            calm = calm.or(Some(is_calm));
            next = account.above;
        }
    }
}

#[cfg(feature = "snapshot")]
impl Accounts {
    /// Returns the number of allocated chunks.
    pub(super) const fn room(&self) -> usize {
        self.chunks.len()
    }

    /// Allocates this number of chunks.
    pub(super) fn make_room(&mut self, chunks: usize) {
        self.chunks.resize_with(chunks, || None);
    }
}

impl Index<LevelId> for Accounts {
    type Output = Account;

    fn index(&self, bottom: LevelId) -> &Account {
        self.get(bottom).expect(HELD)
    }
}

impl fmt::Debug for Accounts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}

/// Invariant: callers access an account only of a level that has one.
const HELD: &str = "the level has an account";

#[inline]
const fn place(number: u32) -> (usize, usize) {
    (number as usize / CHUNK, number as usize % CHUNK)
}

fn number_of(level: Option<LevelId>) -> u32 {
    level.map_or(NONE, |level| level.slot().number())
}
