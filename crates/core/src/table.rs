//! Table of the books: a slab of rows in chunks that clones share until a write.
//!
//! A clone costs one reference count per chunk of 64 rows, regardless of the size of a row. A write to a shared chunk
//! copies that chunk first. IDs have generations: the ID of a removed row finds nothing, even after its slot is reused.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

use crate::id::{Id, Slot};

#[cfg(feature = "snapshot")]
mod stored;

const CHUNK: usize = 64;

/// Rows of one type by ID.
///
/// The slot of a new row depends only on the history of insertions and removals. A replay of the history therefore
/// gives every row the same ID.
pub struct Table<I, T> {
    chunks: Vec<Arc<[Row<T>; CHUNK]>>,
    /// Number of slots that were ever used.
    slots: u32,
    /// Number of rows.
    len: u32,
    /// Next vacant slot to use, the start of the list of vacant slots.
    vacant: u32,
    ids: PhantomData<I>,
}

#[derive(Clone, PartialEq)]
struct Row<T> {
    generation: u32,
    /// Next vacant slot, if this slot is vacant.
    next: u32,
    value: Option<T>,
}

/// End of the list of vacant slots.
const NONE: u32 = u32::MAX;

impl<I: Id, T: Clone> Table<I, T> {
    /// Inserts a row. Returns its ID.
    pub(crate) fn insert(&mut self, value: T) -> I {
        let index = if self.vacant == NONE {
            if self.slots as usize == self.chunks.len() * CHUNK {
                self.chunks.push(Arc::new(core::array::from_fn(|_| Row {
                    generation: 0,
                    next: NONE,
                    value: None,
                })));
            }
            self.slots += 1;
            self.slots - 1
        } else {
            self.vacant
        };
        let row = self.row_mut(index);
        let (generation, next) = (row.generation, row.next);
        *row = Row { generation, next: NONE, value: Some(value) };
        if self.vacant != NONE {
            self.vacant = next;
        }
        self.len += 1;
        I::from_slot(Slot::new(index, generation))
    }

    /// Removes a row. Returns its value.
    pub(crate) fn remove(&mut self, id: I) -> Option<T> {
        self.get(id)?;
        let next = self.vacant;
        let index = id.slot().number();
        let row = self.row_mut(index);
        let value = row.value.take();
        // A generation repeats after 2³² rows in one slot. No code stores an ID that long.
        row.generation = row.generation.wrapping_add(1);
        row.next = next;
        self.vacant = index;
        self.len -= 1;
        value
    }

    /// Returns the row for a change. Copies its chunk if a clone shares it.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: I) -> Option<&mut T> {
        let slot = id.slot();
        let chunk = self.chunks.get_mut(slot.index() / CHUNK)?;
        let row = &mut Arc::make_mut(chunk)[slot.index() % CHUNK];
        if row.generation == slot.generation() { row.value.as_mut() } else { None }
    }

    /// Returns the row at this index for a change, regardless of its generation.
    #[inline]
    pub(crate) fn at_mut(&mut self, number: u32) -> Option<&mut T> {
        let number = number as usize;
        let chunk = self.chunks.get_mut(number / CHUNK)?;
        Arc::make_mut(chunk)[number % CHUNK].value.as_mut()
    }

    /// Changes a chain of rows. `change` returns the ID of the next row. Consecutive rows of one chunk cost only one
    /// check for sharing.
    ///
    /// Returns whether the first row exists. All later rows must exist.
    #[inline]
    pub(crate) fn follow(&mut self, first: I, mut change: impl FnMut(&mut T) -> Option<I>) -> bool {
        if self.get(first).is_none() {
            return false;
        }
        let mut next = Some(first);
        while let Some(id) = next {
            let position = id.slot().index() / CHUNK;
            let chunk = Arc::make_mut(&mut self.chunks[position]);
            while let Some(id) = next.filter(|id| id.slot().index() / CHUNK == position) {
                let row = &mut chunk[id.slot().index() % CHUNK];
                debug_assert_eq!(row.generation, id.slot().generation(), "rows that follow live");
                next = row.value.as_mut().and_then(&mut change);
            }
        }
        true
    }

    fn row_mut(&mut self, index: u32) -> &mut Row<T> {
        &mut Arc::make_mut(&mut self.chunks[index as usize / CHUNK])[index as usize % CHUNK]
    }
}

