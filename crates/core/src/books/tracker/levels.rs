//! All levels by id: those made as the end of a path apart from those above them.
//!
//! Numbers come in blocks of 64, by turns for ends and for the levels above. Where nobody is at
//! two leaves only ends have accounts, and so these stand close together (`account.rs`).

use core::ops::{Index, IndexMut};

use crate::id::{Id, LevelId, Slot};
use crate::table::Table;

use super::LevelRow;

/// How many levels of one kind have numbers side by side.
pub(super) const BLOCK: u32 = 64;

#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Levels {
    ends: Table<LevelId, LevelRow>,
    inner: Table<LevelId, LevelRow>,
}

impl Levels {
    /// Add a level: one at the end of a path, or one above such.
    pub(super) fn insert(&mut self, row: LevelRow, is_end: bool) -> LevelId {
        let id = if is_end { self.ends.insert(row) } else { self.inner.insert(row) };
        outer(id, is_end)
    }

    pub(super) fn remove(&mut self, level: LevelId) -> Option<LevelRow> {
        self.table_mut(level).remove(own(level))
    }

    #[inline]
    pub(super) fn get(&self, level: LevelId) -> Option<&LevelRow> {
        let table = if is_end(level) { &self.ends } else { &self.inner };
        table.get(own(level))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (LevelId, &LevelRow)> {
        let ends = self.ends.iter().map(|(id, row)| (outer(id, true), row));
        ends.chain(self.inner.iter().map(|(id, row)| (outer(id, false), row)))
    }

    /// Change a level and all above it. Whether it was there.
    #[inline]
    pub(super) fn each_up(&mut self, leaf: LevelId, mut change: impl FnMut(&mut LevelRow)) -> bool {
        let mut next = Some(leaf);
        while let Some(first) = next.take() {
            let there = self.table_mut(first).follow(own(first), |row| {
                change(row);
                // The other kind starts again, from its own table.
                let near = row.parent.filter(|above| is_end(*above) == is_end(first));
                next = if near.is_none() { row.parent } else { None };
                near.map(own)
            });
            if !there {
                return false;
            }
        }
        true
    }

    #[inline]
    const fn table_mut(&mut self, level: LevelId) -> &mut Table<LevelId, LevelRow> {
        if is_end(level) { &mut self.ends } else { &mut self.inner }
    }

    /// How many levels of one kind there ever were at once, at most.
    #[cfg(feature = "snapshot")]
    pub(super) fn slots(&self) -> usize {
        self.ends.slots().max(self.inner.slots())
    }

    /// How many levels there are.
    #[cfg(test)]
    pub(super) const fn len(&self) -> usize {
        self.ends.len() + self.inner.len()
    }
}

impl Index<LevelId> for Levels {
    type Output = LevelRow;

    #[inline]
    fn index(&self, level: LevelId) -> &LevelRow {
        if is_end(level) { &self.ends[own(level)] } else { &self.inner[own(level)] }
    }
}

impl IndexMut<LevelId> for Levels {
    #[inline]
    fn index_mut(&mut self, level: LevelId) -> &mut LevelRow {
        &mut self.table_mut(level)[own(level)]
    }
}

/// Whether a number is of a block for ends.
#[inline]
const fn is_end(level: LevelId) -> bool {
    (level.index() / BLOCK as usize).is_multiple_of(2)
}

/// The id in the table of its kind.
#[inline]
fn own(level: LevelId) -> LevelId {
    let slot = level.slot();
    let number = slot.number() / (2 * BLOCK) * BLOCK + slot.number() % BLOCK;
    LevelId::from_slot(Slot::new(number, slot.generation()))
}

/// The id that everybody else knows.
fn outer(level: LevelId, is_end: bool) -> LevelId {
    let slot = level.slot();
    let block = slot.number() / BLOCK * 2 + u32::from(!is_end);
    LevelId::from_slot(Slot::new(block * BLOCK + slot.number() % BLOCK, slot.generation()))
}
