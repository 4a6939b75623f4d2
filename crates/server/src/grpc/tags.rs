//! Tags of asks, allocations, and foreign allocations. Responses show tags, but no decision depends on them.
//!
//! The books do not have tags. Tags last as long as the registration of the RM, which sends its tags again with the
//! next registration.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use headroom_api::si::v1::AllocationRequest;
use headroom_core::Name;
use headroom_core::books::Books;

use crate::convert::si;

use super::side_table::{SideTable, key_of, partition_of};

/// Tags of one object in two blocks of memory. A map has a block for its entries, and one for each key and value.
#[derive(Clone, Debug)]
struct Packed {
    /// All keys and values: a key, its value, the next key.
    text: Box<str>,
    /// Position of the end of each.
    ends: Box<[u32]>,
}

impl Packed {
    fn of(tags: &BTreeMap<String, String>) -> Self {
        let parts = || tags.iter().flat_map(|(key, value)| [key.as_str(), value]);
        let mut end = 0;
        let ends = parts().map(|part| {
            end += part.len();
            u32::try_from(end).expect("a message of an RM is smaller")
        });
        Self { ends: ends.collect(), text: parts().collect::<String>().into_boxed_str() }
    }

    fn unpack(&self) -> BTreeMap<String, String> {
        let mut start = 0;
        let mut parts = self.ends.iter().map(|end| {
            let range = start..*end as usize;
            start = range.end;
            self.text[range].to_owned()
        });
        core::iter::from_fn(|| Some((parts.next()?, parts.next()?))).collect()
    }
}

/// Tags by partition and allocation key.
#[derive(Debug, Default)]
pub(super) struct TagsOf(Mutex<SideTable<Packed>>);

impl TagsOf {
    /// Stores the tags in a request. Returns whether a cleaning is due.
    pub(super) fn note(&self, request: &AllocationRequest) -> bool {
        let mut entries = self.entries();
        // Usually, all allocations of an RM are in one partition, whose name the keys share.
        let mut last: Option<(&str, Name)> = None;
        for one in request.allocations.iter().filter(|one| !one.allocation_tags.is_empty()) {
            let known = last.take().filter(|(sent, _)| *sent == one.partition_name);
            let (_, partition) = last.insert(known.unwrap_or_else(|| {
                let name = partition_of(&si::partition(&one.partition_name));
                (&one.partition_name, name)
            }));
            let key = (partition.clone(), Name::new(&one.allocation_key));
            entries.insert(key, Packed::of(&one.allocation_tags));
        }
        entries.is_due()
    }

    /// Removes the tags of objects that are no longer in the books. The cost is the number of entries, and a cleaning
    /// occurs only after this number has doubled.
    pub(super) fn clean(&self, books: &Books) {
        self.entries().clean(|(partition, key)| {
            let row = books.partition_named(partition).map(|id| books.partition(id));
            row.is_some_and(|row| {
                row.allocations.get(&**key).is_some() || row.foreign.get(&**key).is_some()
            })
        });
    }

    /// Returns the tags of this key.
    pub(super) fn get(&self, partition: &str, key: &str) -> Option<BTreeMap<String, String>> {
        // Requests of the RM wait for the lock, so it is held for a short time.
        let packed = self.entries().get(&key_of(partition, key)).cloned();
        packed.as_ref().map(Packed::unpack)
    }

    fn entries(&self) -> MutexGuard<'_, SideTable<Packed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use headroom_api::si::v1::Allocation;

    use super::*;
    use crate::grpc::side_table::SIDE_TABLE_MIN;

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
    fn packed_tags_are_equal_after_they_are_unpacked() {
        let some = [("", "empty key"), ("empty value", ""), ("é", "ü\0"), ("z", "")];
        let tags = some.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        assert_eq!(Packed::of(&tags).unpack(), tags);
        assert_eq!(Packed::of(&BTreeMap::new()).unpack(), BTreeMap::new());
    }

    #[test]
    fn tags_are_found_by_partition_and_key_and_kept_while_on_their_way() {
        let tags = TagsOf::default();
        assert!(!tags.note(&request(2)));
        let found = tags.get("default", "k1").expect("it was noted");
        assert_eq!(found.get("kind").map(String::as_str), Some("1"));
        assert!(tags.get("gpu", "k1").is_none());
        assert!(tags.note(&request(SIDE_TABLE_MIN)), "so many are looked through");
        tags.clean(&Books::default());
        assert!(tags.get("default", "k1").is_some(), "it may be on its way");
    }
}
