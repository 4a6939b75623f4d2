//! Ordered map that stores a single entry inline.
//!
//! A `BTreeMap` allocates a node for eleven entries with its first entry. If each of many sizes has one ask, such nodes
//! would use most memory of the scheduler.

use alloc::collections::BTreeMap;
use core::mem;
use core::ops::Bound;

/// Map in the order of its keys.
#[derive(Clone, Debug, Default)]
pub(super) enum Few<K, V> {
    #[default]
    None,
    One(K, V),
    /// Two or more entries.
    Many(BTreeMap<K, V>),
}

/// Ordered set.
pub(super) type FewKeys<K> = Few<K, ()>;

impl<K: Ord, V> Few<K, V> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(..) => 1,
            Self::Many(all) => all.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn first(&self) -> Option<(&K, &V)> {
        match self {
            Self::None => None,
            Self::One(key, value) => Some((key, value)),
            Self::Many(all) => all.first_key_value(),
        }
    }

    pub(super) fn first_key(&self) -> Option<&K> {
        self.first().map(|(key, _)| key)
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        match self {
            Self::None => None,
            Self::One(one, value) => (one == key).then_some(value),
            Self::Many(all) => all.get(key),
        }
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self {
            Self::None => None,
            Self::One(one, value) => (one == key).then_some(value),
            Self::Many(all) => all.get_mut(key),
        }
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        match self {
            Self::None => *self = Self::One(key, value),
            Self::One(one, held) if *one == key => *held = value,
            Self::One(..) => {
                let mut all = BTreeMap::from([(key, value)]);
                if let Self::One(one, held) = mem::take(self) {
                    all.insert(one, held);
                }
                *self = Self::Many(all);
            }
            Self::Many(all) => drop(all.insert(key, value)),
        }
    }

    /// Removes an entry. The last remaining entry is stored inline again.
    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        match self {
            Self::None => None,
            Self::One(one, _) => {
                if one != key {
                    return None;
                }
                let Self::One(_, value) = mem::take(self) else { return None };
                Some(value)
            }
            Self::Many(all) => {
                let gone = all.remove(key);
                if all.len() <= 1 {
                    let last = all.pop_first();
                    *self = last.map_or(Self::None, |(key, value)| Self::One(key, value));
                }
                gone
            }
        }
    }

    /// Removes the only entry. `None` if there is not exactly one.
    pub(super) fn take_one(&mut self) -> Option<K> {
        let Self::One(..) = self else { return None };
        let Self::One(key, _) = mem::take(self) else { return None };
        Some(key)
    }

    /// Changes the key of an entry. Allocates no new tree if there are two entries.
    pub(super) fn rename(&mut self, before: &K, after: K, value: V) {
        match self {
            Self::None => *self = Self::One(after, value),
            Self::One(one, _) if one == before => *self = Self::One(after, value),
            Self::One(..) => self.insert(after, value),
            Self::Many(all) => {
                all.remove(before);
                all.insert(after, value);
            }
        }
    }

    /// Returns the first entry from this bound.
    pub(super) fn first_from(&self, from: Bound<K>) -> Option<(&K, &V)> {
        match self {
            Self::None => None,
            Self::One(key, value) => {
                let is_behind = match from {
                    Bound::Unbounded => true,
                    Bound::Included(from) => *key >= from,
                    Bound::Excluded(from) => *key > from,
                };
                is_behind.then_some((key, value))
            }
            Self::Many(all) => all.range((from, Bound::Unbounded)).next(),
        }
    }

    /// Returns the number of keys that are less than this key. Costs that number.
    pub(super) fn count_before(&self, key: &K) -> usize {
        match self {
            Self::None => 0,
            Self::One(one, _) => usize::from(one < key),
            Self::Many(all) => all.range(..key).count(),
        }
    }

    /// Returns all entries in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let (one, many) = match self {
            Self::None => (None, None),
            Self::One(key, value) => (Some((key, value)), None),
            Self::Many(all) => (None, Some(all.iter())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    /// Returns the entries from this key in order.
    pub(super) fn iter_from(&self, from: K) -> impl Iterator<Item = (&K, &V)> {
        let (one, many) = match self {
            Self::None => (None, None),
            Self::One(key, value) => ((*key >= from).then_some((key, value)), None),
            Self::Many(all) => (None, Some(all.range(from..))),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}