impl<I: Id, T> Table<I, T> {
    /// Returns the row. `None` if it was removed.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        let slot = id.slot();
        let row = &self.chunks.get(slot.index() / CHUNK)?[slot.index() % CHUNK];
        if row.generation == slot.generation() { row.value.as_ref() } else { None }
    }

    /// Returns the row at this index, regardless of its generation.
    #[inline]
    pub(crate) fn at(&self, number: u32) -> Option<&T> {
        let number = number as usize;
        self.chunks.get(number / CHUNK)?[number % CHUNK].value.as_ref()
    }

    /// Returns all rows in the order of their slots.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        let rows = self.chunks.iter().flat_map(|chunk| chunk.iter());
        (0..self.slots).zip(rows).filter_map(|(index, row)| {
            let id = I::from_slot(Slot::new(index, row.generation));
            row.value.as_ref().map(|value| (id, value))
        })
    }

    /// Returns the ID of the next row to be inserted.
    pub fn next_id(&self) -> I {
        if self.vacant == NONE {
            return I::from_slot(Slot::new(self.slots, 0));
        }
        let row = &self.chunks[self.vacant as usize / CHUNK][self.vacant as usize % CHUNK];
        I::from_slot(Slot::new(self.vacant, row.generation))
    }

    /// Returns the number of rows.
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns whether the table is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of slots that were ever used. Every index of an ID is less than this number.
    pub const fn slots(&self) -> usize {
        self.slots as usize
    }
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), slots: 0, len: 0, vacant: NONE, ids: PhantomData }
    }
}

impl<I, T> Clone for Table<I, T> {
    fn clone(&self) -> Self {
        Self { chunks: self.chunks.clone(), ids: PhantomData, ..*self }
    }
}

impl<I: Id, T: PartialEq> PartialEq for Table<I, T> {
    fn eq(&self, other: &Self) -> bool {
        (self.slots, self.len, self.vacant) == (other.slots, other.len, other.vacant)
            && self.chunks == other.chunks
    }
}

impl<I: Id, T: fmt::Debug> fmt::Debug for Table<I, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.iter()).finish()
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    /// # Panics
    /// Panics if the row was removed. Callers check stored IDs with [`Table::get`].
    #[inline]
    fn index(&self, id: I) -> &T {
        match self.get(id) {
            Some(row) => row,
            None => panic!("{id:?} is not in its table: its holder outlived the row"),
        }
    }
}

impl<I: Id, T: Clone> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        match self.get_mut(id) {
            Some(row) => row,
            None => panic!("{id:?} is not in its table: its holder outlived the row"),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;
    use crate::id::NodeId;

    #[test]
    fn a_stale_id_finds_nothing_when_its_slot_is_used_again() {
        let mut table: Table<NodeId, &str> = Table::default();
        let first = table.insert("first");
        assert_eq!(table.remove(first), Some("first"));
        assert_eq!(table.remove(first), None);
        let next = table.next_id();
        let second = table.insert("second");
        assert_eq!((next, table.next_id().index()), (second, 1));
        assert_eq!((first.index(), second.index()), (0, 0));
        assert_eq!((table.get(first), table.get(second)), (None, Some(&"second")));
        assert_eq!(table.get_mut(first), None);
    }

    #[test]
    fn a_clone_does_not_see_later_writes() {
        let mut table: Table<NodeId, String> = Table::default();
        let ids: Vec<NodeId> = (0..200).map(|_| table.insert("old".into())).collect();
        let before = table.clone();
        table[ids[130]].push_str(" and new");
        table.remove(ids[7]);
        assert_eq!((before.len(), table.len()), (200, 199));
        assert_eq!(before[ids[130]], "old");
        assert_eq!(table[ids[130]], "old and new");
        let shared = |chunk: usize| Arc::ptr_eq(&before.chunks[chunk], &table.chunks[chunk]);
        assert_eq!([0, 1, 2, 3].map(shared), [false, true, false, true]);
    }

    #[test]
    fn slots_are_used_again_last_freed_first() {
        let mut table: Table<NodeId, u32> = Table::default();
        let ids: Vec<NodeId> = (0..5).map(|number| table.insert(number)).collect();
        table.remove(ids[1]);
        table.remove(ids[3]);
        assert_eq!([7, 8, 9].map(|number| table.insert(number).index()), [3, 1, 5]);
        let rows: Vec<u32> = table.iter().map(|(_, row)| *row).collect();
        assert_eq!(rows, [0, 8, 2, 7, 4, 9]);
    }
}
