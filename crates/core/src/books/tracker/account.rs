//! The amounts of the levels, apart from everything else that there is of one: a check and a
//! charge touch nothing more.
//!
//! There is one account for a *stretch* of levels whose use is the same (`compression.rs`), at the
//! number of its lowest level. So a user with one leaf has one account, however deep it is.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Index;

use crate::id::{Id, LevelId, Slot};
use crate::resource::{PackedDelta, PackedExcess, PackedLimit, PackedUsage, Resources};

use super::bound::PathLimits;

/// How many accounts are copied together when a clone shares them: as many as levels of one
/// kind have numbers side by side.
const CHUNK: usize = super::levels::BLOCK as usize;

/// No number: there is no account above.
const NONE: u32 = u32::MAX;

/// What one stretch of levels uses and may use, and which account is above it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Account {
    /// Used of the first eight types.
    tally: PackedUsage,
    /// What all limits of the stretch allow together, and what follows for its user.
    held: Arc<PathLimits>,
    /// The generation of the lowest level, whose number is that of the account.
    generation: u32,
    /// The number of the account above.
    above: u32,
    /// Whether the use is plain, so that its lanes are taken all at once.
    plain: bool,
    seat: RowHint,
}

/// Where something is that others keep of the lowest level, so that they find it at once.
///
/// A hint that is tried: it is no part of what accounts are, and any two are equal.
#[derive(Clone, Copy, Debug)]
struct RowHint(u32);

impl PartialEq for RowHint {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Account {
    /// What is used of the first eight types.
    pub(super) const fn tally(&self) -> &PackedUsage {
        &self.tally
    }

    /// What all limits of the stretch allow together.
    pub(super) fn ceiling(&self) -> &PackedLimit {
        &self.held.limits
    }

    /// Up to which use its user surely stays active.
    #[inline]
    pub(super) fn active_up_to(&self) -> Option<&PackedLimit> {
        self.held.active_up_to()
    }

    /// Whether its user certainly stays as active as before.
    #[inline]
    pub(super) fn stays_active(&self) -> bool {
        self.plain && self.stays_active_with(&self.tally)
    }

    /// Whether its user certainly stays as active as before at this use, which is plain. This
    /// account does not know what is charged at an account above.
    #[inline]
    fn stays_active_with(&self, used: &PackedUsage) -> bool {
        self.above == NONE && self.active_up_to().is_some_and(|calm| calm.is_above(used))
    }

    /// Whether the use is plain.
    #[inline]
    pub(super) const fn is_plain(&self) -> bool {
        self.plain
    }

    /// The seat at which a caller stores something of it.
    #[inline]
    pub(super) const fn seat(&self) -> u32 {
        self.seat.0
    }

    /// Add a step; `exactly` handles a result that is not plain. Returns whether its user certainly
    /// stays as active as before. That comes from the sum at hand, since a fresh write is slow to
    /// be read.
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

/// All accounts, each by the id of the lowest level of its stretch.
///
/// Like a table it is cheap to clone. Unlike one it has room only around the levels that have
/// accounts.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Accounts {
    chunks: Vec<Option<Arc<Chunk>>>,
}

#[derive(Clone, PartialEq)]
struct Chunk {
    /// How many accounts there are in it.
    count: u32,
    rows: [Option<Account>; CHUNK],
}

impl Accounts {
    /// Open one for a stretch that uses this much: `above` is the lowest level of the next.
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

    /// Close the one of a level that has one.
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

    /// The account of a level, if one begins at it.
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

    /// Hold a stretch against something else; what it was held against.
    pub(super) fn bind(&mut self, bottom: LevelId, held: Arc<PathLimits>) -> Arc<PathLimits> {
        core::mem::replace(&mut self.held_mut(bottom).held, held)
    }

    /// Note where others keep something of a level, if it has an account.
    pub(super) fn set_seat(&mut self, bottom: LevelId, seat: u32) {
        if self.get(bottom).is_some() {
            self.held_mut(bottom).seat = RowHint(seat);
        }
    }

    /// Say that another account is above this one.
    pub(super) fn hang(&mut self, bottom: LevelId, above: Option<LevelId>) {
        self.held_mut(bottom).above = number_of(above);
    }

    /// The lowest level of the stretch above an account.
    pub(super) fn above(&self, account: &Account) -> Option<LevelId> {
        let above = self.at(account.above)?;
        Some(LevelId::from_slot(Slot::new(account.above, above.generation)))
    }

    /// Whether this account is right about what is above it, and about itself.
    pub(super) fn holds(&self, bottom: LevelId, above: Option<LevelId>) -> bool {
        let one = &self[bottom];
        one.above == number_of(above)
            && self.above(one) == above
            && one.plain == one.tally.is_plain()
    }

    /// All accounts.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Account> {
        self.chunks.iter().flatten().flat_map(|chunk| chunk.rows.iter().flatten())
    }

    /// Whether a step surely stays within the limits of this stretch and all above it.
    #[inline]
    pub(super) fn allow(&self, bottom: LevelId, step: &PackedDelta) -> bool {
        self.get(bottom)
            .is_some_and(|account| self.allow_from(account, step, PackedExcess::default()))
    }

    /// The same for a user who surely is active, and within this besides.
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

    /// Inlined into the caller in any case: the excess then stays in registers.
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

    /// Charge this much to a stretch and all above it. Returns whether its user certainly stays as
    /// active as before; none if no stretch begins at this level.
    #[inline]
    pub(super) fn charge(&mut self, bottom: LevelId, amount: &Resources) -> Option<bool> {
        let exactly = |tally: &mut PackedUsage| tally.add_saturating(amount);
        self.change_each_up(bottom, PackedDelta::of(amount), exactly)
    }

    /// Take this much off, of a type that has less what there is; the same.
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
    /// For how many chunks there is room.
    pub(super) const fn room(&self) -> usize {
        self.chunks.len()
    }

    /// Have room for so many chunks.
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

/// Who asks for an account knows that the level has one.
const HELD: &str = "the level has an account";

#[inline]
const fn place(number: u32) -> (usize, usize) {
    (number as usize / CHUNK, number as usize % CHUNK)
}

fn number_of(level: Option<LevelId>) -> u32 {
    level.map_or(NONE, |level| level.slot().number())
}
