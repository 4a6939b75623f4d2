//! Ordered map with cheap clones: sorted chunks that clones share until a write.
//!
//! The books find rows by name with it. A clone costs one reference count per chunk.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

#[cfg(feature = "snapshot")]
pub(crate) mod stored;

/// Largest number of entries in a chunk. A larger chunk is split.
const CHUNK: usize = 64;

/// Sorted map that copies a shared chunk before it writes to the chunk.
#[derive(Clone)]
pub struct OrderedMap<K, V> {
    /// Sorted and not empty. All keys of a chunk are less than all keys of the next chunk.
    chunks: Vec<Chunk<K, V>>,
    len: usize,
}

#[derive(Clone)]
struct Chunk<K, V> {
    /// Lower bound of the keys, greater than all keys of the previous chunk. A search compares this bound and reads
    /// only the chunk that it finds.
    from: K,
    entries: Arc<Vec<(K, V)>>,
}

impl<K, V> Default for OrderedMap<K, V> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<K: Ord + Clone, V: Clone> OrderedMap<K, V> {
    /// Sets the value of a key. Returns the previous value.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let Some(position) = self.chunk_of(&key) else {
            let from = key.clone();
            self.chunks.push(Chunk { from, entries: Arc::new(alloc::vec![(key, value)]) });
            self.len = 1;
            return None;
        };
        let chunk = &mut self.chunks[position];
        if key < chunk.from {
            chunk.from = key.clone();
        }
        let entries = Arc::make_mut(&mut chunk.entries);
        match entries.binary_search_by(|(held, _)| held.cmp(&key)) {
            Ok(found) => return Some(core::mem::replace(&mut entries[found].1, value)),
            Err(place) => entries.insert(place, (key, value)),
        }
        self.len += 1;
        if entries.len() > CHUNK {
            self.split(position);
        }
        None
    }

    fn split(&mut self, position: usize) {
        // Keys mostly arrive in order, so a split of the last chunk leaves it nearly full. Half chunks would waste
        // memory.
        let keep = if position + 1 == self.chunks.len() { CHUNK - 4 } else { CHUNK / 2 };
        let rest = Arc::make_mut(&mut self.chunks[position].entries).split_off(keep);
        let chunk = Chunk { from: rest[0].0.clone(), entries: Arc::new(rest) };
        self.chunks.insert(position + 1, chunk);
    }

    /// Returns the value of a key for a change. Copies its chunk if a clone shares it.
    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (position, place) = self.position_of(key)?;
        let entries = Arc::make_mut(&mut self.chunks[position].entries);
        Some(&mut entries[place].1)
    }

    /// Removes a key. Returns its value.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (position, place) = self.position_of(key)?;
        let entries = Arc::make_mut(&mut self.chunks[position].entries);
        let (_, value) = entries.remove(place);
        if entries.is_empty() {
            self.chunks.remove(position);
        }
        self.len -= 1;
        Some(value)
    }
}

impl<K: Ord, V> OrderedMap<K, V> {
    /// Returns the value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let (position, place) = self.position_of(key)?;
        Some(&self.chunks[position].entries[place].1)
    }

    /// Returns the entry with the smallest key.
    pub fn first(&self) -> Option<(&K, &V)> {
        self.chunks.first()?.entries.first().map(|(key, value)| (key, value))
    }

    /// Returns the entry with the largest key.
    pub fn last(&self) -> Option<(&K, &V)> {
        self.chunks.last()?.entries.last().map(|(key, value)| (key, value))
    }

    /// Returns all entries in ascending order of keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.chunks.iter().flat_map(|chunk| chunk.entries.iter()).map(|(key, value)| (key, value))
    }

    /// Returns the entries with this key and greater keys, in ascending order.
    pub fn iter_from<'map>(
        &'map self,
        key: &K,
    ) -> impl Iterator<Item = (&'map K, &'map V)> + use<'map, K, V> {
        let position = self.chunk_of(key).unwrap_or_default();
        let before = |chunk: &Chunk<K, V>| chunk.entries.partition_point(|(held, _)| held < key);
        let skipped = self.chunks.get(position).map_or(0, before);
        let entries = self.chunks[position..].iter().flat_map(|chunk| chunk.entries.iter());
        entries.skip(skipped).map(|(key, value)| (key, value))
    }

    /// Returns the number of entries.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the map is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the position of the chunk that contains a key, or would contain it.
    fn chunk_of<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        if self.chunks.is_empty() {
            return None;
        }
        let after = self.chunks.partition_point(|chunk| chunk.from.borrow() <= key);
        Some(after.saturating_sub(1))
    }

    /// Returns the positions of the chunk and of the entry of a key.
    fn position_of<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(usize, usize)>
    where
        K: Borrow<Q>,
    {
        let position = self.chunk_of(key)?;
        let entries = &self.chunks[position].entries;
        let place = entries.binary_search_by(|(held, _)| held.borrow().cmp(key)).ok()?;
        Some((position, place))
    }
}

impl<K: Ord, V: PartialEq> PartialEq for OrderedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<K: Ord + fmt::Debug, V: fmt::Debug> fmt::Debug for OrderedMap<K, V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_as_a_sorted_map(steps in prop::collection::vec((any::<bool>(), 0_u16..300), 0..800)) {
            let (mut ours, mut theirs) = (OrderedMap::default(), BTreeMap::new());
            for (number, (insert, key)) in steps.into_iter().enumerate() {
                if insert {
                    prop_assert_eq!(ours.insert(key, number), theirs.insert(key, number));
                } else {
                    prop_assert_eq!(ours.remove(&key), theirs.remove(&key));
                }
                prop_assert_eq!(ours.get(&key), theirs.get(&key));
                prop_assert_eq!(ours.first(), theirs.first_key_value());
                prop_assert_eq!(ours.last(), theirs.last_key_value());
                prop_assert!(ours.iter_from(&key).eq(theirs.range(key..)));
            }
            prop_assert!(ours.iter().eq(theirs.iter()));
            prop_assert_eq!((ours.len(), ours.is_empty()), (theirs.len(), theirs.is_empty()));
        }
    }

    #[test]
    fn a_clone_keeps_what_it_saw() {
        let mut map: OrderedMap<u32, u32> = OrderedMap::default();
        for key in 0..500 {
            map.insert(key, key);
        }
        let before = map.clone();
        map.remove(&250);
        map.insert(3, 7);
        assert_eq!((before.get(&250), before.get(&3)), (Some(&250), Some(&3)));
        assert_eq!((map.get(&250), map.get(&3)), (None, Some(&7)));
    }
}
