//! Serialization of ordered maps, and of indexes as lists of IDs.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CHUNK, Chunk, OrderedMap};

/// Error for keys that are not in ascending order. No lookup could find such keys.
#[derive(Debug, thiserror::Error)]
#[error("the keys of a map are not in ascending order")]
pub(crate) struct Unsorted;

/// Number of entries per chunk, as [`OrderedMap::insert`] leaves it for keys in ascending order.
const FULL: usize = CHUNK - 4;

impl<K: Ord + Clone, V> OrderedMap<K, V> {
    /// Appends an entry whose key must be greater than all others.
    pub(crate) fn append(&mut self, key: K, value: V) -> Result<(), Unsorted> {
        if self.last().is_some_and(|(last, _)| *last >= key) {
            return Err(Unsorted);
        }
        self.push(key, value);
        Ok(())
    }

    /// Appends an entry without a check of its key.
    fn push(&mut self, key: K, value: V) {
        self.len += 1;
        if let Some(chunk) = self.chunks.last_mut()
            && chunk.entries.len() < FULL
            && let Some(entries) = Arc::get_mut(&mut chunk.entries)
        {
            entries.push((key, value));
            return;
        }
        let from = key.clone();
        let mut entries = Vec::with_capacity(CHUNK);
        entries.push((key, value));
        self.chunks.push(Chunk { from, entries: Arc::new(entries) });
    }

    /// Changes each value.
    pub(crate) fn each_mut(&mut self, mut change: impl FnMut(&mut V))
    where
        V: Clone,
    {
        for chunk in &mut self.chunks {
            for (_, value) in Arc::make_mut(&mut chunk.entries) {
                change(value);
            }
        }
    }

    /// Sets the key of each value of a deserialized index, as `key` returns it.
    ///
    /// # Errors
    ///
    /// Returns the error of `key`, or [`Unsorted`] if the keys are not in ascending order.
    pub(crate) fn name<E: From<Unsorted>>(
        &mut self,
        mut key: impl FnMut(&V) -> Result<K, E>,
    ) -> Result<(), E> {
        let mut last: Option<K> = None;
        for chunk in &mut self.chunks {
            let entries = Arc::get_mut(&mut chunk.entries).ok_or(Unsorted)?;
            for place in 0..entries.len() {
                let name = key(&entries[place].1)?;
                let before = if place == 0 { last.as_ref() } else { Some(&entries[place - 1].0) };
                if before.is_some_and(|before| *before >= name) {
                    return Err(Unsorted.into());
                }
                entries[place].0 = name;
            }
            if let (Some((first, _)), Some((end, _))) = (entries.first(), entries.last()) {
                chunk.from = first.clone();
                last = Some(end.clone());
            }
        }
        Ok(())
    }
}

impl<K: Ord + Serialize, V: Serialize> Serialize for OrderedMap<K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut map = to.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de, K, V> Deserialize<'de> for OrderedMap<K, V>
where
    K: Deserialize<'de> + Ord + Clone,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries<K, V>(PhantomData<(K, V)>);

        impl<'de, K, V> Visitor<'de> for Entries<K, V>
        where
            K: Deserialize<'de> + Ord + Clone,
            V: Deserialize<'de>,
        {
            type Value = OrderedMap<K, V>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a map whose keys rise")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut from: M) -> Result<Self::Value, M::Error> {
                let mut map = OrderedMap::default();
                while let Some((key, value)) = from.next_entry()? {
                    map.append(key, value).map_err(M::Error::custom)?;
                }
                Ok(map)
            }
        }

        from.deserialize_map(Entries(PhantomData))
    }
}

/// Serialization of an index of rows as the list of its IDs, in the order of their keys. A deserialized index has no
/// keys until [`OrderedMap::name`] sets them.
pub(crate) mod index {
    use super::{
        Deserialize, Deserializer, OrderedMap, PhantomData, SeqAccess, Serialize, Serializer,
        Visitor, fmt,
    };

    pub(crate) fn serialize<K, V, S>(index: &OrderedMap<K, V>, to: S) -> Result<S::Ok, S::Error>
    where
        K: Ord,
        V: Serialize,
        S: Serializer,
    {
        use serde::ser::SerializeSeq as _;
        let mut ids = to.serialize_seq(Some(index.len()))?;
        for (_, id) in index.iter() {
            ids.serialize_element(id)?;
        }
        ids.end()
    }

    pub(crate) fn deserialize<'de, K, V, D>(from: D) -> Result<OrderedMap<K, V>, D::Error>
    where
        K: Ord + Clone + Default,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        struct Ids<K, V>(PhantomData<(K, V)>);

        impl<'de, K: Ord + Clone + Default, V: Deserialize<'de>> Visitor<'de> for Ids<K, V> {
            type Value = OrderedMap<K, V>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("ids in the order of their keys")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut from: S) -> Result<Self::Value, S::Error> {
                let (mut map, nothing) = (OrderedMap::default(), K::default());
                while let Some(id) = from.next_element()? {
                    map.push(nothing.clone(), id);
                }
                Ok(map)
            }
        }

        from.deserialize_seq(Ids(PhantomData))
    }
}
