//! Sorted map with priorities as keys. Nearly every application has one entry, but an application can use a different
//! priority for every ask.

use alloc::boxed::Box;

use smallvec::SmallVec;

use crate::ordered::OrderedMap;

/// Number of entries from which a tree is cheaper than a sorted array.
pub(super) const FEW: usize = 32;

/// Values by priority. Few values are stored inline, and more in shared chunks. A map that changed to chunks stays
/// there. The representation therefore depends only on the events.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ByPriority<V: Copy> {
    /// Sorted entries.
    Few(SmallVec<[(i32, V); 1]>),
    Many(Box<OrderedMap<i32, V>>),
}

impl<V: Copy> Default for ByPriority<V> {
    fn default() -> Self {
        Self::Few(SmallVec::new_const())
    }
}

impl<V: Copy> ByPriority<V> {
    #[inline]
    pub(super) fn get(&self, priority: i32) -> Option<V> {
        match self {
            Self::Few(few) => {
                let place = few.binary_search_by_key(&priority, |(one, _)| *one).ok()?;
                Some(few[place].1)
            }
            Self::Many(many) => many.get(&priority).copied(),
        }
    }

    #[inline]
    pub(super) fn lowest(&self) -> Option<(i32, V)> {
        match self {
            Self::Few(few) => few.first().copied(),
            Self::Many(many) => many.first().map(|(priority, value)| (*priority, *value)),
        }
    }

    #[inline]
    pub(super) fn highest(&self) -> Option<(i32, V)> {
        match self {
            Self::Few(few) => few.last().copied(),
            Self::Many(many) => many.last().map(|(priority, value)| (*priority, *value)),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, priority: i32, value: V) {
        match self {
            Self::Few(few) => match few.binary_search_by_key(&priority, |(one, _)| *one) {
                Ok(place) => few[place].1 = value,
                Err(place) if few.len() < FEW => few.insert(place, (priority, value)),
                Err(_) => {
                    let mut many = OrderedMap::default();
                    for (priority, value) in few.drain(..) {
                        many.insert(priority, value);
                    }
                    many.insert(priority, value);
                    *self = Self::Many(Box::new(many));
                }
            },
            Self::Many(many) => {
                many.insert(priority, value);
            }
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, priority: i32) {
        match self {
            Self::Few(few) => {
                if let Ok(place) = few.binary_search_by_key(&priority, |(one, _)| *one) {
                    few.remove(place);
                }
            }
            Self::Many(many) => {
                many.remove(&priority);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn few_and_many_behave_as_a_sorted_map(
            steps in prop::collection::vec((any::<bool>(), -60_i32..60), 0..300),
        ) {
            let (mut ours, mut theirs) = (ByPriority::default(), BTreeMap::new());
            for (number, (set, priority)) in steps.into_iter().enumerate() {
                if set {
                    ours.set(priority, number);
                    theirs.insert(priority, number);
                } else {
                    ours.remove(priority);
                    theirs.remove(&priority);
                }
                let pair = |(priority, value): (&i32, &usize)| (*priority, *value);
                prop_assert_eq!(ours.get(priority), theirs.get(&priority).copied());
                prop_assert_eq!(ours.lowest(), theirs.first_key_value().map(pair));
                prop_assert_eq!(ours.highest(), theirs.last_key_value().map(pair));
            }
        }
    }
}
