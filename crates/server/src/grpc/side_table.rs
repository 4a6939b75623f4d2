//! Facts about asks and allocations that are not in the books, stored as long as they can be needed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use headroom_core::Name;

/// Smallest number of entries that is cleaned.
pub(super) const SIDE_TABLE_MIN: usize = 1_024;

/// Longest time until a new ask or allocation is in the books.
const ON_ITS_WAY: Duration = Duration::from_mins(1);

/// Partition in lower case, and key.
pub(super) type Key = (Name, Name);

/// Values by partition and key. Entries that are no longer needed are removed when the number of entries has doubled
/// since the last cleaning.
#[derive(Debug)]
pub(super) struct SideTable<V> {
    by_key: BTreeMap<Key, (V, Instant)>,
    /// Number of entries after the last cleaning.
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

    /// Stores a value. Returns the previous value.
    pub(super) fn insert(&mut self, key: Key, value: V) -> Option<V> {
        self.by_key.insert(key, (value, Instant::now())).map(|(before, _)| before)
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<V> {
        self.by_key.remove(key).map(|(value, _)| value)
    }

    /// Returns whether a cleaning is due.
    pub(super) fn is_due(&self) -> bool {
        self.by_key.len() >= SIDE_TABLE_MIN.max(2 * self.cleaned)
    }

    /// Removes entries that are not `needed`, except entries that might not be in the books yet.
    pub(super) fn clean(&mut self, needed: impl Fn(&Key) -> bool) {
        self.by_key.retain(|key, (_, since)| needed(key) || since.elapsed() < ON_ITS_WAY);
        self.cleaned = self.by_key.len();
    }
}

/// Returns a key.
pub(super) fn key_of(partition: &str, key: &str) -> Key {
    (partition_of(partition), Name::new(key))
}

/// Returns the name of a partition in a key. Partition names are case-insensitive.
pub(super) fn partition_of(partition: &str) -> Name {
    Name::new(partition.to_ascii_lowercase())
}
