//! All levels by ID. Levels that were created as the end of a path are separate from their ancestors.
//!
//! Numbers are assigned in blocks of 64, alternately for ends and for ancestors. If no user is in two leaves, only ends
//! have accounts, and these are then close together in memory (`account.rs`).

use core::ops::{Index, IndexMut};

use crate::id::{Id, LevelId, Slot};
use crate::table::Table;

use super::LevelRow;

/// Number of levels of one kind with consecutive numbers.
pub(super) const BLOCK: u32 = 64;

#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Levels {
    ends: Table<LevelId, LevelRow>,
    inner: Table<LevelId, LevelRow>,
}

impl Levels {
    /// Inserts a level, either at the end of a path or as an ancestor of such a level.
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

    /// Changes a level and its ancestors. Returns whether the level exists.
    #[inline]
    pub(super) fn each_up(&mut self, leaf: LevelId, mut change: impl FnMut(&mut LevelRow)) -> bool {
        let mut next = Some(leaf);
        while let Some(first) = next.take() {
            let there = self.table_mut(first).follow(own(first), |row| {
                change(row);
                // A level of the other kind is in the other table, so the iteration continues there.
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

    /// Returns the largest number of levels of one kind that ever existed at once.
    #[cfg(feature = "snapshot")]
    pub(super) fn slots(&self) -> usize {
        self.ends.slots().max(self.inner.slots())
    }

    /// Returns the number of levels.
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

/// Returns whether a number belongs to a block for ends.
#[inline]
const fn is_end(level: LevelId) -> bool {
    (level.index() / BLOCK as usize).is_multiple_of(2)
}

/// Converts an external ID to the ID in the table of its kind.
#[inline]
fn own(level: LevelId) -> LevelId {
    let slot = level.slot();
    let number = slot.number() / (2 * BLOCK) * BLOCK + slot.number() % BLOCK;
    LevelId::from_slot(Slot::new(number, slot.generation()))
}

/// Converts an ID in a table to the external ID.
fn outer(level: LevelId, is_end: bool) -> LevelId {
    let slot = level.slot();
    let block = slot.number() / BLOCK * 2 + u32::from(!is_end);
    LevelId::from_slot(Slot::new(block * BLOCK + slot.number() % BLOCK, slot.generation()))
}
