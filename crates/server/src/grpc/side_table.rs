//! What is known of asks and allocations in addition to the books, for as long as it may be needed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use headroom_core::Name;

/// Below this many nobody looks for what is needed no more.
pub(super) const SIDE_TABLE_MIN: usize = 1_024;

/// For so long the ask or allocation may be on its way into the books.
const ON_ITS_WAY: Duration = Duration::from_mins(1);

/// Partition, in lower case, and key.
pub(super) type Key = (Name, Name);

/// Values by partition and key. What the books know no more goes when there are twice as many as
/// were left the last time.
#[derive(Debug)]
pub(super) struct SideTable<V> {
    by_key: BTreeMap<Key, (V, Instant)>,
    /// How many there were when last looked for those that are needed no more.
    cleaned: usize,
}

impl<V> Default for SideTable<V> {
    fn default() -> Self {
        Self { by_key: BTreeMap::new(), cleaned: 0 }
    }
}

impl<V> SideTable<V> {
    pub(super) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    pub(super) fn get(&self, key: &Key) -> Option<&V> {
        self.by_key.get(key).map(|(value, _)| value)
    }

    /// Keep a value; the one before.
    pub(super) fn insert(&mut self, key: Key, value: V) -> Option<V> {
        self.by_key.insert(key, (value, Instant::now())).map(|(before, _)| before)
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<V> {
        self.by_key.remove(key).map(|(value, _)| value)
    }

    /// Whether it is time to clean.
    pub(super) fn is_due(&self) -> bool {
        self.by_key.len() >= SIDE_TABLE_MIN.max(2 * self.cleaned)
    }

    /// Forget what is not `needed`, but for what may be on its way.
    pub(super) fn clean(&mut self, needed: impl Fn(&Key) -> bool) {
        self.by_key.retain(|key, (_, since)| needed(key) || since.elapsed() < ON_ITS_WAY);
        self.cleaned = self.by_key.len();
    }
}

/// Names of partitions count in any case.
pub(super) fn key_of(partition: &str, key: &str) -> Key {
    (Name::new(partition.to_ascii_lowercase()), Name::new(key))
}
