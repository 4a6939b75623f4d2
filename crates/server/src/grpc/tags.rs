//! Tags of asks, allocations and what is foreign: no decision depends on them, but they are shown.
//!
//! The books do not have them, so they last as long as the registration of the RM, which sends
//! them anew with the next.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use headroom_api::si::v1::AllocationRequest;
use headroom_core::Name;
use headroom_core::books::Books;

use crate::convert::si;

/// Below this many nothing is cleaned.
const KEPT_MIN: usize = 1_024;

/// For so long an ask may be on its way into the books.
const ON_ITS_WAY: Duration = Duration::from_mins(1);

/// Partition and key.
type Key = (Name, Name);

/// Tags by key.
#[derive(Debug, Default)]
pub(super) struct TagsOf(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    kept: HashMap<Key, (Arc<BTreeMap<String, String>>, Instant)>,
    /// How many were left when they were cleaned last.
    cleaned: usize,
}

impl TagsOf {
    /// Keep what a request says; `true` if it is time to clean.
    pub(super) fn note(&self, request: &AllocationRequest) -> bool {
        let mut state = self.state();
        for one in request.allocations.iter().filter(|one| !one.allocation_tags.is_empty()) {
            let key = key_of(&si::partition(&one.partition_name), &one.allocation_key);
            let tags = Arc::new(one.allocation_tags.clone());
            state.kept.insert(key, (tags, Instant::now()));
        }
        state.kept.len() >= KEPT_MIN.max(2 * state.cleaned)
    }

    /// Forget those of what is not in the books any more. Costs what is kept, and comes when that
    /// has doubled.
    pub(super) fn clean(&self, books: &Books) {
        let mut state = self.state();
        state.kept.retain(|(partition, key), (_, since)| {
            let row = books.partition_named(partition).map(|id| books.partition(id));
            let is_there = row.is_some_and(|row| {
                row.allocations.get(&**key).is_some() || row.foreign.get(&**key).is_some()
            });
            is_there || since.elapsed() < ON_ITS_WAY
        });
        state.cleaned = state.kept.len();
    }

    /// The tags that came with this key.
    pub(super) fn get(&self, partition: &str, key: &str) -> Option<Arc<BTreeMap<String, String>>> {
        let state = self.state();
        state.kept.get(&key_of(partition, key)).map(|(tags, _)| Arc::clone(tags))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names of partitions count in any case.
fn key_of(partition: &str, key: &str) -> Key {
    (Name::new(partition.to_ascii_lowercase()), Name::new(key))
}

#[cfg(test)]
mod tests {
    use headroom_api::si::v1::Allocation;

    use super::*;

    fn request(count: usize) -> AllocationRequest {
        let one = |number: usize| Allocation {
            allocation_key: format!("k{number}"),
            allocation_tags: [("kind".to_owned(), number.to_string())].into(),
            partition_name: "[rm]Default".to_owned(),
            ..Allocation::default()
        };
        let allocations = (0..count).map(one).collect();
        AllocationRequest { allocations, ..AllocationRequest::default() }
    }

    #[test]
    fn tags_are_found_by_partition_and_key_and_kept_while_on_their_way() {
        let tags = TagsOf::default();
        assert!(!tags.note(&request(2)));
        let found = tags.get("default", "k1").expect("it was noted");
        assert_eq!(found.get("kind").map(String::as_str), Some("1"));
        assert!(tags.get("gpu", "k1").is_none());
        assert!(tags.note(&request(KEPT_MIN)), "so many are looked through");
        tags.clean(&Books::default());
        assert!(tags.get("default", "k1").is_some(), "it may be on its way");
    }
}
